"""Boxes of one sample: their corners, and how far two of them overlap.

Here belongs arithmetic on boxes. Which box is which is found in ``matching``. To add a way to write
boxes down, name it in ``domain.case.BOX_FORMATS`` and turn it into corners in :func:`find_corners`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare.measures import FloatArray

SAME_BOX = 0.5
"""Least overlap of two boxes that are taken for the same one: PASCAL VOC's and COCO's."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """What was detected in one sample.

    Parameters
    ----------
    corners : ndarray of float64, axes (box, coordinate)
        x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, any unit.
    scores : ndarray of float64, axes (box,), or None
        How sure the detector is; None where it does not say.
    classes : ndarray of float64, axes (box,), or None
        Class numbers; None where there is one class only.
    """

    corners: FloatArray
    scores: FloatArray | None = None
    classes: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.corners)


def find_corners(coordinates: FloatArray, box_format: str) -> FloatArray:
    """Return x1, y1, x2, y2 of boxes, axes (box, coordinate).

    Parameters
    ----------
    coordinates : ndarray of float64, axes (box, coordinate)
        Four numbers a box.
    box_format : str
        One of ``domain.case.BOX_FORMATS``: corners (``xyxy``), a corner and the size (``xywh``), or
        the centre and the size (``cxcywh``).
    """
    if box_format == "xyxy":
        return coordinates
    first, size = coordinates[:, :2], coordinates[:, 2:]
    # Infinite coordinates make NaN here, which overlaps nothing.
    with np.errstate(invalid="ignore", over="ignore"):
        low = first - size / 2.0 if box_format == "cxcywh" else first
        return np.concatenate([low, low + size], axis=1)


def compute_iou(expected: FloatArray, actual: FloatArray, *, noise: float = 0.0) -> FloatArray:
    """Return the intersection over union of every box with every box, axes (expected box, actual box).

    Parameters
    ----------
    expected, actual : ndarray of float64, axes (box, coordinate)
        Corners.
    noise : float
        Relative distance of two boxes up to which they are one and the same, dimensionless.

    Notes
    -----
    area(a & b) / area(a | b), as in Everingham et al., The PASCAL Visual Object Classes Challenge,
    IJCV 88 (2010), equation 3, with areas of continuous coordinates. Boxes without an area, or with a
    coordinate that is not finite, overlap nothing; but a box that overlaps none by half, such as one
    without an area, overlaps those fully whose corners are as vectors no further away than ``noise``
    times its norm.
    """
    with np.errstate(all="ignore"):
        shared = _find_shared(expected, actual, 0)
        shared *= _find_shared(expected, actual, 1)
        union = _compute_areas(expected)[:, np.newaxis] + _compute_areas(actual)
        union -= shared
        iou: FloatArray = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0.0)
        iou[~np.isfinite(iou)] = 0.0
        alone = np.flatnonzero(iou.max(axis=1, initial=0.0) < SAME_BOX)
        if len(alone) and noise:
            difference = expected[alone, np.newaxis] - actual[np.newaxis]
            distance, norm = np.linalg.norm(difference, axis=2), np.linalg.norm(expected[alone], axis=1)
            rows, columns = np.nonzero(distance <= noise * norm[:, np.newaxis])
            iou[alone[rows], columns] = 1.0
    return iou


def _find_shared(expected: FloatArray, actual: FloatArray, axis: int) -> FloatArray:
    """Return how long the boxes' common part is along x (0) or y (1), axes (expected box, actual box)."""
    shared: FloatArray = np.minimum(expected[:, axis + 2, np.newaxis], actual[:, axis + 2])
    shared -= np.maximum(expected[:, axis, np.newaxis], actual[:, axis])
    return np.maximum(shared, 0.0, out=shared)


def _compute_areas(corners: FloatArray) -> FloatArray:
    width, height = (np.maximum(corners[:, at + 2] - corners[:, at], 0.0) for at in (0, 1))
    areas: FloatArray = width * height
    return areas
