"""Pseudorandom numbers that every version of every library makes alike.

What belongs here: the one generator by which elements of arrays are placed and chosen. Plain integer
arithmetic; changing it makes all recorded sketches and points useless.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def draw_numbers(first: int, end: int, seed: int = 0) -> NDArray[np.uint64]:
    """Return the numbers ``first`` to ``end`` (exclusive) of a seed: uint64, axes (number,).

    splitmix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    with np.errstate(over="ignore"):
        state = (np.arange(first, end, dtype=np.uint64) + np.uint64(1)) * _STEP + np.uint64(seed)
        state = (state ^ (state >> np.uint64(30))) * _FIRST
        state = (state ^ (state >> np.uint64(27))) * _SECOND
        numbers: NDArray[np.uint64] = state ^ (state >> np.uint64(31))
    return numbers
