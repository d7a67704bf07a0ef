"""A probe of one sample's inputs: one row of numbers, and what two rows say of each other.

What belongs here: the columns of the table that a golden keeps of its inputs. They are the buckets
of a count sketch, then the Euclidean norm of the inputs and how many elements are not finite; a row
of NaN knows nothing. A column more goes behind the last one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.trace.sketch import CountSketch, estimate_distance

_N_FACTS = 2


def count_columns(n_buckets: int) -> int:
    """Return how many numbers a row with so many buckets has."""
    return n_buckets + _N_FACTS


def make_row(sketch: CountSketch) -> NDArray[np.float64]:
    """Return the row of what a sketch was fed: float64, axes (column,)."""
    return np.concatenate([sketch.buckets, [sketch.norm, float(sketch.n_non_finite)]])


def is_known(row: NDArray[np.float64]) -> bool:
    """Whether a row knows anything."""
    return not bool(np.isnan(row).any())


def estimate_rel_l2(expected: NDArray[np.float64], actual: NDArray[np.float64]) -> float | None:
    """Return how far two samples' inputs of one form are apart, from their rows.

    Parameters
    ----------
    expected, actual : numpy.ndarray
        float64, axes (column,), equally long.

    Returns
    -------
    float or None
        Estimated norm of the difference over the expected norm, dimensionless; its standard error is
        :class:`~.sketch.CountSketch`'s. Infinite where another number of elements is not finite, where
        all expected ones are zero and the others are not, or where float64 cannot hold the numbers'
        squares. None where no number tells the two apart.
    """
    if expected[-1] != actual[-1]:
        return math.inf
    distance = estimate_distance(expected[:-_N_FACTS], actual[:-_N_FACTS])
    if distance == 0.0:
        # Words, the sign of a zero, the payload of a NaN: what differs is in no bucket.
        return None
    norm = float(expected[-_N_FACTS])
    # A distance over an infinite norm would be zero, which is what another CPU may make.
    return distance / norm if 0.0 < norm < math.inf else math.inf
