"""Where two sequences part, and whether the golden could hardly tell the two tokens apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.domain.case import OutputSpec

Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Parting:
    """Where two sequences part.

    Parameters
    ----------
    place : int
        Of the first token that differs, from 0.
    lengths : pair of int
        Tokens of either side.
    is_near_tie : bool
        Whether the golden's scores hold both tokens no farther apart than noise.
    """

    place: int
    lengths: tuple[int, int]
    is_near_tie: bool


def find_parting(expected: Array, actual: Array) -> int | None:
    """Return the place of the first difference of two sequences, axes (place,); None where they are equal."""
    shared = min(len(expected), len(actual))
    differs = np.flatnonzero(expected[:shared] != actual[:shared])
    if len(differs):
        return int(differs[0])
    return None if len(expected) == len(actual) else shared


def is_near_tie(scores: Array, place: int, expected: int, actual: int, epsilon: float) -> bool:
    """Return whether the scores of a place hold two tokens no farther apart than noise.

    Parameters
    ----------
    scores : ndarray, axes (place, token)
        The golden's.
    epsilon : float
        Relative noise, dimensionless.

    Notes
    -----
    e[expected] - e[actual] <= sqrt(2) * epsilon * norm(e), the bound of ``compare.ScoreObserver``.
    """
    if scores.ndim != 2 or place >= len(scores):
        return False
    row = scores[place].astype(np.float64)
    if not (0 <= expected < len(row) and 0 <= actual < len(row)) or not np.isfinite(row).all():
        return False
    return bool(row[expected] - row[actual] <= math.sqrt(2.0) * epsilon * np.linalg.norm(row))


def name_token(number: int, spec: OutputSpec) -> str:
    """Return a token's number, with its text where the suite names a vocabulary."""
    if spec.labels is not None and 0 <= number < len(spec.labels):
        return f"{number} {spec.labels[number]!r}"
    return str(number)
