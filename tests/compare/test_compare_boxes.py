"""Corners and overlap of boxes."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.compare import compute_iou, find_corners

BOX = np.array([[10.0, 20.0, 30.0, 60.0]])


@pytest.mark.parametrize(
    ("box_format", "numbers"),
    [("xyxy", [10, 20, 30, 60]), ("xywh", [10, 20, 20, 40]), ("cxcywh", [20, 40, 20, 40])],
)
def test_every_format_means_the_same_corners(box_format: str, numbers: list[int]) -> None:
    """One box, written down in three ways."""
    assert np.array_equal(find_corners(np.array([numbers], np.float64), box_format), BOX)


@pytest.mark.parametrize(
    ("other", "iou"),
    [
        ([10, 20, 30, 60], 1.0),
        ([10, 20, 20, 60], 0.5),
        ([20, 40, 40, 80], 200 / 1400),
        ([30, 20, 50, 60], 0.0),
        ([11, 20, 31, 60], 760 / 840),
        ([10, 20, 10, 60], 0.0),
        ([30, 60, 10, 20], 0.0),
        ([np.nan, 20, 30, 60], 0.0),
        ([-np.inf, -np.inf, np.inf, np.inf], 0.0),
    ],
)
def test_overlap_is_intersection_over_union(other: list[float], iou: float) -> None:
    """Whole, half, a corner, touching, shifted by one; without an area or without numbers: none."""
    assert compute_iou(BOX, np.array([other], np.float64))[0, 0] == pytest.approx(iou)


def test_every_box_meets_every_box() -> None:
    """Axes are expected box and actual box, in this order."""
    iou = compute_iou(BOX, np.array([[10, 20, 30, 60], [0, 0, 1, 1], [10, 20, 20, 60]], np.float64))
    assert iou.tolist() == [[1.0, 0.0, 0.5]]


@pytest.mark.parametrize(("shift", "iou"), [(0.9e-5, 1.0), (1.1e-5, 0.0)])
def test_flat_boxes_overlap_within_noise(shift: float, iou: float) -> None:
    """A box without an area is itself, as long as noise explains where it went."""
    flat = np.array([[10.0, 20.0, 10.0, 60.0]])
    moved = flat + np.array([[shift * np.linalg.norm(flat), 0, 0, 0]])
    assert compute_iou(flat, moved, noise=1e-5)[0, 0] == iou
