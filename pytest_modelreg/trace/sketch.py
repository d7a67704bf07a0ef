"""Count sketches: how far two long vectors are apart, when only one of them is still there.

What belongs here: from an array to a few hundred numbers from which the Euclidean norm of a
difference can be estimated. The placing of elements is plain integer arithmetic, so that every
version of every library makes the same sketch; changing it makes all recorded sketches useless.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.trace.splitmix import draw_numbers

_BLOCK = 1 << 16
_CACHED_BLOCKS = 48  # 24 MiB of places: an image of 1024 x 1024 in three channels


class CountSketch:
    """A sketch that is fed one array after the other, as if they were one long vector.

    Parameters
    ----------
    n_buckets : int
        A power of two. The relative standard error of an estimated norm is about
        ``1 / sqrt(2 * n_buckets)``: 4.4 % at 256.

    Notes
    -----
    Every element is added, with a sign, to one bucket; sign and bucket are a hash of its position
    (Charikar, Chen and Farach-Colton, "Finding frequent items in data streams", 2002; the hash is
    :mod:`~.splitmix`'s).
    Sketching is linear: the sketch of a difference is the difference of sketches, and the square of
    its norm has the squared norm of the difference as its mean and at most ``2 / n_buckets`` times the
    fourth power of that norm as its variance.

    Examples
    --------
    >>> before, after = CountSketch(256), CountSketch(256)
    >>> before.add(np.zeros(1000))
    >>> after.add(np.full(1000, 0.5))
    >>> abs(estimate_distance(before.buckets, after.buckets) / np.sqrt(250.0) - 1) < 0.3
    True
    """

    def __init__(self, n_buckets: int) -> None:
        if n_buckets < 1 or n_buckets & (n_buckets - 1):
            raise ValueError(f"n_buckets: expected a power of two, got {n_buckets}")
        self.buckets: NDArray[np.float64] = np.zeros(n_buckets)
        """float64, axes (bucket,), the unit of the array."""
        self.n_elements = 0
        self.n_non_finite = 0
        self._square = 0.0

    @property
    def norm(self) -> float:
        """Euclidean norm of everything fed so far, its finite elements; the unit of the array.

        Infinite where float64 cannot hold its square.
        """
        return float(np.sqrt(self._square))

    def add(self, array: NDArray[Any]) -> None:
        """Feed one array, in C order.

        Parameters
        ----------
        array : numpy.ndarray
            Booleans, integers, floats or complex numbers (as two elements each), any axes. What is
            not finite counts as zero in the sketch, and is counted apart.
        """
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.dtype.kind == "c":
            flat = flat.view(flat.real.dtype)
        for start in range(0, flat.size, _BLOCK):
            self._add_block(flat[start : start + _BLOCK].astype(np.float64))

    def _add_block(self, values: NDArray[np.float64]) -> None:
        finite = np.isfinite(values)
        if not finite.all():
            self.n_non_finite += int(values.size - np.count_nonzero(finite))
            values[~finite] = 0.0
        n_buckets = self.buckets.size
        done = 0
        while done < values.size:
            block, at = divmod(self.n_elements, _BLOCK)
            part = values[done : done + _BLOCK - at]
            places = _place_block(block, n_buckets)[at : at + part.size]
            signed = np.bincount(places, weights=part, minlength=2 * n_buckets)
            self.buckets += signed[:n_buckets] - signed[n_buckets:]
            self.n_elements += part.size
            done += part.size
        with np.errstate(over="ignore"):
            self._square += float(np.dot(values, values))


def estimate_distance(expected: NDArray[np.float64], actual: NDArray[np.float64]) -> float:
    """Return the estimated Euclidean norm of ``actual - expected``, from their sketches.

    Parameters
    ----------
    expected, actual : numpy.ndarray
        float64, axes (bucket,), of equally many buckets.

    Returns
    -------
    float
        Infinite where float64 cannot hold its square.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(actual - expected))


@lru_cache(maxsize=_CACHED_BLOCKS)
def _place_block(block: int, n_buckets: int) -> NDArray[np.intp]:
    """Return the places of the elements of one block: the bucket, plus ``n_buckets`` where negated."""
    state = draw_numbers(block * _BLOCK, (block + 1) * _BLOCK)
    bucket = (state & np.uint64(n_buckets - 1)).astype(np.intp)
    negated = (state >> np.uint64(63)).astype(np.intp)
    places: NDArray[np.intp] = bucket + negated * n_buckets
    places.flags.writeable = False
    return places
