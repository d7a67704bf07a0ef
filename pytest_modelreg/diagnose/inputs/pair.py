"""One input of one sample on both sides, and how far the two are apart.

What belongs here: the value that the detective is given, the numbers of it in one form, and the
distances that every replay is judged by. A measure more is a function here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
"""float64, or float32 where pictures are searched."""

NumberPair = tuple[Floats, Floats]
"""Expected and actual."""

_LEAST_NOISE = 1e-6
_NOISE_STEPS = 4.0  # roundings of the coarser dtype that two ways of writing a formula are apart


@dataclass(frozen=True, kw_only=True, eq=False)
class InputPair:
    """What the golden's model and this run's model were fed for one sample.

    Parameters
    ----------
    sample : str
        Id.
    path : str
        Which input of the model, empty for a bare tensor.
    expected, actual : numpy.ndarray
        Any dtype and shape, without a batch axis: float32 (channel, height, width), for example.
    file : Path or None
        The sample's file on disk, None when unknown.
    loader : str
        The suite's loader: ``image``, ``array``, ``text``.
    """

    sample: str
    path: str
    expected: NDArray[Any]
    actual: NDArray[Any]
    file: Path | None
    loader: str


def read_numbers(array: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return an array of real numbers as float64 of the same shape, None for anything else."""
    if array.dtype.kind not in "biuf":
        return None
    numbers: NDArray[np.float64] = np.asarray(array, np.float64)
    return numbers


def is_same(pair: InputPair) -> bool:
    """Whether both sides agree but for rounding, dtype and shape included."""
    return is_same_form(pair) and has_same_values(pair)


def is_same_form(pair: InputPair) -> bool:
    """Whether both sides have one dtype and shape."""
    return pair.expected.shape == pair.actual.shape and pair.expected.dtype == pair.actual.dtype


def has_same_values(pair: InputPair) -> bool:
    """Whether both sides, of one shape, hold the same values but for rounding of the coarser dtype."""
    if pair.expected.shape != pair.actual.shape:
        return False
    expected, actual = read_numbers(pair.expected), read_numbers(pair.actual)
    if expected is None or actual is None:
        return bool(np.array_equal(pair.expected, pair.actual))
    if not np.array_equal(np.isfinite(expected), np.isfinite(actual)):
        return False
    floats = [side.dtype for side in (pair.expected, pair.actual) if side.dtype.kind == "f"]
    noise = max([_LEAST_NOISE, *(_NOISE_STEPS * float(np.finfo(dtype).eps) for dtype in floats)])
    return measure_distance([(expected, actual)]) <= (noise if floats else 0.0)


def measure_distance(pairs: Iterable[tuple[Floats, Floats]]) -> float:
    """Return the norm of all differences over that of all that is expected.

    Parameters
    ----------
    pairs : iterable of (expected, actual)
        Of one shape each. Elements that are not finite on both sides do not count.

    Returns
    -------
    float
        Dimensionless; infinite where everything expected is zero and something is not.
    """
    differences, totals = [0.0], [0.0]
    for expected, actual in pairs:
        with np.errstate(all="ignore"):
            gap = np.subtract(expected, actual, dtype=np.float64)
        finite = np.isfinite(gap)
        differences.append(_find_norm(gap[finite]))
        totals.append(_find_norm(np.asarray(expected, np.float64)[finite]))
    difference, total = math.hypot(*differences), math.hypot(*totals)
    if difference == 0.0:
        return 0.0
    return difference / total if total > 0.0 else math.inf


def _find_norm(values: NDArray[np.float64]) -> float:
    """Return the Euclidean norm, of values too whose squares float64 cannot hold."""
    largest = float(np.abs(values).max()) if values.size else 0.0
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    parts = values / largest
    return largest * math.sqrt(float(np.dot(parts, parts)))
