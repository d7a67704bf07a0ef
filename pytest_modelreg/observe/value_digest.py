"""The digest of anything that stands between two stages: images, tensors, arrays, words, in structures.

What belongs here: what of such a value counts. To let one more type count by its content,
give it a branch in :func:`_name_parts`. Digests of model inputs are ``inputs``'.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.arrays import read_number_list, to_array
from pytest_modelreg.observe.output_tree import children_of, is_leaf, join_path
from pytest_modelreg.trace import digest_arrays

VALUE_DIGITS = 16
"""Hex digits of a value's digest: enough to tell two values apart, short enough for a line each."""

_MAX_DEPTH = 50

_Part = tuple[str, str, NDArray[Any]]


def digest_value(value: Any) -> str:
    """Return 16 hex digits over a value's structure, dtypes, shapes and bytes.

    A Pillow image counts by mode, size, pixels and palette. An object of unknown type counts
    by its type alone: its repr may hold an address.
    """
    return digest_arrays(_name_parts(value, ""), algorithm="sha1")[:VALUE_DIGITS]


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
    yield path, f"image {image.mode} {image.width}x{image.height}", np.frombuffer(image.tobytes(), np.uint8)
    if image.mode in ("P", "PA"):
        palette = image.getpalette() or []
        yield join_path(path, "palette"), "palette", np.asarray(palette, np.uint8)


def _read_bytes(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return os.fsencode(value) if isinstance(value, os.PathLike) else value.encode("utf-8", "surrogatepass")
