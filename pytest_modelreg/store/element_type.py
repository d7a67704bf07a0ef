"""The element types that outputs can have, and how each is held in a file.

What belongs here: true dtype names, their storage dtype, and the way back to numbers.
To add a small float, add its layout to ``_FLOAT8``; to add a type that numpy knows,
add its name to ``_NATIVE``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NATIVE = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)


@dataclass(frozen=True, kw_only=True)
class _Float8:
    """Layout of an 8-bit float: one sign bit, then exponent, then mantissa.

    ``specials``: ``ieee`` (all-ones exponent is infinity or NaN), ``fn`` (no
    infinity, NaN is all ones after the sign), ``fnuz`` (no infinity, no negative
    zero, whose code is the only NaN).
    """

    mantissa_bits: int
    bias: int
    specials: str


_FLOAT8 = {
    "float8_e4m3fn": _Float8(mantissa_bits=3, bias=7, specials="fn"),
    "float8_e5m2": _Float8(mantissa_bits=2, bias=15, specials="ieee"),
    "float8_e4m3fnuz": _Float8(mantissa_bits=3, bias=8, specials="fnuz"),
    "float8_e5m2fnuz": _Float8(mantissa_bits=2, bias=16, specials="fnuz"),
}

DTYPE_NAMES = (*_NATIVE, "bfloat16", *_FLOAT8)
"""Every true dtype that can be recorded."""


def storage_dtype(name: str) -> np.dtype[Any] | None:
    """Return the little-endian dtype that a file holds, None for an unknown name."""
    if name in _NATIVE:
        dtype: np.dtype[Any] = np.dtype(name).newbyteorder("<")
        return dtype
    if name == "bfloat16":
        return np.dtype("<u2")
    if name in _FLOAT8:
        return np.dtype("u1")
    return None


def decode(stored: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the numbers of a stored block.

    Parameters
    ----------
    stored : numpy.ndarray
        Any axes, of the storage dtype.
    name : str
        True dtype.

    Returns
    -------
    numpy.ndarray
        ``stored`` itself for dtypes that numpy knows; float32 for bfloat16 and float8,
        which it represents exactly.

    Notes
    -----
    A bfloat16 is the upper half of a float32. float8: OCP 8-bit Floating Point
    Specification 1.0 (e4m3fn, e5m2) and arXiv:2206.02915 (the fnuz variants).
    """
    if name == "bfloat16":
        upper: NDArray[np.uint32] = stored.astype(np.uint32) << np.uint32(16)
        return upper.view(np.float32)
    if name in _FLOAT8:
        values: NDArray[np.float32] = _float8_values(name)[stored]
        return values
    return stored


@cache
def _float8_values(name: str) -> NDArray[np.float32]:
    return np.array([_float8_value(code, _FLOAT8[name]) for code in range(256)], np.float32)


def _float8_value(code: int, layout: _Float8) -> float:
    magnitude = code & 0x7F
    sign = -1.0 if code & 0x80 else 1.0
    exponent = magnitude >> layout.mantissa_bits
    mantissa = magnitude & ((1 << layout.mantissa_bits) - 1)
    exponent_ones = 0x7F >> layout.mantissa_bits
    if layout.specials == "fnuz" and code == 0x80:
        return float("nan")
    if layout.specials == "fn" and magnitude == 0x7F:
        return float("nan")
    if layout.specials == "ieee" and exponent == exponent_ones:
        return float("nan") if mantissa else sign * float("inf")
    fraction = mantissa / (1 << layout.mantissa_bits)
    if exponent == 0:  # subnormal: no implied one, exponent of the smallest normal
        return sign * fraction * 2.0 ** (1 - layout.bias)
    return sign * (1.0 + fraction) * 2.0 ** (exponent - layout.bias)
