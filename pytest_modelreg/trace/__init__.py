"""Compact facts kept for diagnosis: digests of named arrays, sketches and points of long ones.

What belongs here: numpy-only computations whose result is small and kept with a
golden. To add one, add a module that takes arrays by an iterator, so that callers can
feed tensors one at a time. Nothing here reads or writes files.
"""

from __future__ import annotations

from pytest_modelreg.trace.channel_axis import find_channel_axis
from pytest_modelreg.trace.digest import ArrayHasher, digest_arrays
from pytest_modelreg.trace.points import (
    N_STATISTICS,
    N_VALUES,
    ArrayPoints,
    count_places,
    list_places,
    measure_channels,
    read_points,
    seed_points,
    split_channels,
)
from pytest_modelreg.trace.probe import count_columns, estimate_rel_l2, is_known, make_row
from pytest_modelreg.trace.sketch import CountSketch

__all__ = [
    "N_STATISTICS",
    "N_VALUES",
    "ArrayHasher",
    "ArrayPoints",
    "CountSketch",
    "count_columns",
    "count_places",
    "digest_arrays",
    "estimate_rel_l2",
    "find_channel_axis",
    "is_known",
    "list_places",
    "make_row",
    "measure_channels",
    "read_points",
    "seed_points",
    "split_channels",
]
