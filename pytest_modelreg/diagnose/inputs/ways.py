"""From a decoded image to levels of red, green and blue: the ways in which people do it, right and wrong.

What belongs here: one :class:`Way` for each treatment of a mode that Pillow can open. To add one, add it
to the list of its mode. The first of a list is the usual one. Pillow is imported inside the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

ALPHA_MODES = ("LA", "La", "PA", "RGBA", "RGBa")
GREY_16_BIT_MODES = ("I;16", "I;16B", "I;16L", "I", "I;16N")
_REDUCTIONS = (2, 4, 8)
"""What libjpeg's decoder offers, as Pillow's draft mode asks for it."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way from a stored mode to RGB.

    Parameters
    ----------
    name : str
        As a sentence takes it after "photos are".
    before, after : callable
        Pillow image to Pillow image, before and after it is resized.
    resized_as_stored : bool
        Whether the resize meets the stored mode, which only Pillow's can.
    reduction : int
        How many times smaller the file is decoded, as JPEG allows: 1 for as it is stored.
    """

    name: str
    before: Callable[[Any], Any]
    after: Callable[[Any], Any]
    resized_as_stored: bool = False
    reduction: int = 1


def _keep(image: Any) -> Any:
    return image


def _to_rgb(image: Any) -> Any:
    """Return RGB, its pixels as stored: the colour below transparent parts too."""
    if "transparency" in image.info and image.mode in ("P", "L", "RGB"):
        image = image.convert("RGBA")
    return image.convert("RGB")


def _compose(image: Any, colour: str) -> Any:
    from PIL import Image

    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, colour), layer).convert("RGB")


def _from_levels(levels: Any) -> Any:
    from PIL import Image

    return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).convert("RGB")


def _stretch(image: Any) -> Any:
    levels = np.asarray(image).astype(np.float64)
    low, high = float(levels.min()), float(levels.max())
    return _from_levels((levels - low) * (255.0 / max(high - low, 1.0)))


def _invert(image: Any) -> Any:
    from PIL import ImageChops

    return ImageChops.invert(image).convert("RGB")


def list_ways(image: Any) -> list[Way]:
    """Return the ways to read an image in its mode, the usual one first."""
    first = Way(name="converted to RGB, then resized", before=_to_rgb, after=_keep)
    stored = Way(
        name="resized in the stored mode, then converted", before=_keep, after=_to_rgb, resized_as_stored=True
    )
    ways = [first]
    if image.format == "JPEG":
        ways += [
            Way(
                name=f"decoded {reduction} times smaller, then resized",
                before=_to_rgb,
                after=_keep,
                reduction=reduction,
            )
            for reduction in _REDUCTIONS
        ]
    if image.mode in GREY_16_BIT_MODES:
        return [
            Way(
                name="cut to the upper 8 of 16 bits",
                before=lambda deep: _from_levels(np.asarray(deep).astype(np.int64) >> 8),
                after=_keep,
            ),
            Way(
                name="clipped at 255 of 65535",
                before=lambda deep: _from_levels(np.asarray(deep).astype(np.int64)),
                after=_keep,
            ),
            Way(
                name="cut to the lower 8 of 16 bits",
                before=lambda deep: _from_levels(np.asarray(deep).astype(np.int64) & 255),
                after=_keep,
            ),
            Way(
                name="read as 12 bits, clipped beyond",
                before=lambda deep: _from_levels(np.asarray(deep).astype(np.int64) / 16),
                after=_keep,
            ),
            Way(name="stretched from their own darkest to brightest level", before=_stretch, after=_keep),
            Way(
                name="resized in the stored mode, then clipped at 255",
                before=_keep,
                after=lambda deep: _from_levels(np.asarray(deep).astype(np.int64)),
                resized_as_stored=True,
            ),
        ]
    if image.mode in ("P", "1", "CMYK", "LA", "PA", "RGBA", "YCbCr", "LAB", "HSV"):
        ways.append(stored)
    if image.mode == "CMYK":
        ways.append(Way(name="read with inverted inks", before=_invert, after=_keep))
    if image.mode == "P":
        ways.append(
            Way(name="read as palette indices", before=lambda p: _from_levels(np.asarray(p)), after=_keep)
        )
    if image.mode in ALPHA_MODES or "transparency" in image.info:
        ways += [
            Way(
                name=f"composed over {colour}",
                before=partial(_compose, colour=colour),
                after=_keep,
            )
            for colour in ("white", "black")
        ]
    return ways
