"""One ``.npy`` file: its header, byte for byte, and mapping it into memory.

What belongs here: the file format and nothing about outputs. Headers are written and
parsed here instead of by ``numpy.lib.format``, because a header must keep its length
while its shape changes, and because numpy's parser raises more than it documents on
damaged files. No pickle is ever read or written.
"""

from __future__ import annotations

import ast
import mmap
import os
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.substitute import describe_pointer

_MAGIC = b"\x93NUMPY"
_ALIGNMENT = 64
_FIXED_CHARACTERS = 80  # magic, lengths, dict keys and the longest descr, rounded up
_AXIS_CHARACTERS = 22  # a 64-bit length, comma, space
_MAX_HEADER = 16384
# --mode all: only then is a golden that cannot be read replaced instead of ending the case.
RESTORE = (
    "restore it from version control, or record the golden again with "
    '`modelreg regen --mode all --reason "..."`'
)
"""What to do about a damaged file; every message about one ends with it."""


def header_bytes(dtype: np.dtype[Any], shape: tuple[int, ...], *, row_axes: int) -> bytes:
    """Return a version 1.0 header.

    Its length depends on ``row_axes`` alone, so that an output can be written before
    it is known whether its rows agree in shape, and so that equal content gives equal
    bytes whatever the batches were.
    """
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    length = _FIXED_CHARACTERS + _AXIS_CHARACTERS * (row_axes + 1)
    length += -length % _ALIGNMENT
    body = length - len(_MAGIC) - 4
    return _MAGIC + b"\x01\x00" + struct.pack("<H", body) + text.ljust(body - 1).encode("latin-1") + b"\n"


def file_in(folder: Path, name: str, *, named_by: Path | None = None) -> Path:
    """Return the path of a file that a record names.

    Parameters
    ----------
    folder : pathlib.Path
        Folder of the record.
    name : str
        Data from elsewhere: it must not reach out of ``folder``.
    named_by : pathlib.Path or None
        File that holds the record, for the message.

    Raises
    ------
    GoldenError
        When the name is not a plain file name, or is a link that leaves the folder.
    """
    where = shown(named_by if named_by is not None else folder)
    plain = name not in ("", ".", "..") and not any(
        char in "/\\:" or ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in name
    )
    if not plain:
        raise GoldenError(f"{where}: expected the name of a file in the same folder, got {name!r}; {RESTORE}")
    path = folder / name
    if path.is_symlink() and os.path.dirname(os.path.realpath(path)) != os.path.realpath(folder):
        raise GoldenError(
            f"{where}: expected a file in the same folder, got {name!r}, a link that leaves it; {RESTORE}"
        )
    return path


class MappedArray:
    """A read-only array over a file whose pages are given back while it is read.

    Notes
    -----
    Pages of a mapping count as this process's memory until the system takes them
    back. After every 32 MiB handed out they are released, so that one pass over a
    large file stays in bounded memory; releasing is safe for blocks still in use,
    because the pages of an unchanged file are read again on touch.
    """

    _RELEASE_BYTES = 32 << 20

    def __init__(self, mapping: mmap.mmap | None, array: NDArray[Any]) -> None:
        self._mapping = mapping
        self._array = array
        self._handed_out = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Whole shape of the array."""
        return self._array.shape

    def block(self, start: int, stop: int) -> NDArray[Any]:
        """Return a read-only view of ``[start, stop)`` along axis 0."""
        if self._handed_out > self._RELEASE_BYTES and self._mapping is not None:
            self._handed_out = 0
            if sys.platform != "win32":
                self._mapping.madvise(mmap.MADV_DONTNEED)
        block = self._array[start:stop]
        self._handed_out += block.nbytes
        return block


def map_array(folder: Path, record: ArrayFile, dtype: np.dtype[Any], shape: tuple[int, ...]) -> MappedArray:
    """Map a recorded file, its header held against the record first.

    Parameters
    ----------
    dtype, shape : numpy.dtype, tuple of int
        What the record says that the file holds, C order.

    Raises
    ------
    GoldenError
        When the file is missing, unreadable, truncated, too long, no ``.npy`` file,
        or its header says something else than the record.
    """
    path = file_in(folder, record.file)
    try:
        with open(path, "rb") as stream:
            offset = _check_header(path, stream.read(_MAX_HEADER), dtype, shape)
            expected = offset + dtype.itemsize * _element_count(shape)
            actual = stream.seek(0, 2)
            if actual != expected:
                raise GoldenError(
                    f"{shown(path)}: expected {expected} bytes for {dtype.name} {shape}, got {actual};"
                    f" {RESTORE}"
                )
            if expected == offset:  # an empty range cannot be mapped
                return MappedArray(None, np.empty(shape, dtype))
            mapping = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise GoldenError(f"{shown(path)}: cannot be read: {error.strerror or error}; {RESTORE}") from error
    flat = np.frombuffer(mapping, dtype, offset=offset)
    return MappedArray(mapping, flat.reshape(shape))


def describe_foreign(start: bytes) -> str:
    """Say what a file that should hold an array holds instead, from its first bytes."""
    if not start:
        return "an empty file"
    return describe_pointer(start) or f"a file that begins with {start[:16]!r}"


def _element_count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _check_header(path: Path, start: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """Return the offset of the data, or raise what does not fit."""
    if not start.startswith(_MAGIC) or len(start) < 12:
        raise GoldenError(f"{shown(path)}: expected a .npy file, got {describe_foreign(start)}; {RESTORE}")
    form, begin = ("<H", 10) if start[6] == 1 else ("<I", 12)
    length = int(struct.unpack(form, start[8:begin])[0])
    text = start[begin : begin + length]
    if len(text) < length:
        raise GoldenError(f"{shown(path)}: expected a header of {length} bytes, got {len(text)}; {RESTORE}")
    try:
        header = ast.literal_eval(text.decode("latin-1").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.keys() != {"descr", "fortran_order", "shape"}:
        raise GoldenError(f"{shown(path)}: expected a .npy header, got {bytes(text[:40])!r}; {RESTORE}")
    expected = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    for key, value in expected.items():
        if header[key] != value:
            raise GoldenError(
                f"{shown(path)}: header: {key}: expected {value!r} as recorded,"
                f" got {header[key]!r}; {RESTORE}"
            )
    return begin + length
