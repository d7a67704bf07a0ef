"""Shapes of rows that differ: what they share, and how their values lie in one file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def common_lengths(counts: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the shape that all rows share, -1 for each axis in which they differ.

    Parameters
    ----------
    counts : numpy.ndarray
        int64, axes (row, dimension), at least one row.
    """
    same = (counts == counts[0]).all(axis=0)
    return tuple(int(length) if equal else -1 for length, equal in zip(counts[0], same, strict=True))


def joined_shape(counts: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the shape of the values file of rows that differ in shape.

    Parameters
    ----------
    counts : numpy.ndarray
        int64, axes (row, dimension), at least one row and one dimension.

    Returns
    -------
    tuple of int
        Rows joined along their first axis where they agree in all others, else 1-d.
    """
    trailing = common_lengths(counts)[1:]
    if -1 in trailing:
        return (int(counts.prod(axis=1).sum()),)
    return (int(counts[:, 0].sum()), *trailing)
