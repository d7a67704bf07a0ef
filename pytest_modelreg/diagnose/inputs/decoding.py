"""From a file to levels of red, green and blue: the ways in which people do it, right and wrong.

What belongs here: one :class:`Way` for each treatment of a mode that Pillow can open. To add one, add it
to the list of its mode. The first of a list is the usual one. Pillow is imported inside the functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pytest_modelreg.diagnose.inputs.treatment import NONE, TREATMENTS

ORIENTATION_TAG = 274
ALPHA_MODES = ("LA", "La", "PA", "RGBA", "RGBa")
GREY_16_BIT_MODES = ("I;16", "I;16B", "I;16L", "I", "I;16N")
UPRIGHT = 1


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
    """

    name: str
    before: Callable[[Any], Any]
    after: Callable[[Any], Any]
    resized_as_stored: bool = False


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How one file is read: its name in evidence is all that two sides are compared by.

    Parameters
    ----------
    is_turned : bool
        Whether its EXIF orientation is applied.
    way : str
        Name of a :class:`Way`.
    """

    is_turned: bool
    way: str


class Photo:
    """One file, opened once; None of it is kept but the decoded image.

    Parameters
    ----------
    image : PIL.Image.Image
        Loaded, its mode as stored.
    """

    def __init__(self, image: Any) -> None:
        self.image = image
        self.orientation = int(image.getexif().get(ORIENTATION_TAG, UPRIGHT) or UPRIGHT)
        self.ways = {way.name: way for way in _list_ways(image)}
        self._prepared: dict[tuple[bool, str, str], Any] = {}

    @property
    def usual(self) -> Decoding:
        """The way that most pipelines go: not turned."""
        return Decoding(is_turned=False, way=next(iter(self.ways)))

    @property
    def is_plain(self) -> bool:
        """Whether there is one way to read it."""
        return len(self.ways) == 1 and self.orientation == UPRIGHT

    def list_decodings(self) -> list[Decoding]:
        """Return every way to read it, the usual one first."""
        turns = (False,) if self.orientation == UPRIGHT else (False, True)
        return [Decoding(is_turned=turned, way=way) for turned in turns for way in self.ways]

    def prepare(self, decoding: Decoding, treatment: str = NONE) -> Any:
        """Return the image as the resize gets it."""
        key = (decoding.is_turned, decoding.way, treatment)
        if key not in self._prepared:
            from PIL import ImageOps

            image = ImageOps.exif_transpose(self.image) if decoding.is_turned else self.image
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Pillow warns about transparency that becomes RGB
                image = self.ways[decoding.way].before(image)
                self._prepared[key] = (
                    image if treatment == NONE else TREATMENTS[treatment].apply(image.convert("RGB"))
                )
        return self._prepared[key]

    def finish(self, image: Any, decoding: Decoding) -> Any:
        """Return a resized image as RGB."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.ways[decoding.way].after(image)


def open_photo(file: Path) -> Photo | None:
    """Return a decoded file, None where Pillow is missing or cannot read it."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(file) as image:
                image.load()
                return Photo(image)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        # What Pillow's decoders raise on a damaged file; the loader said so where it matters.
        return None


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


def _list_ways(image: Any) -> list[Way]:
    first = Way(name="converted to RGB, then resized", before=_to_rgb, after=_keep)
    stored = Way(
        name="resized in the stored mode, then converted", before=_keep, after=_to_rgb, resized_as_stored=True
    )
    ways = [first]
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
            Way(name="stretched from their own darkest to brightest level", before=_stretch, after=_keep),
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
