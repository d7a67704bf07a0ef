"""NaN and infinity in a tile: found, counted and taken out of the sums.

On both sides at the same place they are equal; on one side only they are always a drift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare.measures import CountArray, MaskArray
from pytest_modelreg.compare.rows import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class NonFinite:
    """Where a tile is not finite.

    Parameters
    ----------
    one_sided : ndarray of bool, axes (row, element)
        Non-finite on one side only, or differently non-finite.
    excluded : ndarray of bool, axes (row, element)
        Non-finite on any side.
    nan_expected, nan_actual, inf_expected, inf_actual : ndarray of int64, axes (row,)
        Counts; a complex element with a NaN and an infinity counts as NaN.
    """

    one_sided: MaskArray
    excluded: MaskArray
    nan_expected: CountArray
    nan_actual: CountArray
    inf_expected: CountArray
    inf_actual: CountArray


def exclude_non_finite(wide_expected: Array, wide_actual: Array) -> NonFinite:
    """Find non-finite elements and set both sides to 0 there, so that sums pass over them."""
    excluded = ~(np.isfinite(wide_expected) & np.isfinite(wide_actual))
    nan_expected, nan_actual = np.isnan(wide_expected), np.isnan(wide_actual)
    non_finite = NonFinite(
        one_sided=excluded & ~_are_alike(wide_expected, wide_actual),
        excluded=excluded,
        nan_expected=_count(nan_expected),
        nan_actual=_count(nan_actual),
        inf_expected=_count(np.isinf(wide_expected) & ~nan_expected),
        inf_actual=_count(np.isinf(wide_actual) & ~nan_actual),
    )
    wide_expected[excluded] = 0
    wide_actual[excluded] = 0
    return non_finite


def _are_alike(expected: Array, actual: Array) -> MaskArray:
    """Return where both sides are equal, NaN equal to NaN (a complex number part by part)."""
    if expected.dtype.kind == "c":
        return _are_alike(expected.real, actual.real) & _are_alike(expected.imag, actual.imag)
    alike: MaskArray = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    return alike


def _count(mask: MaskArray) -> CountArray:
    counts: CountArray = np.count_nonzero(mask, axis=1).astype(np.int64)
    return counts
