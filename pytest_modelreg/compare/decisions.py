"""Decisions read off class scores: top-1 and the top-k set, with near ties.

A decision is what a caller acts on. Here belongs how two rows of scores decide; how many
disagreements a suite tolerates is judged elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare.measures import CountArray, FloatArray, MaskArray, RowMeasures
from pytest_modelreg.compare.rows import Array, Band


@dataclass(frozen=True, kw_only=True, eq=False)
class Decisions:
    """Agreement per pair of rows; every array has axes (pair,).

    Parameters
    ----------
    top1 : float64
        1 where the top class agrees (near ties included), 0 where it flipped, NaN where
        nothing can be decided: a NaN among the scores, or non-finite on one side only.
    topk_overlap : float64
        Share of the expected top-k classes that are still in it, near ties at its edge
        included; NaN as above.
    top1_near_tie, topk_near_tie : bool
        Where agreement is owed to the near-tie bound.
    expected_top, actual_top : int64
        The top class of either side where it flipped; -1 where the expected decision stands.
    """

    top1: FloatArray
    topk_overlap: FloatArray
    top1_near_tie: MaskArray
    topk_near_tie: MaskArray
    expected_top: CountArray
    actual_top: CountArray

    @classmethod
    def of_equal_rows(cls, n_pairs: int) -> Decisions:
        """Return full agreement, to be filled in."""
        return cls(
            top1=np.ones(n_pairs),
            topk_overlap=np.ones(n_pairs),
            top1_near_tie=np.zeros(n_pairs, dtype=np.bool_),
            topk_near_tie=np.zeros(n_pairs, dtype=np.bool_),
            expected_top=np.full(n_pairs, -1, dtype=np.int64),
            actual_top=np.full(n_pairs, -1, dtype=np.int64),
        )


class ScoreObserver:
    """Reads decisions off every band of a comparison.

    Parameters
    ----------
    n_pairs : int
        Pairs of rows.
    epsilon : float
        Relative error that counts as noise, dimensionless.
    top_k : int
        Size of the top-k set; 0 leaves ``topk_overlap`` at 1.

    Notes
    -----
    A flip from a to b is a near tie when expected[a] - expected[b] <= sqrt(2) * epsilon *
    norm(expected): two scores that are off by a share of a noise vector of norm epsilon *
    norm(expected) can close at most that distance. Of equal scores the first class is on top,
    as argmax has it.
    """

    def __init__(self, n_pairs: int, *, epsilon: float, top_k: int = 0) -> None:
        self._epsilon = epsilon
        self._top_k = top_k
        self.decisions = Decisions.of_equal_rows(n_pairs)

    def observe(self, band: Band, rows: RowMeasures) -> None:
        """Decide the rows of one band; equal rows decide alike and are not looked at."""
        undecided = (rows.nan_expected[band.pairs] + rows.nan_actual[band.pairs]) > 0
        undecided |= rows.n_one_sided[band.pairs] > 0
        self.decisions.top1[band.pairs][undecided] = np.nan
        self.decisions.topk_overlap[band.pairs][undecided] = np.nan
        chosen = np.flatnonzero(~undecided & (rows.max_abs[band.pairs] > 0.0))
        if not len(chosen):
            return
        everything = len(chosen) == len(undecided)
        expected, actual = (side if everything else side[chosen] for side in (band.expected, band.actual))
        positions = chosen + band.start
        bounds = np.sqrt(2.0) * self._epsilon * rows.expected_norm[positions]
        self._decide_top1(expected, actual, bounds, positions)
        if self._top_k:
            self._decide_topk(expected, actual, bounds, positions)

    def _decide_top1(self, expected: Array, actual: Array, bounds: FloatArray, positions: CountArray) -> None:
        before, after = expected.argmax(axis=1), actual.argmax(axis=1)
        flipped = np.flatnonzero(before != after)
        margins = _subtract_scores(expected[flipped, before[flipped]], expected[flipped, after[flipped]])
        near = margins <= bounds[flipped]
        self.decisions.top1_near_tie[positions[flipped[near]]] = True
        clear = flipped[~near]
        self.decisions.top1[positions[clear]] = 0.0
        self.decisions.expected_top[positions[clear]] = before[clear]
        self.decisions.actual_top[positions[clear]] = after[clear]

    def _decide_topk(self, expected: Array, actual: Array, bounds: FloatArray, positions: CountArray) -> None:
        top_expected, top_actual = find_top_k(expected, self._top_k), find_top_k(actual, self._top_k)
        for row in np.flatnonzero((top_expected != top_actual).any(axis=1)).tolist():
            left = expected[row, top_expected[row] & ~top_actual[row]]
            entered = expected[row, top_actual[row] & ~top_expected[row]]
            n_near = _count_near_swaps(left, entered, float(bounds[row]))
            self.decisions.topk_near_tie[positions[row]] = n_near > 0
            self.decisions.topk_overlap[positions[row]] = 1.0 - (len(left) - n_near) / self._top_k


def find_top_k(scores: Array, top_k: int) -> MaskArray:
    """Return which classes are among the ``top_k`` highest, axes (row, class).

    Of classes that share the lowest score inside, the first ones are in.
    """
    lowest = np.partition(scores, -top_k, axis=1)[:, -top_k, np.newaxis]
    inside: MaskArray = scores > lowest
    at_edge = scores == lowest
    n_missing = top_k - inside.sum(axis=1, keepdims=True)
    inside |= at_edge & (np.cumsum(at_edge, axis=1) <= n_missing)
    return inside


def _count_near_swaps(left: Array, entered: Array, bound: float) -> int:
    """Return how many classes left the top-k set in a near tie with one that entered it.

    The largest number of pairs (one that left, one that entered) within the bound: the m
    lowest of those that left, each against the m highest of those that entered, crosswise.
    """
    lowest_left, highest_entered = np.sort(left), np.sort(entered)[::-1]
    for n_pairs in range(len(left), 0, -1):
        margins = _subtract_scores(lowest_left[:n_pairs][::-1], highest_entered[:n_pairs])
        if (margins <= bound).all():
            return n_pairs
    return 0


def _subtract_scores(higher: Array, lower: Array) -> FloatArray:
    """Return margins in float64; equal infinities have none."""
    margins: FloatArray = np.subtract(higher, lower, dtype=np.float64)
    margins[higher == lower] = 0.0
    return margins
