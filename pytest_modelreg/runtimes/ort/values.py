"""Tensors and arrays on their way into ONNX Runtime and out of it.

What belongs here: dtype names on both sides, and the way between arrays and tensors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DTYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(bfloat16)": "bfloat16",
    "tensor(int8)": "int8",
    "tensor(int16)": "int16",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(uint8)": "uint8",
    "tensor(uint16)": "uint16",
    "tensor(uint32)": "uint32",
    "tensor(uint64)": "uint64",
    "tensor(bool)": "bool",
    "tensor(complex64)": "complex64",
    "tensor(complex128)": "complex128",
}


def read_dtype(onnx_type: str) -> str:
    """Return the common name of a dtype, ``float32`` for ``tensor(float)``; others as they are."""
    return _DTYPES.get(onnx_type, onnx_type)


def to_numpy(value: Any) -> NDArray[Any]:
    """Return a tensor or array as a contiguous array in main memory.

    Raises
    ------
    TypeError
        Its dtype has no numpy form (bfloat16, float8).
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu().resolve_conj().resolve_neg().numpy()
    # Not ascontiguousarray: it gives a number without axes one.
    return np.asarray(value, order="C")


def from_numpy(value: Any) -> Any:
    """Return an output as a tensor; what is no array (a sequence, a map) is returned as it is."""
    import torch

    return torch.from_numpy(value) if isinstance(value, np.ndarray) and value.dtype.kind != "O" else value
