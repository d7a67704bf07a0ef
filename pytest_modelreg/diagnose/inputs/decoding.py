"""A file opened once, and read in any of the ways that its mode leaves open.

What belongs here: orientation, reduced sizes and treatments around a way. The ways themselves are in
``ways``. Pillow is imported inside the functions.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.diagnose.inputs.treatment import NONE, TREATMENTS
from pytest_modelreg.diagnose.inputs.ways import list_ways

ORIENTATION_TAG = 274
UPRIGHT = 1


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
    file : Path
        Where it came from: JPEG can be decoded at a reduced size, from the file only.
    """

    def __init__(self, image: Any, file: Path) -> None:
        self.image = image
        self.orientation = int(image.getexif().get(ORIENTATION_TAG, UPRIGHT) or UPRIGHT)
        self.ways = {way.name: way for way in list_ways(image)}
        self._file = file
        self._prepared: dict[tuple[bool, str, str], Any] = {}

    @property
    def usual(self) -> Decoding:
        """The way that most pipelines go: not turned."""
        return Decoding(is_turned=False, way=next(iter(self.ways)))

    @property
    def is_plain(self) -> bool:
        """Whether there is one way to read it."""
        return len(self.list_decodings()) == 1

    def list_decodings(self, *, is_reduced: bool = False) -> list[Decoding]:
        """Return every way to read it, the usual one first.

        Parameters
        ----------
        is_reduced : bool
            Whether those are among them that decode fewer pixels than are stored.
        """
        turns = (False,) if self.orientation == UPRIGHT else (False, True)
        ways = [name for name, way in self.ways.items() if is_reduced or way.reduction == 1]
        return [Decoding(is_turned=turned, way=way) for turned in turns for way in ways]

    def prepare(self, decoding: Decoding, treatment: str = NONE) -> Any:
        """Return the image as the resize gets it."""
        key = (decoding.is_turned, decoding.way, treatment)
        if key not in self._prepared:
            from PIL import ImageOps

            image = self._load(self.ways[decoding.way].reduction)
            image = ImageOps.exif_transpose(image) if decoding.is_turned else image
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Pillow warns about transparency that becomes RGB
                image = self.ways[decoding.way].before(image)
                self._prepared[key] = (
                    image if treatment == NONE else TREATMENTS[treatment].apply(image.convert("RGB"))
                )
        return self._prepared[key]

    def _load(self, reduction: int) -> Any:
        if reduction == 1:
            return self.image
        from PIL import Image

        with Image.open(self._file) as image:
            image.draft(None, (image.width // reduction, image.height // reduction))
            image.load()
            return image

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
                return Photo(image, file)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        # What Pillow's decoders raise on a damaged file; the loader said so where it matters.
        return None
