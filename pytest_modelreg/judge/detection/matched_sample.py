"""One sample's boxes of both sides: partners, what has none, and how to say so."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare import BoxMatch, match_boxes
from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.judge.detection.reader import DetectionReader, FloatArray, IndexArray, MaskArray
from pytest_modelreg.judge.kinds.detection import (
    SCORE_COLUMN,
    count_boxes,
    describe_box,
    find_scale,
    name_class,
)

MOST_WITHOUT_PARTNER = 0.998
"""Most that the overlap of a sample can be of which a box has no partner: a mean over a thousand boxes
would hide the one that is gone from the default limit."""

N_NAMED = 2
DIGITS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchedSample:
    """Both sides of one sample.

    Parameters
    ----------
    expected, actual : ndarray of float64, axes (box, column)
        Tables of the boxes that count, see :class:`DetectionReader`.
    chosen : pair of ndarray of int64, axes (box,)
        Where these boxes are in the rows as recorded.
    match : BoxMatch
        Partners among them.
    near_lost, near_new : ndarray of bool, axes (box,)
        Which of the lost and of the new boxes score as good as the threshold.
    """

    expected: FloatArray
    actual: FloatArray
    chosen: tuple[IndexArray, IndexArray]
    match: BoxMatch
    near_lost: MaskArray
    near_new: MaskArray

    @property
    def has_near_tie(self) -> bool:
        """Whether a box that one side lacks is as good as at the threshold."""
        return bool(self.near_lost.any() or self.near_new.any())

    @property
    def lost(self) -> IndexArray:
        """Expected boxes without a partner that are no near tie."""
        lost: IndexArray = self.match.lost[~self.near_lost]
        return lost

    @property
    def new(self) -> IndexArray:
        """Actual boxes without a partner that are no near tie."""
        new: IndexArray = self.match.new[~self.near_new]
        return new

    @property
    def overlap(self) -> float:
        """Mean overlap, dimensionless.

        Notes
        -----
        sum of IoU over partners / max(n expected, n actual), near ties left out of both counts; 1
        where there is no box. At most :data:`MOST_WITHOUT_PARTNER` where a box has no partner.
        """
        n_boxes = max(
            len(self.expected) - int(self.near_lost.sum()), len(self.actual) - int(self.near_new.sum())
        )
        mean = float(self.match.iou.sum()) / n_boxes if n_boxes else 1.0
        is_whole = not (len(self.lost) or len(self.new) or len(self.match.relabelled))
        return mean if is_whole else min(mean, MOST_WITHOUT_PARTNER)

    @property
    def partners(self) -> tuple[IndexArray, IndexArray]:
        """Where boxes with a partner are in the rows as recorded, in the expected order."""
        return self.chosen[0][self.match.expected], self.chosen[1][self.match.actual]

    def is_identity(self, n_expected: int, n_actual: int) -> bool:
        """Whether every box of both rows has its partner at its own place."""
        expected, actual = self.partners
        whole = np.arange(len(expected))
        return (
            len(expected) == n_expected == n_actual
            and bool((expected == whole).all())
            and bool((actual == whole).all())
        )

    def arrange(self) -> tuple[FloatArray, FloatArray]:
        """Return both tables with what changed most in front: boxes without a partner, then the others."""
        expected, actual = self.expected[self.match.expected], self.actual[self.match.actual]
        with np.errstate(invalid="ignore"):
            moved = np.nan_to_num(np.abs(expected - actual), nan=0.0).max(axis=1, initial=0.0)
        order = np.argsort(-moved, kind="stable")
        return (
            self.expected[np.concatenate([self._unmatched(0), self.match.expected[order]])],
            self.actual[np.concatenate([self._unmatched(1), self.match.actual[order]])],
        )

    def describe(self, spec: OutputSpec) -> str:
        """Return what is to be said of boxes without a partner; empty where there are none."""
        clauses = [
            self._list_boxes("lost", self.expected, self.lost, spec),
            self._list_boxes("new", self.actual, self.new, spec),
            self._list_relabelled(spec),
            self._list_boxes("lost at the threshold", self.expected, self._near(0), spec),
            self._list_boxes("new at the threshold", self.actual, self._near(1), spec),
        ]
        clauses = [clause for clause in clauses if clause]
        if clauses and len(self.expected) != len(self.actual):
            counts = f"{count_boxes(len(self.expected))} expected, {len(self.actual) or 'none'} got"
            clauses.insert(0, counts)
        return "; ".join(clauses)

    def count_relabelled(self, spec: OutputSpec) -> Counter[tuple[str, str]]:
        """Return how often a box of one class became one of another, by their names."""
        return Counter(
            (name_class(self.expected[before], spec), name_class(self.actual[after], spec))
            for before, after in self.match.relabelled.tolist()
        )

    def _unmatched(self, side: int) -> IndexArray:
        return np.concatenate([(self.match.lost, self.match.new)[side], self.match.relabelled[:, side]])

    def _near(self, side: int) -> IndexArray:
        boxes = (self.match.lost, self.match.new)[side]
        near: IndexArray = boxes[(self.near_lost, self.near_new)[side]]
        return near

    def _list_boxes(self, word: str, table: FloatArray, boxes: IndexArray, spec: OutputSpec) -> str:
        if not len(boxes):
            return ""
        scale = max(find_scale(self.expected), find_scale(self.actual))
        best_first = boxes[np.argsort(-np.nan_to_num(table[boxes, SCORE_COLUMN]), kind="stable")]
        shown = [describe_box(table[at], spec, DIGITS, scale) for at in best_first[:N_NAMED]]
        return f"{word}: {name_some(shown, N_NAMED, n_total=len(boxes))}"

    def _list_relabelled(self, spec: OutputSpec) -> str:
        found = self.match.relabelled.tolist()
        if not found:
            return ""
        scale = max(find_scale(self.expected), find_scale(self.actual))
        shown = [
            f"{name_class(self.expected[before], spec)} is "
            f"{describe_box(self.actual[after], spec, DIGITS, scale)}"
            for before, after in found[:N_NAMED]
        ]
        return f"other class: {name_some(shown, N_NAMED, n_total=len(found))}"


def match_sample(
    readers: tuple[DetectionReader, DetectionReader],
    rows: tuple[int, int],
    *,
    threshold: float | None,
    noise: float,
    score_noise: float,
) -> MatchedSample:
    """Read and match one sample.

    Parameters
    ----------
    readers, rows
        Expected and actual side.
    threshold : float or None
        As in the suite.
    noise, score_noise : float
        What counts as noise of boxes and of scores, relative, dimensionless.

    Notes
    -----
    A box that one side lacks is a near tie when s - t <= e * max(norm of the expected scores, t), s
    its score on the side that has it, t the threshold, e the noise of scores: so far can noise of
    that size move one score of the sample. Nothing is read off the difference of the two sides.
    """
    tables = [reader.read(row) for reader, row in zip(readers, rows, strict=True)]
    chosen = [reader.choose(table) for reader, table in zip(readers, tables, strict=True)]
    counted = [table[index] for table, index in zip(tables, chosen, strict=True)]
    match = match_boxes(
        *(reader.as_boxes(table) for reader, table in zip(readers, counted, strict=True)), noise=noise
    )
    scores = [table[:, SCORE_COLUMN] for table in counted]
    bound = 0.0
    if threshold is not None:
        finite = scores[0][np.isfinite(scores[0])]
        bound = score_noise * max(float(np.sqrt((finite**2).sum())), abs(threshold))
    near = [
        np.zeros(len(boxes), dtype=np.bool_)
        if threshold is None
        else side[boxes] - threshold <= bound  # what scores below it does not come so far
        for side, boxes in zip(scores, (match.lost, match.new), strict=True)
    ]
    return MatchedSample(
        expected=counted[0],
        actual=counted[1],
        chosen=(chosen[0], chosen[1]),
        match=match,
        near_lost=near[0],
        near_new=near[1],
    )
