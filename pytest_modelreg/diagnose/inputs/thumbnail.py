"""Small grey copies of photos and of what was made of them: enough to tell rules of geometry apart.

What belongs here: shrinking both, and what a rule leaves of them. Pillow is imported inside the functions.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Moments, take_root
from pytest_modelreg.diagnose.inputs.frames import frame_photo
from pytest_modelreg.diagnose.inputs.geometry import Geometry
from pytest_modelreg.diagnose.inputs.interpolation import read_levels
from pytest_modelreg.diagnose.inputs.recipe import Side

_SMALL_PX = 56
_THUMBNAIL_PX = 112


class Thumbnail:
    """A small grey copy of a photo and of what was made of it."""

    def __init__(self, side: Side, sample: str) -> None:
        from PIL import Image

        photo = side.photos[sample]
        image = photo.prepare(photo.usual)
        image = photo.finish(image, photo.usual)
        self.size = (image.width, image.height)
        self._picture = picture = side.pictures[sample]
        whole = picture.whole
        # Single places are of no use in a copy that is coarser than the picture.
        least_px = _THUMBNAIL_PX if whole is not None else 2 * min(picture.shape[1:])
        shrink = max(1.0, min(self.size) / least_px)
        small = image.resize(
            (max(1, round(image.width / shrink)), max(1, round(image.height / shrink))), Image.Resampling.BOX
        )
        self.grey = Image.fromarray(read_levels(small).mean(axis=0))
        self.out = (picture.shape[2], picture.shape[1])
        self._block = max(1, min(picture.shape[1:]) // _SMALL_PX)
        self.target = picture.values.mean(axis=0) if whole is None else self.shrink(whole.mean(axis=0))

    def shrink(self, picture: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the means of blocks, what does not fill one left out; the places where no more is known."""
        if self._picture.whole is None:
            known: NDArray[np.float32] = self._picture.take(picture[np.newaxis])[0]
            return known
        block = self._block
        rows, columns = picture.shape[0] // block, picture.shape[1] // block
        cut = picture[: rows * block, : columns * block]
        result: NDArray[np.float32] = cut.reshape(rows, block, columns, block).mean(axis=(1, 3))
        return result

    def render(self, rule: Geometry) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        """Return the rule's picture and how much of each block the photo covers."""
        frame = frame_photo(rule, *self.size, *self.out)
        if frame is None:
            return None
        across, down = self.grey.width / self.size[0], self.grey.height / self.size[1]
        left, top, right, bottom = frame.box
        y0, x0, y1, x1 = frame.region
        inner = self.grey.resize(
            (x1 - x0, y1 - y0), 2, box=(left * across, top * down, right * across, bottom * down)
        )
        picture = np.zeros((self.out[1], self.out[0]), np.float32)
        cover = np.zeros_like(picture)
        picture[y0:y1, x0:x1] = np.asarray(inner)
        cover[y0:y1, x0:x1] = 1.0
        return self.shrink(picture), self.shrink(cover)


def score_rule(rule: Geometry, thumbnails: Iterable[Thumbnail]) -> float:
    """Return what a rule leaves of the small copies, as a part of their deviation."""
    inside, total, around = Moments(1), Moments(1), []
    for thumbnail in thumbnails:
        rendered = thumbnail.render(rule)
        if rendered is None:
            return float("inf")
        picture, cover = rendered
        full = cover >= 1.0
        inside.add(picture[full][np.newaxis], thumbnail.target[full][np.newaxis])
        total.add(thumbnail.target.reshape(1, -1), thumbnail.target.reshape(1, -1))
        around.append(thumbnail.target[cover <= 0.0])
    outside = np.concatenate(around).astype(np.float64)
    beside = float(outside.var() * outside.size) if outside.size else 0.0
    return take_root(inside.fit((0,))[1] + beside, total.variation)
