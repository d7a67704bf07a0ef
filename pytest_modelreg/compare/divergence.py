"""How far two distributions over classes lie apart, in nats.

Here belongs reading a row of scores as a distribution, and the divergence of two. How large a
divergence a suite tolerates is judged elsewhere.
"""

from __future__ import annotations

import numpy as np

from pytest_modelreg.compare.measures import FloatArray, RowMeasures
from pytest_modelreg.compare.rows import Band

DISTRIBUTION_TOLERANCE = 1e-2
"""How far from 1 the scores of a row may sum up to and still be read as probabilities (float16, bfloat16)."""


class DivergenceObserver:
    """Measures the divergence of every band of a comparison.

    Parameters
    ----------
    n_pairs : int
        Pairs of rows; rows hold one score a class.

    Notes
    -----
    Rows are read as probabilities where all that changed are distributions on the expected side, else
    as scores of a softmax: of one row alone, scores such as (1, 0, 0) look like probabilities.
    """

    def __init__(self, n_pairs: int) -> None:
        self._of_scores: FloatArray = np.zeros(n_pairs)
        self._of_probabilities: FloatArray = np.zeros(n_pairs)
        self._are_probabilities = True

    @property
    def divergence(self) -> FloatArray:
        """In nats, axes (pair,); 0 for equal rows, infinite where a side alone is not finite."""
        return self._of_probabilities if self._are_probabilities else self._of_scores

    def observe(self, band: Band, rows: RowMeasures) -> None:
        """Measure the rows of one band; equal rows are not looked at."""
        one_sided = rows.n_one_sided[band.pairs] > 0
        for divergence in (self._of_scores, self._of_probabilities):
            divergence[band.pairs][one_sided] = np.inf
        chosen = np.flatnonzero(~one_sided & (rows.max_abs[band.pairs] > 0.0))
        if not len(chosen):
            return
        at = chosen + band.start
        expected, actual = (side[chosen].astype(np.float64) for side in (band.expected, band.actual))
        self._of_scores[at] = diverge_scores(expected, actual)
        self._are_probabilities = self._are_probabilities and _are_distributions(expected)
        if self._are_probabilities:
            self._of_probabilities[at] = diverge_probabilities(expected, actual)


def diverge_scores(expected: FloatArray, actual: FloatArray) -> FloatArray:
    """Return the Kullback-Leibler divergence of actual's softmax from expected's, axes (row,), nats.

    Parameters
    ----------
    expected, actual : ndarray of float64, axes (row, class)
        Scores, not finite at the same places only: NaN on both sides leaves a class out.

    Notes
    -----
    sum p * log(p / q), as sum p * log(p / q) - p + q of which no term is negative; from
    log-probabilities, so that a class whose probability underflows does not turn into infinity.
    """
    with np.errstate(all="ignore"):
        log_p, log_q = (_log_softmax(np.where(np.isnan(side), -np.inf, side)) for side in (expected, actual))
        p, q = np.exp(log_p), np.exp(log_q)
        summed = np.where(p > 0.0, p * (log_p - log_q) + (q - p), q).sum(axis=1)
    # An infinite score takes everything, and it does so on both sides; no class at all differs in nothing.
    summed[np.isposinf(expected).any(axis=1) | ~np.isfinite(expected).any(axis=1)] = 0.0
    # Rounding can leave a sum of nothing a hair below zero.
    divergence: FloatArray = np.maximum(summed, 0.0)
    return divergence


def diverge_probabilities(expected: FloatArray, actual: FloatArray) -> FloatArray:
    """Return the divergence of probabilities as they are, axes (row,), nats.

    Parameters
    ----------
    expected, actual : ndarray of float64, axes (row, class)
        Probabilities on the expected side; NaN on both sides leaves a class out.

    Notes
    -----
    The generalised divergence sum p * log(p / q) - p + q, which is never negative and does not let
    probabilities pass that lost their sum. Infinite where a possible class became impossible.
    """
    p, q = (np.where(np.isnan(side), 0.0, side) for side in (expected, actual))
    change = q - p
    with np.errstate(all="ignore"):
        # log1p of the relative change keeps the digits that p - q and log(p / q) would cancel.
        terms = np.where(p > 0.0, change - p * np.log1p(change / p), q)
    terms[(q < 0.0) | ((q == 0.0) & (p > 0.0))] = np.inf
    divergence: FloatArray = np.maximum(terms.sum(axis=1), 0.0)
    return divergence


def _are_distributions(scores: FloatArray) -> bool:
    known = np.where(np.isnan(scores), 0.0, scores)
    with np.errstate(all="ignore"):
        sums = np.abs(known.sum(axis=1) - 1.0) <= DISTRIBUTION_TOLERANCE
    return bool(sums.all()) and bool(known.min() >= 0.0)


def _log_softmax(scores: FloatArray) -> FloatArray:
    shifted = scores - scores.max(axis=1, keepdims=True, initial=-np.inf)
    log_probabilities: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return log_probabilities
