"""The list of planted faults and benign changes, a module a kind.

Each module holds ``FAULTS``, a tuple of rows. To plant one more fault, add a row with a new name
to the module of the cause that names it; to add a kind, a module and its name below. Nothing
here was chosen by what the tool says of it, and nothing is changed to suit it.
"""

from __future__ import annotations

from itertools import chain

from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults import (
    batch_dependence,
    benign,
    benign_elsewhere,
    channel_order,
    decode,
    environment,
    export,
    geometry,
    interpolation,
    layout,
    model_code,
    model_mode,
    nondeterminism,
    normalization,
    optimization,
    other_inputs,
    precision,
    samples_content,
    tie_order,
    value_range,
    weights_changed,
    weights_not_loaded,
)

_MODULES = (
    samples_content,
    decode,
    channel_order,
    layout,
    value_range,
    normalization,
    interpolation,
    geometry,
    other_inputs,
    weights_changed,
    weights_not_loaded,
    model_mode,
    model_code,
    nondeterminism,
    batch_dependence,
    export,
    optimization,
    precision,
    environment,
    tie_order,
    benign,
    benign_elsewhere,
)

FAULTS: tuple[Fault, ...] = tuple(chain.from_iterable(module.FAULTS for module in _MODULES))
