"""What a row holds, as a digest that is the same whatever file the row came from.

What belongs here: the canonical form of a value. To let one more type count, give it a
branch in :func:`_feed` and a line in the notes of :func:`digest_row`.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

MIN_INTEGER, MAX_INTEGER = -(1 << 63), (1 << 64) - 1
"""Integers outside of these fit no array."""

MAX_DEPTH = 64
_ARRAY_KINDS = "biufc"
_SHOWN_CHARS = 40

_Feed = Callable[[bytes], None]


def digest_row(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Return one sha256 over some columns of a row, 64 hex digits.

    Parameters
    ----------
    row : mapping of str to Any
        Values by column.
    columns : sequence of str
        Which count; in which order they are given, or stand in the file, does not.

    Raises
    ------
    ValueError
        A value has no canonical form; the message starts at its column.

    Notes
    -----
    Columns count sorted by name: the name, then the value. Every value begins with a byte for its type.
    ``n``: null. ``t``, ``f``: true, false. ``i``: an integer in decimal digits. ``d``: a float, 8 bytes
    big-endian, every NaN the same. ``s``, ``y``: text in UTF-8 and bytes, their length in front. ``l``: a
    list, its length in front. ``m``: a mapping, by sorted key. ``a``: an array or a number of one, dtype and
    shape in front, little-endian in C order. So ``1``, ``1.0`` and ``"1"`` are three contents, and
    ``{"a": 1, "b": 2}`` in another order is the same.
    """
    sha = hashlib.sha256()
    for column in sorted(columns):
        _feed_text(column, b"c", sha.update)
        try:
            _feed(row[column], sha.update, 0)
        except ValueError as error:
            raise ValueError(f"{column}: {error}") from error
    return sha.hexdigest()


def show_value(value: Any) -> str:
    """Return a value as messages show it, shortened."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."


def _feed(value: Any, feed: _Feed, depth: int) -> None:
    if value is None:
        feed(b"n")
    elif isinstance(value, (np.ndarray, np.generic)):
        _feed_array(np.asarray(value), feed)
    elif isinstance(value, bool):
        feed(b"t" if value else b"f")
    elif isinstance(value, int):
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            raise ValueError(f"expected an integer of at most 64 bits, got {show_value(value)}")
        feed(b"i%d;" % value)
    elif isinstance(value, float):
        feed(b"d" + (struct.pack(">d", value) if value == value else b"nan".ljust(8)))
    elif isinstance(value, str):
        _feed_text(value, b"s", feed)
    elif isinstance(value, bytes):
        feed(b"y%d:" % len(value) + value)
    elif isinstance(value, (list, tuple)):
        _require_depth(depth)
        feed(b"l%d:" % len(value))
        for item in value:
            _feed(item, feed, depth + 1)
    elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
        _require_depth(depth)
        feed(b"m%d:" % len(value))
        for key in sorted(value):
            _feed_text(key, b"k", feed)
            _feed(value[key], feed, depth + 1)
    else:
        raise ValueError(
            f"expected numbers, text, bytes, true, false, null, or lists and mappings of them, got "
            f"{type(value).__name__}"
        )


def _feed_text(text: str, mark: bytes, feed: _Feed) -> None:
    data = text.encode("utf-8", "surrogatepass")
    feed(mark + b"%d:" % len(data) + data)


def _feed_array(array: np.ndarray[Any, Any], feed: _Feed) -> None:
    if array.dtype.kind not in _ARRAY_KINDS:
        raise ValueError(f"expected an array of numbers or booleans, got dtype {array.dtype}")
    dtype = array.dtype.newbyteorder("<")
    feed(f"a{dtype.str}{array.shape}:".encode())
    feed(np.ascontiguousarray(array, dtype=dtype).tobytes())


def _require_depth(depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise ValueError(f"expected at most {MAX_DEPTH} levels of lists and mappings, got more")
