"""The digest of anything that stands between two stages: images, tensors, arrays, words, in structures.

What belongs here: what of such a value counts. To let one more type count by its content,
give it a branch in :func:`_name_parts`. Digests of model inputs are ``inputs``'.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.arrays import read_number_list, to_array
from pytest_modelreg.observe.output_tree import children_of, is_leaf, join_path
from pytest_modelreg.trace import ArrayHasher

VALUE_DIGITS = 16
"""Hex digits of a value's digest: enough to tell two values apart, short enough for a line each."""

_MAX_DEPTH = 50
_STRIP_BYTES = 1 << 17  # stays in the processor's cache, and in memory that is used again
_WHOLE_BYTES = 1 << 20  # up to here an image at once takes no longer than its strips


@dataclass(frozen=True, kw_only=True)
class _Pixels:
    """An image's bytes, to be read strip by strip.

    The whole of a large photo at once, as ``tobytes`` returns it, can take longer than hashing it:
    memory that is touched for the first time is slow.
    """

    image: Any
    row_bytes: int

    def read_strips(self) -> Iterator[bytes]:
        """Yield what ``tobytes`` would return, some rows at a time."""
        width, height = self.image.size
        if self.row_bytes * height <= _WHOLE_BYTES:
            yield self.image.tobytes()
            return
        step = max(1, _STRIP_BYTES // self.row_bytes)
        for top in range(0, height, step):
            yield self.image.crop((0, top, width, min(top + step, height))).tobytes()


_Part = tuple[str, str, "NDArray[Any] | _Pixels"]


def digest_value(value: Any) -> str:
    """Return 16 hex digits over a value's structure, dtypes, shapes and bytes.

    A Pillow image counts by mode, size, pixels and palette. An object of unknown type counts
    by its type alone: its repr may hold an address.
    """
    hasher = ArrayHasher("sha1")
    for name, kind, content in _name_parts(value, ""):
        if isinstance(content, _Pixels):
            n_bytes = content.row_bytes * content.image.height
            hasher.add_blocks(name, kind, n_bytes, content.read_strips())
        else:
            hasher.add(name, kind, content)
    return hasher.hexdigest()[:VALUE_DIGITS]


def is_pillow_image(value: Any) -> bool:
    """Whether a value is a Pillow image; never imports Pillow."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(value, pillow.Image)


def is_decoded_image(value: Any) -> bool:
    """Whether a value is a Pillow image with its pixels in memory.

    One that a suite's own loader opened and left undecoded must not be touched: decoding it
    takes ``draft()`` away from the preprocess that it is for.
    """
    return is_pillow_image(value) and not getattr(value, "tile", None)


def _name_parts(value: Any, path: str, depth: int = 0) -> Iterator[_Part]:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if is_pillow_image(value):
        yield from _name_image_parts(value, path)
    elif value is None or isinstance(value, (str, bytes, bytearray, os.PathLike)):
        yield path, kind, np.frombuffer(_read_bytes(value), np.uint8)
    elif is_leaf(value):
        try:
            array, dtype = to_array(value)
        except OutputError:  # text arrays, integers of any length
            array, dtype = np.frombuffer(repr(value).encode("utf-8", "replace"), np.uint8), kind
        yield path, dtype, array
    elif (numbers := _read_numbers(value)) is not None:
        yield path, numbers.dtype.name, numbers
    else:
        yield path, kind, np.empty(0, np.uint8)
        # A structure may contain itself.
        for key, child in (children_of(value) if depth < _MAX_DEPTH else None) or ():
            yield from _name_parts(child, join_path(path, key), depth + 1)


def _read_numbers(value: Any) -> NDArray[Any] | None:
    try:
        return read_number_list(value) if isinstance(value, list) else None
    except OutputError:  # integers that an array would round: each counts by itself
        return None


def _name_image_parts(image: Any, path: str) -> Iterator[_Part]:
    # Rows are padded to whole bytes, so that every one is as long as the first.
    row_bytes = len(image.crop((0, 0, image.width, 1)).tobytes()) if image.width and image.height else 0
    pixels = _Pixels(image=image, row_bytes=row_bytes)
    yield path, f"image {image.mode} {image.width}x{image.height}", pixels
    if image.mode in ("P", "PA"):
        palette = image.getpalette() or []
        yield join_path(path, "palette"), "palette", np.asarray(palette, np.uint8)


def _read_bytes(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return os.fsencode(value) if isinstance(value, os.PathLike) else value.encode("utf-8", "surrogatepass")
