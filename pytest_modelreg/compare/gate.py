"""The gate: relative error of a row, with a floor under its denominator.

The floor is why a healthy scalar regressor near zero does not fail: its rows are held
against the golden's typical row and not against their own tiny norm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare.measures import FloatArray

SHORT_ROW = 8
FLOOR_FACTOR = 0.01


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What rows are held against.

    Parameters
    ----------
    rms_row_norm : float
        R: root mean square of the golden's row norms, the output's unit.
    limit : float
        Largest allowed ``rel_l2``, dimensionless; it sets the per-element share by
        which ``n_mismatched`` counts. 0 counts every unequal element.
    """

    rms_row_norm: float
    limit: float


@dataclass(frozen=True, kw_only=True)
class ElementwiseLimit:
    """``|actual - expected| <= atol + rtol * |expected|``: ``atol`` in the output's unit."""

    rtol: float
    atol: float


def floor_factor(n_elements: int) -> float:
    """Return f of the gate for rows of this many elements, dimensionless."""
    return 1.0 if n_elements < SHORT_ROW else FLOOR_FACTOR


def compute_denominators(
    expected_norm: FloatArray, *, n_elements: int, rms_row_norm: float | FloatArray
) -> FloatArray:
    """Return what a row's difference is divided by, axes (row,), the output's unit.

    Notes
    -----
    max(norm of expected, f * R), see :class:`Gate` and :func:`floor_factor`.
    """
    denominators: FloatArray = np.maximum(expected_norm, floor_factor(n_elements) * rms_row_norm)
    return denominators


def compute_rel_l2(difference_norm: FloatArray, denominators: FloatArray) -> FloatArray:
    """Return the gate of every row, axes (row,), dimensionless.

    A zero denominator means that the whole golden output is zero: any difference is then infinite.
    """
    rel_l2: FloatArray = np.divide(
        difference_norm,
        denominators,
        out=np.where(difference_norm > 0.0, np.inf, 0.0),
        where=denominators > 0.0,
    )
    return rel_l2


def compute_allowances(denominators: FloatArray, *, n_elements: int, limit: float) -> FloatArray:
    """Return each element's share of its row's allowance, axes (row,), the output's unit.

    Notes
    -----
    limit * denominator / sqrt(d): a row of d elements beyond its limit has at least one element
    beyond the share, because the largest square is not below the mean square. A billionth less,
    so that rounding in the row's sum cannot turn that around.
    """
    return (limit * (1.0 - 1e-9) / float(np.sqrt(max(1, n_elements)))) * denominators
