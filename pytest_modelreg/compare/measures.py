"""What a comparison yields: numbers per row and per output, as values.

A new per-row number is a field of :class:`RowMeasures`, filled in ``comparison``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]
MaskArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class RowMeasures:
    """Numbers per pair of rows; every array has axes (pair,).

    Sums, norms and maxima run over elements that are finite on both sides.

    Parameters
    ----------
    n_elements : int64
        Elements of the row.
    expected_norm, difference_norm : float64
        Euclidean norms of expected and of actual - expected, the output's unit.
    rel_l2 : float64
        The gate, dimensionless; infinity where a side alone is not finite.
    cosine : float64
        Dimensionless, NaN where a norm is zero.
    max_abs, sum_abs : float64
        Of |actual - expected|, the output's unit.
    allowance : float64
        What an element may differ by before it counts as mismatched, the output's unit.
    n_mismatched : int64
        Elements beyond the allowance, and one-sided non-finite ones.
    n_beyond : int64
        Elements beyond ``atol + rtol * |expected|``; zeros where not asked for.
    nan_expected, nan_actual, inf_expected, inf_actual : int64
        Non-finite elements.
    n_one_sided : int64
        Elements non-finite on one side only, or differently non-finite.
    n_excluded : int64
        Elements left out of the sums: non-finite on either side.
    """

    n_elements: CountArray
    expected_norm: FloatArray
    difference_norm: FloatArray
    rel_l2: FloatArray
    cosine: FloatArray
    max_abs: FloatArray
    sum_abs: FloatArray
    allowance: FloatArray
    n_mismatched: CountArray
    n_beyond: CountArray
    nan_expected: CountArray
    nan_actual: CountArray
    inf_expected: CountArray
    inf_actual: CountArray
    n_one_sided: CountArray
    n_excluded: CountArray

    @classmethod
    def of_equal_rows(cls, n_pairs: int) -> RowMeasures:
        """Return the measures of rows without any difference, to be filled in."""
        floats = {"expected_norm", "difference_norm", "rel_l2", "cosine", "max_abs", "sum_abs", "allowance"}
        arrays: Mapping[str, Any] = {
            field.name: np.zeros(n_pairs, dtype=np.float64 if field.name in floats else np.int64)
            for field in fields(cls)
        }
        return cls(**arrays)


@dataclass(frozen=True, kw_only=True)
class WorstElement:
    """One element that differs.

    Parameters
    ----------
    pair : int
        Position of its row among the pairs.
    index : tuple of int
        Place within the row, in the row's own shape.
    expected, actual : builtin scalar
        Both values.
    absolute : float
        |actual - expected|, the output's unit; infinite where one side alone is not finite.
    """

    pair: int
    index: tuple[int, ...]
    expected: Any
    actual: Any
    absolute: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Two outputs compared.

    Parameters
    ----------
    rows : RowMeasures
        Per pair of rows.
    max_rel : float or None
        Largest |actual - expected| / |expected| over non-zero expected, dimensionless;
        None where every expected element is zero.
    worst : tuple of WorstElement
        Largest difference first; one-sided non-finite elements before all.
    """

    rows: RowMeasures
    max_rel: float | None
    worst: tuple[WorstElement, ...]

    @property
    def n_total(self) -> int:
        """Elements compared."""
        return int(self.rows.n_elements.sum())

    @property
    def n_finite(self) -> int:
        """Elements that entered the sums."""
        return self.n_total - int(self.rows.n_excluded.sum())

    @property
    def mean_abs(self) -> float:
        """Mean of |actual - expected| over finite elements, the output's unit."""
        with np.errstate(over="ignore"):
            return float(self.rows.sum_abs.sum()) / self.n_finite if self.n_finite else 0.0

    @property
    def rms_abs(self) -> float:
        """Root mean square of actual - expected over finite elements, the output's unit."""
        if not self.n_finite:
            return 0.0
        return root_sum_square(self.rows.difference_norm) / float(np.sqrt(self.n_finite))


def root_sum_square(norms: FloatArray) -> float:
    """Return the Euclidean norm of non-negative finite numbers, without overflow.

    Notes
    -----
    Scaled by the largest one, as LAPACK's ``dnrm2`` does.
    """
    largest = float(norms.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return largest * float(np.sqrt(np.sum((norms / largest) ** 2)))


def compute_norm(values: npt.NDArray[Any]) -> float:
    """Return the Euclidean norm of an array's finite elements, the array's own unit."""
    # Widening a signalling NaN warns, and a bfloat16 or float16 that a model returns can be one.
    with np.errstate(invalid="ignore"):
        widened = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64).reshape(-1)
    return root_sum_square(np.abs(widened[np.isfinite(widened)]))
