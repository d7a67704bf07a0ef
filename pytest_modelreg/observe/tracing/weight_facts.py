"""The weights of a model, tensor by tensor: digests that say which changed, sketches that say how far.

What belongs here: reading them once. What a change of weights means is ``diagnose``'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.trace import TensorFacts, WeightFacts
from pytest_modelreg.observe.arrays import is_tensor
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.model_state import read_state
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
    """Return what is known of every one of a model's weights; None for a model that has none.

    Raises
    ------
    ModelError
        A tensor has no values yet.
    RunFolderError
        When the table cannot be written.
    """
    buffers = {name for name, _ in model.named_buffers()} if is_module(model) else set()
    tensors: list[TensorFacts] = []
    rows: list[NDArray[np.float64]] = []
    for name, dtype, array in WeightValues(read_state(model)).list_parts():
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
        rows.append(_sketch(array, dtype))
    if not tensors:
        return None
    return WeightFacts(
        tensors=tuple(tensors),
        file=write_trace(folder, "weights", np.array(rows)),
        n_columns=count_columns(N_BUCKETS),
    )


def digest_tensors(model: Any) -> dict[str, str]:
    """Return the digest of every entry of a state dict; empty for a model that has none."""
    return {
        name: digest_arrays([("", dtype, array)])[:DIGITS]
        for name, dtype, array in WeightValues(read_state(model)).list_parts()
    }


def count_bytes(model: Any) -> int:
    """Return what a model's weights take."""
    values = read_state(model).values()
    tensors = [value for value in values if is_tensor(value)]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    n_bytes = sum(int(tensor.numel()) * int(tensor.element_size()) for tensor in tensors)
    return n_bytes + sum(array.nbytes for array in arrays)


def take_evenly(array: NDArray[Any]) -> NDArray[Any]:
    """Return the elements of an array, axes (element,); evenly spread ones where it is large.

    Notes
    -----
    The step is odd, so that it shares no factor with the powers of two by which channels are counted.
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat if flat.size <= MAX_ELEMENTS else flat[:: (flat.size // MAX_ELEMENTS + 1) | 1]


def _sketch(array: NDArray[Any], dtype: str) -> NDArray[np.float64]:
    """Return the row of a tensor: float64, axes (column,)."""
    sketch = CountSketch(N_BUCKETS)
    if array.dtype.kind in "biufc":
        sketch.add(decode(take_evenly(array), dtype))
    return make_row(sketch)
