"""Masks of both sides, as colours to be laid over a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.exhibit import MaskPair
from pytest_modelreg.engine.exhibits.both_sides import BothSides, Row
from pytest_modelreg.judge.labelling import choose_reader, name_label
from pytest_modelreg.observe.thumbnail import draw_overlay

_LARGEST_PX = 128
_OPACITY = 150
_CHANGED = (214, 40, 40, 230)

_PALETTE = np.array(
    [
        (230, 159, 0),
        (86, 180, 233),
        (0, 158, 115),
        (240, 228, 66),
        (0, 114, 178),
        (213, 94, 0),
        (204, 121, 167),
        (120, 94, 240),
    ],
    dtype=np.uint8,
)
"""Okabe and Ito's colours, which people who see few colours tell apart, and one more."""


def draw_masks(sides: BothSides, path: str, sample: str) -> MaskPair | None:
    """Return both masks of one sample's output; None where it holds none."""
    spec = sides.spec_of(path)
    if spec.kind != "segmentation":
        return None
    rows = sides.read(path, sample)
    if rows is None or rows[0].shape != rows[1].shape:
        return None
    masks = [_read_mask(row, spec) for row in rows]
    if masks[0] is None or masks[1] is None:
        return None
    changed = masks[0] != masks[1]
    marked = np.zeros((*changed.shape, 4), np.uint8)
    marked[changed] = _CHANGED
    return MaskPair(
        output=path,
        expected=draw_overlay(_colour(masks[0]), largest_px=_LARGEST_PX),
        actual=draw_overlay(_colour(masks[1]), largest_px=_LARGEST_PX),
        changed=draw_overlay(marked, largest_px=_LARGEST_PX),
        n_changed=int(changed.sum()),
        n_places=int(changed.size),
        legend=_list_classes(masks[0], masks[1], spec),
    )


def _read_mask(row: Row, spec: OutputSpec) -> NDArray[np.int64] | None:
    """Return the class of every pixel, axes (row, column)."""
    if row.ndim not in (2, 3) or not row.size or row.dtype.kind not in "fiub":
        return None
    dtype = "float64" if row.dtype.kind == "f" else "int64"
    labels = np.asarray(choose_reader(spec, dtype, row.shape, epsilon=0.0).read(row), np.int64)
    height, width = row.shape[-2:]
    return labels.reshape(height, width) if labels.size == height * width else None


def _list_classes(
    expected: NDArray[np.int64], actual: NDArray[np.int64], spec: OutputSpec
) -> tuple[tuple[str, str], ...]:
    """Return the coloured classes of both masks, as many as there are colours."""
    found = sorted({*np.unique(expected).tolist(), *np.unique(actual).tolist()} - {0})
    colours = ["#{:02x}{:02x}{:02x}".format(*_PALETTE[(at - 1) % len(_PALETTE)].tolist()) for at in found]
    return tuple(
        (name_label(at, spec), colour) for at, colour in zip(found[: len(_PALETTE)], colours, strict=False)
    )


def _colour(mask: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return colours, axes (row, column, channel), clear where class 0 is: the ground, as a rule."""
    levels = np.zeros((*mask.shape, 4), np.uint8)
    levels[..., :3] = _PALETTE[(mask - 1) % len(_PALETTE)]
    levels[..., 3] = np.where(mask == 0, 0, _OPACITY)
    return levels
