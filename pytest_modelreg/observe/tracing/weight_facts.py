"""The weights of a model, tensor by tensor: digests that say which changed, sketches that say how far.

What belongs here: reading a state dict once. What a change of weights means is ``diagnose``'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.trace import TensorFacts, WeightFacts
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.weight_values import WeightValues
from pytest_modelreg.store.element_type import decode
from pytest_modelreg.store.trace_file import write_trace
from pytest_modelreg.trace import CountSketch, count_columns, digest_arrays, make_row

N_BUCKETS = 32
MAX_ELEMENTS = 1 << 18
"""Of a larger array, every n-th element is sketched."""

MAX_TENSORS = 20_000
DIGITS = 16


def read_weights(model: Any, folder: Path) -> WeightFacts | None:
    """Return what is known of every entry of a state dict; None for a model that has none.

    Raises
    ------
    ModelError
        A tensor has no values yet.
    RunFolderError
        When the table cannot be written.
    """
    if not is_module(model):
        return None
    buffers = {name for name, _ in model.named_buffers()}
    tensors: list[TensorFacts] = []
    rows: list[NDArray[np.float64]] = []
    for name, dtype, array in WeightValues(model.state_dict()).list_parts():
        if len(tensors) == MAX_TENSORS:
            break
        tensors.append(
            TensorFacts(
                name=name,
                dtype=dtype,
                shape=tuple(array.shape),
                digest=digest_arrays([("", dtype, array)])[:DIGITS],
                is_buffer=name in buffers,
            )
        )
        rows.append(sketch_array(array, dtype, n_buckets=N_BUCKETS))
    if not tensors:
        return None
    return WeightFacts(
        tensors=tuple(tensors),
        file=write_trace(folder, "weights", np.array(rows)),
        n_columns=count_columns(N_BUCKETS),
    )


def digest_tensors(model: Any) -> dict[str, str]:
    """Return the digest of every entry of a state dict; empty for a model that has none."""
    if not is_module(model):
        return {}
    return {
        name: digest_arrays([("", dtype, array)])[:DIGITS]
        for name, dtype, array in WeightValues(model.state_dict()).list_parts()
    }


def sketch_array(array: NDArray[Any], dtype: str, *, n_buckets: int) -> NDArray[np.float64]:
    """Return the row of an array: float64, axes (column,); of evenly spread elements where it is large.

    Notes
    -----
    The step is odd, so that it shares no factor with the powers of two by which channels are counted.
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.size > MAX_ELEMENTS:
        flat = flat[:: (flat.size // MAX_ELEMENTS + 1) | 1]
    sketch = CountSketch(n_buckets)
    if flat.dtype.kind in "biufc":
        sketch.add(decode(flat, dtype))
    return make_row(sketch)
