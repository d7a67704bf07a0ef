"""Rows of an ``.npz`` file: arrays with one leading dimension in common.

What belongs here: the members of the archive and their rows. Nothing is unpickled. Of a file that
``numpy.savez`` wrote, the rows asked for are read; a compressed member can only be read as a whole, and is
kept in memory as long as the file is.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import Fault, SampleSetError
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.rows.table import RowError, refuse_file

_KINDS = "biufcSU"
_BLOCK_BYTES = 1 << 20
_LOCAL_HEADER = struct.Struct("<26xHH")
"""Of a zip member: after 26 bytes the lengths of its name and of its extra field."""


class NpzTable:
    """An archive of arrays; see :class:`~.table.RowTable`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._members: dict[str, _Member] = {}
        messages = []
        try:
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    try:
                        self._members[info.filename.removesuffix(".npy")] = _Member(path, archive, info)
                    except ValueError as error:
                        messages.append((info.filename.removesuffix(".npy"), str(error)))
        except zipfile.BadZipFile as error:
            raise refuse_file(path, f"expected arrays of numpy.savez, got other bytes: {error}") from error
        if not messages:
            messages = list(_find_unequal({name: member.shape for name, member in self._members.items()}))
        if messages:
            raise SampleSetError(
                [Fault(where=shown(path), key=name, message=message) for name, message in messages]
            )
        self.columns = tuple(self._members)
        self._n_rows = next((member.shape[0] for member in self._members.values()), 0)

    def __len__(self) -> int:
        """Return the leading dimension."""
        return self._n_rows

    def read(self, row: int, columns: Sequence[str]) -> dict[str, Any]:
        """Return the row of some arrays; see :class:`~.table.RowTable`."""
        return {name: _take(self._members[name].read(row, row + 1), 0) for name in columns}

    def iterate(self, columns: Sequence[str] | None) -> Iterator[dict[str, Any] | RowError]:
        """Yield every row; see :class:`~.table.RowTable`."""
        names = self.columns if columns is None else tuple(columns)
        row_bytes = sum(self._members[name].row_bytes for name in names)
        step = max(1, _BLOCK_BYTES // max(1, row_bytes))
        for start in range(0, self._n_rows, step):
            stop = min(start + step, self._n_rows)
            blocks = {name: self._members[name].read(start, stop) for name in names}
            for row in range(stop - start):
                yield {name: _take(block, row) for name, block in blocks.items()}

    def locate(self, row: int) -> tuple[str, str]:
        """Return file and row, from 1."""
        return shown(self._path), f"row {row + 1}"


class _Member:
    """One array of the archive."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._path, self._name = path, info.filename
        with archive.open(info) as stream:
            try:
                version = npy.read_magic(stream)
                readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
                self.shape, is_fortran, self._dtype = readers[version](stream)
            except (ValueError, KeyError, EOFError, zlib.error) as error:
                raise ValueError("expected an array of numpy.savez, got other bytes") from error
            header_bytes = stream.tell()
        if self._dtype.hasobject:
            raise ValueError("expected numbers or text, got Python objects, which would have to be unpickled")
        if self._dtype.kind not in _KINDS:
            raise ValueError(f"expected numbers, booleans, text or bytes, got dtype {self._dtype}")
        self.row_bytes = int(np.prod(self.shape[1:], dtype=np.int64)) * self._dtype.itemsize
        n_bytes = header_bytes + (self.shape[0] if self.shape else 1) * self.row_bytes
        if info.file_size != n_bytes:
            raise ValueError(f"expected {n_bytes} bytes for its shape, got {info.file_size}; write it anew")
        self._whole: NDArray[Any] | None = None
        self._start: int | None = None
        if info.compress_type == zipfile.ZIP_STORED and not is_fortran:
            with path.open("rb") as stream:
                stream.seek(info.header_offset)
                lengths = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
            self._start = info.header_offset + _LOCAL_HEADER.size + sum(lengths) + header_bytes

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return rows as an array of its own: axes (row, ...)."""
        if self._start is None:
            if self._whole is None:
                self._whole = self._load()
            kept: NDArray[Any] = self._whole[start:stop].copy()
            return kept
        with self._path.open("rb") as stream:
            stream.seek(self._start + start * self.row_bytes)
            data = stream.read((stop - start) * self.row_bytes)
        rows: NDArray[Any] = np.frombuffer(data, self._dtype).reshape(stop - start, *self.shape[1:]).copy()
        return rows

    def _load(self) -> NDArray[Any]:
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(self._name) as stream:
                array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise refuse_file(self._path, f"{self._name}: cannot be decompressed: {error}") from error
        return array


def _find_unequal(shapes: dict[str, tuple[int, ...]]) -> Iterator[tuple[str, str]]:
    """Yield arrays that have no leading dimension, or another one than the first has."""
    lengths = {name: shape[0] for name, shape in shapes.items() if shape}
    first = next(iter(lengths), None)
    for name, shape in shapes.items():
        if not shape:
            yield name, "expected an array with a row a sample, got a single value; store it in another file"
        elif first is not None and shape[0] != lengths[first]:
            yield name, f"expected {lengths[first]} rows, as {first!r} has, got {shape[0]}"


def _take(block: NDArray[Any], row: int) -> Any:
    """Return one row: an array, a number of it, or text and bytes as Python has them."""
    value = block[row]
    # A column of text is as wide as its longest, which is nothing that a row's content depends on.
    return value.tolist() if block.dtype.kind in "SU" else value
