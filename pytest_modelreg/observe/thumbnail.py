"""Small pictures of samples and of arrays, for reports; Pillow is imported inside the functions.

What belongs here: from a file or an array to the bytes of a small picture. Nothing of it is observed:
what a model is fed comes from ``loaders``.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.exhibit import Picture

Levels = NDArray[np.uint8]
"""A picture, axes (row, column, channel), of 3 channels, or 4 with opacity last."""

_QUALITY = 72
_UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    MemoryError,
    ArithmeticError,
    LookupError,
    TypeError,
    struct.error,
    zlib.error,
)
"""What decoders raise on bytes that they do not understand."""


def has_pictures() -> bool:
    """Whether pictures can be made: Pillow is there."""
    try:
        import PIL.Image  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def draw_thumbnail(file: Path, *, largest_px: int) -> tuple[Picture, tuple[int, int]] | None:
    """Return a small copy of a picture file and the size it is stored in; None where it is none.

    Parameters
    ----------
    largest_px : int
        Longer side of the copy.

    Notes
    -----
    Neither rotated by EXIF nor cropped: boxes and masks lie over the pixels as they are stored. What
    is transparent is on white, and 16 bits are shown by their upper 8.
    """
    from PIL import Image, ImageFile

    tolerant = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd about a file, its loader has said
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(file) as image:
                size = image.size
                image.draft("RGB" if image.mode == "YCbCr" else image.mode, (2 * largest_px, 2 * largest_px))
                image.load()
                shown = _flatten(image)  # first: deep and palette pixels cannot be averaged
                shown.thumbnail((largest_px, largest_px))
    except (*_UNREADABLE, Image.DecompressionBombWarning, Image.DecompressionBombError):
        return None
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = tolerant
    return _as_jpeg(shown), size


def draw_levels(levels: Levels, *, largest_px: int) -> Picture:
    """Return an array of three channels as a small JPEG, enlarged without smoothing where it is tiny."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(levels[..., :3]))
    longest = max(image.size)
    if longest > largest_px:
        image.thumbnail((largest_px, largest_px))
    elif longest * 2 <= largest_px:
        factor = largest_px // longest
        image = image.resize((image.width * factor, image.height * factor), resample=Image.Resampling.NEAREST)
    return _as_jpeg(image)


def draw_overlay(levels: Levels, *, largest_px: int) -> Picture:
    """Return an array of three channels and opacity as a small PNG; every pixel is one of the array's."""
    from PIL import Image

    step = max(1, -(-max(levels.shape[:2]) // largest_px))
    image = Image.fromarray(np.ascontiguousarray(levels[::step, ::step]))
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return Picture(data=stream.getvalue(), media_type="image/png", width=image.width, height=image.height)


def _flatten(image: Any) -> Any:
    from PIL import Image

    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        return Image.fromarray(_stretch(np.asarray(image)))
    if image.mode in ("P", "PA", "LA", "La", "RGBa", "RGBA") or "transparency" in image.info:
        clear = image.convert("RGBA")
        ground = Image.new("RGBA", clear.size, "white")
        return Image.alpha_composite(ground, clear).convert("RGB")
    return image.convert("RGB")


def _stretch(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return grey levels of deep pixels: their upper 8 of 16 bits, or what lies between their extremes."""
    deep = values.astype(np.float64)
    low, high = (0.0, 65535.0) if values.dtype.kind in "iu" and deep.max(initial=0) > 255 else (0.0, 255.0)
    if values.dtype.kind == "f" or deep.min(initial=0) < low or deep.max(initial=0) > high:
        finite = deep[np.isfinite(deep)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    scaled = np.nan_to_num((deep - low) / (high - low or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
    return np.rint(np.clip(scaled, 0.0, 1.0) * 255).astype(np.uint8)


def _as_jpeg(image: Any) -> Picture:
    stream = io.BytesIO()
    image.convert("RGB").save(stream, "JPEG", quality=_QUALITY, optimize=True)
    return Picture(data=stream.getvalue(), media_type="image/jpeg", width=image.width, height=image.height)
