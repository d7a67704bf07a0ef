"""The arithmetic on one tile: a few rows, or a piece of one row, in float64.

Here belongs what is computed on elements. Every value is widened before it is
subtracted: int8 1 against 2 differs by 1, not by 255. Floating values and integers of
up to 32 bits are exact in float64; complex ones go to complex128; 64-bit integers are
subtracted in uint64, so that neighbours beyond 2**53 stay different.
A new dtype family is a branch in :func:`widened_dtype` and :func:`_subtract`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_modelreg.compare.finiteness import NonFinite, exclude_non_finite
from pytest_modelreg.compare.measures import FloatArray
from pytest_modelreg.compare.rows import Array

N_BUFFERS = 3


def widened_dtype(expected: np.dtype[Any], actual: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which two sides are compared: float64 or complex128."""
    return np.dtype(np.complex128 if "c" in (expected.kind, actual.kind) else np.float64)


class Scratch:
    """Buffers reused from tile to tile, so that no temporary grows with the output.

    Parameters
    ----------
    max_elements : int
        Elements of the largest tile.
    dtype : dtype
        From :func:`widened_dtype`.
    """

    def __init__(self, max_elements: int, dtype: np.dtype[Any]) -> None:
        self.max_elements = max_elements
        self._buffers = np.empty((N_BUFFERS, max_elements), dtype=dtype)

    def shaped(self, number: int, shape: tuple[int, ...]) -> Array:
        """Return buffer ``number`` as an array of ``shape``, its contents undefined."""
        return self._buffers[number, : shape[0] * shape[1]].reshape(shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tile:
    """Sums over one tile.

    Parameters
    ----------
    expected_square, actual_square, difference_square, dot : float64, axes (row,)
        Squared norms and the (real part of the) inner product.
    max_abs, sum_abs : float64, axes (row,)
        Of |actual - expected|.
    max_rel : float
        Largest elementwise relative difference over non-zero expected.
    has_nonzero : bool
        Whether any expected element is not zero.
    absolute : float64, axes (row, element)
        |actual - expected|, valid until the next tile.
    non_finite : NonFinite or None
        None where every element is finite.
    """

    expected_square: FloatArray
    actual_square: FloatArray
    difference_square: FloatArray
    dot: FloatArray
    max_abs: FloatArray
    sum_abs: FloatArray
    max_rel: float
    has_nonzero: bool
    absolute: FloatArray
    non_finite: NonFinite | None


def measure_tile(expected: Array, actual: Array, scratch: Scratch, *, exponent: int = 0) -> Tile:
    """Measure one tile.

    Parameters
    ----------
    expected, actual : ndarray, axes (row, element)
        As stored; at most ``scratch.max_elements`` elements, at least one.
    scratch : Scratch
        Overwritten.
    exponent : int
        Both sides are multiplied by ``2**exponent`` first, which is exact: for rows whose squares
        would leave float64's range. Of integers, only 0 makes sense.
    """
    wide_expected, wide_actual = _widen(expected, scratch, 0, exponent), _widen(actual, scratch, 1, exponent)
    expected_square, actual_square = _squares(wide_expected), _squares(wide_actual)
    non_finite = None
    # Squares are never negative, so a NaN or an infinity anywhere survives into this sum: one
    # look at a few numbers instead of a mask over all. An overflow ends here too, harmlessly.
    if not np.isfinite(expected_square.sum() + actual_square.sum()):
        non_finite = exclude_non_finite(wide_expected, wide_actual)
        expected_square, actual_square = _squares(wide_expected), _squares(wide_actual)
    dot = np.einsum("ij,ij->i", _as_reals(wide_expected), _as_reals(wide_actual))
    difference = _subtract(expected, actual, wide_expected, wide_actual, scratch)
    difference_square = _squares(difference)
    absolute = _absolute(difference)
    magnitude = _absolute(wide_expected)
    if magnitude.min() == 0.0:
        magnitude[magnitude == 0.0] = np.inf
    relative = np.divide(absolute, magnitude, out=_as_float_buffer(wide_actual))
    return Tile(
        expected_square=expected_square,
        actual_square=actual_square,
        difference_square=difference_square,
        dot=dot,
        max_abs=absolute.max(axis=1),
        sum_abs=absolute.sum(axis=1),
        max_rel=float(relative.max()),
        has_nonzero=bool(magnitude.min() < np.inf),
        absolute=absolute,
        non_finite=non_finite,
    )


def measure_elements(expected: Array, actual: Array, scratch: Scratch) -> tuple[FloatArray, FloatArray]:
    """Return |actual - expected| and |expected| of one tile, axes (row, element).

    One-sided non-finite elements have an infinite difference, elements non-finite alike
    on both sides none; both have magnitude 0.
    """
    wide_expected, wide_actual = _widen(expected, scratch, 0, 0), _widen(actual, scratch, 1, 0)
    non_finite = exclude_non_finite(wide_expected, wide_actual)
    absolute = _absolute(_subtract(expected, actual, wide_expected, wide_actual, scratch))
    absolute[non_finite.one_sided] = np.inf
    return absolute, _absolute(wide_expected)


def find_largest_magnitude(expected: Array, actual: Array, scratch: Scratch) -> float:
    """Return the largest |real or imaginary part| of one tile's finite elements, both sides."""
    wide_expected, wide_actual = _widen(expected, scratch, 0, 0), _widen(actual, scratch, 1, 0)
    exclude_non_finite(wide_expected, wide_actual)
    return max(float(np.abs(_as_reals(wide)).max()) for wide in (wide_expected, wide_actual))


def _widen(values: Array, scratch: Scratch, number: int, exponent: int) -> Array:
    wide = scratch.shaped(number, values.shape)
    np.copyto(wide, values)
    if exponent:
        reals = _as_reals(wide)
        np.ldexp(reals, exponent, out=reals)
    return wide


def _as_reals(values: Array) -> FloatArray:
    """View complex numbers as pairs of reals: norms and inner products do not change."""
    return values.view(np.float64) if values.dtype.kind == "c" else values


def _as_float_buffer(values: Array) -> FloatArray:
    """Return float64 memory of this shape over ``values``, which are not needed any more."""
    if values.dtype.kind != "c":
        return values
    n_rows, n_elements = values.shape
    return values.reshape(-1).view(np.float64)[: n_rows * n_elements].reshape(n_rows, n_elements)


def _squares(values: Array) -> FloatArray:
    reals = _as_reals(values)
    squares: FloatArray = np.einsum("ij,ij->i", reals, reals)
    return squares


def _absolute(values: Array) -> FloatArray:
    """Return moduli, over the memory of ``values`` where they are real."""
    absolute: FloatArray = np.abs(values) if values.dtype.kind == "c" else np.abs(values, out=values)
    return absolute


def _subtract(
    expected: Array, actual: Array, wide_expected: Array, wide_actual: Array, scratch: Scratch
) -> Array:
    difference = scratch.shaped(2, expected.shape)
    if _are_wide_integers(expected, actual):
        np.copyto(difference, _integer_distance(expected, actual), casting="unsafe")
    else:
        np.subtract(wide_actual, wide_expected, out=difference)
    return difference


def _are_wide_integers(expected: Array, actual: Array) -> bool:
    kinds = expected.dtype.kind + actual.dtype.kind
    # int64 beside uint64 has float64 as its common type, which would round them first.
    return set(kinds) <= {"i", "u"} and 8 in (expected.dtype.itemsize, actual.dtype.itemsize)


def _integer_distance(expected: Array, actual: Array) -> Array:
    """Return |actual - expected| of integers of which a side has 64 bits, exact in uint64.

    Notes
    -----
    The distance of two int64 always fits uint64, and subtraction modulo 2**64 of the
    smaller from the larger yields it. In float64 it is then rounded beyond 2**53, but
    never to zero. Beside uint64, a negative number is split off first.
    """
    if np.uint64 in (expected.dtype, actual.dtype) and "i" in (expected.dtype.kind, actual.dtype.kind):
        signed, unsigned = (expected, actual) if expected.dtype.kind == "i" else (actual, expected)
        negative = np.minimum(signed, 0).astype(np.float64)
        distance = _integer_distance(np.maximum(signed, 0).astype(np.uint64), unsigned)
        mixed: Array = distance.astype(np.float64) - negative
        return mixed
    common = np.result_type(expected, actual)
    larger = np.maximum(expected, actual, dtype=common)
    smaller = np.minimum(expected, actual, dtype=common)
    subtracted: Array = larger.view(np.uint64) - smaller.view(np.uint64)
    return subtracted
