"""Partners among the boxes of one sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_modelreg.compare import Boxes, match_boxes

FACE, OTHER, FAR = [10, 10, 60, 60], [40, 10, 90, 60], [200, 200, 240, 260]


def boxes(*corners: list[float], scores: object = None, classes: object = None) -> Boxes:
    """Return boxes with scores and classes, where given."""
    return Boxes(
        corners=np.array(corners, np.float64).reshape(-1, 4),
        scores=None if scores is None else np.array(scores, np.float64),
        classes=None if classes is None else np.array(classes, np.float64),
    )


def partners(expected: Boxes, actual: Boxes, noise: float = 0.0) -> list[tuple[int, int]]:
    """Return pairs of expected and actual box."""
    match = match_boxes(expected, actual, noise=noise)
    return list(zip(match.expected.tolist(), match.actual.tolist(), strict=True))


def test_order_says_nothing() -> None:
    """The same boxes the other way round: every one has its partner, and none is lost or new."""
    match = match_boxes(boxes(FACE, OTHER, FAR), boxes(FAR, OTHER, FACE))
    assert match.actual.tolist() == [2, 1, 0]
    assert match.iou.tolist() == [1.0, 1.0, 1.0]
    assert not len(match.lost)
    assert not len(match.new)


def test_lost_and_new_boxes_are_told_apart() -> None:
    """Which box of which side has no partner."""
    match = match_boxes(boxes(FACE, FAR), boxes([300, 300, 340, 360], FACE))
    assert (match.lost.tolist(), match.new.tolist()) == ([1], [0])


@pytest.mark.parametrize(("right", "is_same"), [(90, True), (91, False)])
def test_half_of_it_is_the_same_box(right: float, is_same: bool) -> None:
    """At an overlap of one half it is the box, just below it is another one."""
    match = match_boxes(boxes([10, 0, 50, 10]), boxes([10, 0, right, 10]))
    assert bool(len(match.expected)) is is_same
    assert len(match.lost) == len(match.new) == (not is_same)


def test_nearest_box_is_the_partner() -> None:
    """Of two that overlap enough, the one that overlaps more, whichever comes first."""
    near, nearer = [12, 10, 62, 60], [11, 10, 61, 60]
    assert partners(boxes(FACE), boxes(near, nearer)) == [(0, 1)]
    assert partners(boxes(FACE), boxes(nearer, near)) == [(0, 0)]


def test_equal_class_goes_before_overlap() -> None:
    """A detector that finds two classes at one place: each keeps its own, also when both move."""
    expected = boxes(FACE, [12, 10, 62, 60], classes=[1, 2])
    actual = boxes([12, 10, 62, 60], [14, 10, 64, 60], classes=[1, 2])
    assert partners(expected, actual) == [(0, 0), (1, 1)]


def test_box_of_another_class_is_no_partner() -> None:
    """It is named as relabelled, and neither lost nor new."""
    match = match_boxes(boxes(FACE, FAR, classes=[0, 1]), boxes(FAR, FACE, classes=[1, 2]))
    assert match.relabelled.tolist() == [[0, 1]]
    assert (match.expected.tolist(), match.lost.tolist(), match.new.tolist()) == ([1], [], [])


def test_scores_tell_boxes_that_lie_on_each_other() -> None:
    """Noise in the coordinates must not choose between two boxes at one place."""
    noisy = [10.001, 10, 60, 60]
    expected = boxes(FACE, FACE, scores=[0.9, 0.3])
    assert partners(expected, boxes(noisy, FACE, scores=[0.9001, 0.3001])) == [(0, 0), (1, 1)]
    assert partners(expected, boxes(FACE, noisy, scores=[0.3001, 0.9001])) == [(0, 1), (1, 0)]
    crossed = boxes(FACE, noisy, scores=[0.9, 0.3]), boxes(noisy, FACE, scores=[0.9, 0.3])
    assert partners(*crossed) == [(0, 0), (1, 1)]


@pytest.mark.parametrize(("noise", "iou"), [(0.02, 1.0), (0.005, 49 / 51)])
def test_partners_within_noise_overlap_fully(noise: float, iou: float) -> None:
    """A box of 50 pixels that moved by one: in half precision that is noise, in single it is not."""
    match = match_boxes(boxes(FACE), boxes([11, 10, 61, 60]), noise=noise)
    assert match.iou.tolist() == [pytest.approx(iou)]


def test_boxes_with_nan_are_their_own_partners() -> None:
    """What was no box and is none in the same way has not changed."""
    broken = [np.nan, 10, 60, 60]
    assert partners(boxes(FACE, broken), boxes(broken, FACE)) == [(0, 1), (1, 0)]
    assert not partners(boxes(FACE), boxes(broken))


@pytest.mark.parametrize("sides", [((), (FACE,)), ((FACE,), ()), ((), ())])
def test_no_box_on_a_side_is_no_fault(sides: tuple[tuple[list[float], ...], ...]) -> None:
    """All boxes of the other side are lost or new."""
    match = match_boxes(boxes(*sides[0], classes=[0] * len(sides[0])), boxes(*sides[1]))
    assert (len(match.lost), len(match.new)) == (len(sides[0]), len(sides[1]))


def test_many_equal_boxes_match_in_bounded_memory() -> None:
    """Padding of thousands of equal boxes is told by its bytes: no table of all pairs is made."""
    padding = Boxes(corners=np.zeros((20_000, 4)))
    assert len(match_boxes(padding, padding).expected) == 20_000


def test_blocks_do_not_show() -> None:
    """More boxes than fit one block of overlaps: every one has its own partner."""
    corners = np.arange(600.0)[:, np.newaxis] * 100 + np.array([0, 0, 50, 50])
    moved = Boxes(corners=corners[::-1] + 1.0)
    assert match_boxes(Boxes(corners=corners), moved).actual.tolist() == list(range(599, -1, -1))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_any_order_has_the_same_partners(count: int, seed: int) -> None:
    """A law: whatever the order of this run's boxes, the partners and their overlaps are the same."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 100, (count, 2))
    corners = np.concatenate([low, low + rng.uniform(5, 80, (count, 2))], axis=1)
    scores, classes = rng.uniform(0, 1, count), rng.integers(0, 3, count).astype(np.float64)
    expected = Boxes(corners=corners, scores=scores, classes=classes)
    moved = corners + rng.normal(0, 2.0, corners.shape)
    order = rng.permutation(count)
    plain = match_boxes(expected, Boxes(corners=moved, scores=scores, classes=classes))
    mixed = match_boxes(expected, Boxes(corners=moved[order], scores=scores[order], classes=classes[order]))
    assert plain.expected.tolist() == mixed.expected.tolist()
    assert plain.actual.tolist() == order[mixed.actual].tolist()
    assert plain.iou.tolist() == mixed.iou.tolist()
