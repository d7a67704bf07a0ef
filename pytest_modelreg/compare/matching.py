"""Which box of one side is which box of the other.

Here belongs finding partners within one sample, by overlap, so that order says nothing. How much has
to overlap for a sample to hold is judged elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare.boxes import SAME_BOX, Boxes, compute_iou
from pytest_modelreg.compare.measures import CountArray, FloatArray, MaskArray

IOU_DIGITS = 3
"""Digits to which overlaps are ordered: of boxes that lie on each other, noise must not choose."""

_BLOCK_PAIRS = 2**16


@dataclass(frozen=True, kw_only=True, eq=False)
class BoxMatch:
    """Partners among the boxes of one sample.

    Parameters
    ----------
    expected, actual : ndarray of int64, axes (pair,)
        Boxes that are the same on both sides, in the expected order.
    iou : ndarray of float64, axes (pair,)
        How far they overlap; 1 where noise explains how far they are apart.
    lost, new : ndarray of int64, axes (box,)
        Boxes that only the expected, only the actual side has.
    relabelled : ndarray of int64, axes (pair, side)
        Boxes at one place that have another class: expected, actual.
    """

    expected: CountArray
    actual: CountArray
    iou: FloatArray
    lost: CountArray
    new: CountArray
    relabelled: CountArray


@dataclass(frozen=True, kw_only=True, eq=False)
class BoxAgreement:
    """How far the boxes of two sides agree per pair of rows; every array has axes (pair,).

    Parameters
    ----------
    overlap : float64
        Mean overlap of the sample's boxes, 0 for one without a partner.
    near_tie : bool
        Whether a box without a partner is as good as at the threshold.
    n_lost, n_new, n_relabelled : int64
        Boxes that only one side has, and those at one place that have another class.
    """

    overlap: FloatArray
    near_tie: MaskArray
    n_lost: CountArray
    n_new: CountArray
    n_relabelled: CountArray

    @classmethod
    def of_equal_rows(cls, n_pairs: int) -> BoxAgreement:
        """Return full agreement, to be filled in."""
        counts = [np.zeros(n_pairs, dtype=np.int64) for _ in range(3)]
        return cls(
            overlap=np.ones(n_pairs),
            near_tie=np.zeros(n_pairs, dtype=np.bool_),
            n_lost=counts[0],
            n_new=counts[1],
            n_relabelled=counts[2],
        )

    def take(self, pairs: CountArray) -> BoxAgreement:
        """Return the agreement of some of the pairs."""
        return BoxAgreement(
            overlap=self.overlap[pairs],
            near_tie=self.near_tie[pairs],
            n_lost=self.n_lost[pairs],
            n_new=self.n_new[pairs],
            n_relabelled=self.n_relabelled[pairs],
        )


def match_boxes(expected: Boxes, actual: Boxes, *, noise: float = 0.0) -> BoxMatch:
    """Find the partner of every box.

    Parameters
    ----------
    expected, actual : Boxes
        Both have scores or none has; the same of classes.
    noise : float
        Relative distance of two boxes that is noise, dimensionless.

    Notes
    -----
    Greedy: of all pairs that overlap by :data:`SAME_BOX` at least, those of equal class first, then
    those that overlap most (to :data:`IOU_DIGITS` digits), then those with the nearest scores, then
    exact overlap, then order. Pairs of different class are no partners: they say that a box was
    relabelled. Boxes with equal bytes are partners before all that, which no overlap exceeds. Partners
    whose corners are as vectors no further apart than ``noise`` times the expected one's norm overlap
    fully: in half precision a box of a healthy run moves by a pixel.
    """
    partner = _find_equal(expected, actual)
    is_relabelled = np.zeros(len(expected), dtype=np.bool_)
    iou = np.where(partner >= 0, 1.0, 0.0)
    is_taken = np.zeros(len(actual), dtype=np.bool_)
    is_taken[partner[partner >= 0]] = True
    left, free = np.flatnonzero(partner < 0), np.flatnonzero(~is_taken)
    if len(left) and len(free):
        rows, columns, overlaps = _list_overlapping(expected.corners[left], actual.corners[free], noise)
        rows, columns = left[rows], free[columns]
        is_other = _differ(expected.classes, actual.classes, rows, columns) != 0.0
        distance = _differ(expected.scores, actual.scores, rows, columns)
        rounded = np.round(overlaps, IOU_DIGITS)
        for at in np.lexsort((columns, rows, -overlaps, distance, -rounded, is_other)).tolist():
            row, column = int(rows[at]), int(columns[at])
            if partner[row] < 0 and not is_taken[column]:
                partner[row], is_taken[column] = column, True
                iou[row], is_relabelled[row] = overlaps[at], is_other[at]
    is_same = (partner >= 0) & ~is_relabelled
    before, after = expected.corners[is_same], actual.corners[partner[is_same]]
    with np.errstate(all="ignore"):
        is_noise = np.linalg.norm(after - before, axis=1) <= noise * np.linalg.norm(before, axis=1)
    return BoxMatch(
        expected=np.flatnonzero(is_same),
        actual=partner[is_same],
        iou=np.where(is_noise, 1.0, iou[is_same]),
        lost=np.flatnonzero(partner < 0),
        new=np.flatnonzero(~is_taken),
        relabelled=np.stack([np.flatnonzero(is_relabelled), partner[is_relabelled]], axis=1),
    )


def _find_equal(expected: Boxes, actual: Boxes) -> CountArray:
    """Return the partner of every expected box that has equal bytes, -1 for the others."""
    waiting: dict[bytes, list[int]] = {}
    for index, key in reversed(list(enumerate(_list_keys(actual)))):
        waiting.setdefault(key, []).append(index)
    partner = np.full(len(expected), -1, dtype=np.int64)
    for index, key in enumerate(_list_keys(expected)):
        if waiting.get(key):
            partner[index] = waiting[key].pop()
    return partner


def _list_keys(boxes: Boxes) -> list[bytes]:
    columns = [boxes.corners]
    columns += [each[:, np.newaxis] for each in (boxes.scores, boxes.classes) if each is not None]
    table = np.concatenate(columns, axis=1)
    return [row.tobytes() for row in table]


def _list_overlapping(
    expected: FloatArray, actual: FloatArray, noise: float
) -> tuple[CountArray, CountArray, FloatArray]:
    """Return pairs that may be one box: expected box, actual box, overlap, each with axes (pair,)."""
    step = max(1, _BLOCK_PAIRS // len(actual))
    found: list[tuple[CountArray, CountArray, FloatArray]] = []
    for start in range(0, len(expected), step):
        iou = compute_iou(expected[start : start + step], actual, noise=noise)
        rows, columns = np.nonzero(iou >= SAME_BOX)
        found.append((rows + start, columns, iou[rows, columns]))
    rows, columns, overlaps = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, columns, overlaps


def _differ(
    expected: FloatArray | None, actual: FloatArray | None, rows: CountArray, columns: CountArray
) -> FloatArray:
    if expected is None or actual is None:
        return np.zeros(len(rows))
    with np.errstate(invalid="ignore"):
        return np.abs(expected[rows] - actual[columns])
