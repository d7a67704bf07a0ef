"""One output on its way to disk, batch by batch.

What belongs here: how rows become files. The bytes of the rows are the same whether
they agree in shape or not, only the header and the counts differ; so rows are
appended to one file whatever comes, and the header is settled at the end.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.store.array_file import header_bytes
from pytest_modelreg.store.element_type import DTYPE_NAMES, storage_dtype
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.naming import output_name, shown
from pytest_modelreg.store.row_shape import common_lengths, joined_shape


class OutputWriter:
    """Streams the rows of one output into a folder; memory stays at one batch.

    No file stays open between batches: a model may return more outputs than a process
    may open files.

    Parameters
    ----------
    folder : pathlib.Path
        Existing folder of the observation.
    path : str
        Output path, any characters.
    per : str
        ``sample`` or ``batch``, for the record.
    n_rows : int
        Rows that will have come when :meth:`close` is called.

    Notes
    -----
    While all rows agree in shape the header is final from the start and the digest is
    computed while writing. Once they differ, the file is hashed once more at the end.
    Leaving the ``with`` block without :meth:`close` removes the unfinished file.
    """

    def __init__(self, folder: Path, path: str, *, per: str, n_rows: int) -> None:
        self._folder = folder
        self._path = path
        self._per = per
        self._n_expected = n_rows
        self._partial = folder / f".outputs.{output_name(path)[:40]}.{secrets.token_hex(6)}.tmp"
        self._sha = hashlib.sha256()
        self._dtype: str | None = None
        self._storage: np.dtype[Any] = np.dtype("u1")
        self._row_shape: tuple[int, ...] = ()
        self._n_rows = 0
        self._lengths: array[int] | None = None  # every row's shape, once rows differ

    def append(self, rows: NDArray[Any], *, dtype: str) -> None:
        """Append the rows of one batch.

        Parameters
        ----------
        rows : numpy.ndarray
            Axis 0 is rows. Any layout, either byte order.
        dtype : str
            True dtype; ``bfloat16`` rows arrive as uint16, ``float8_*`` as uint8.

        Raises
        ------
        OutputError
            When the dtype is unknown or not the earlier batches', rows have another
            number of axes than before, there are more than ``n_rows``, or the disk
            refuses.
        """
        if rows.ndim == 0:
            raise OutputError(f"output {self._path!r}: expected rows along axis 0, got a single value")
        if len(rows) == 0 and self._n_expected:
            return  # A batch without rows says nothing about the shape of the others.
        self._begin(dtype, rows.dtype, rows.shape[1:])
        self._count(rows.shape[1:], len(rows))
        self._write([rows])

    def append_ragged(self, rows: Sequence[NDArray[Any]], *, dtype: str) -> None:
        """Append one batch as one array a row; shapes may differ, the number of axes not.

        Raises
        ------
        OutputError
            As :meth:`append`.
        """
        for row in rows:
            self._begin(dtype, row.dtype, row.shape)
            self._count(row.shape, 1)
        self._write(rows)

    def close(self) -> OutputRecord:
        """Settle the header, name the files by their content and return the record.

        Raises
        ------
        OutputError
            When fewer rows came than ``n_rows``, none came at all, or the disk refuses.
        """
        if self._dtype is None or self._n_rows != self._n_expected:
            raise OutputError(
                f"output {self._path!r}: expected {self._n_expected} rows (one a {self._per}),"
                f" got {self._n_rows}; return it for every {self._per} or declare `per: ignore`"
            )
        try:
            return self._close_regular() if self._lengths is None else self._close_ragged(self._lengths)
        except OSError as error:
            raise self._refused(error) from error

    def discard(self) -> None:
        """Remove the unfinished file; harmless after :meth:`close`."""
        with suppress(OSError):
            self._partial.unlink()

    def __enter__(self) -> OutputWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def _begin(self, dtype: str, held: np.dtype[Any], row_shape: tuple[int, ...]) -> None:
        """Hold a batch's dtype and number of axes against the first batch's."""
        if self._dtype is None:
            storage = storage_dtype(dtype)
            if storage is None:
                raise OutputError(
                    f"output {self._path!r}: dtype {dtype} cannot be recorded;"
                    f" convert it in the model's forward to one of: {', '.join(DTYPE_NAMES)}"
                )
            self._dtype, self._storage, self._row_shape = dtype, storage, row_shape
            self._check_held(dtype, held)
            self._append_bytes([self._header((self._n_expected, *row_shape))])
            return
        if dtype != self._dtype:
            raise OutputError(
                f"output {self._path!r}: dtype changed between batches: expected {self._dtype}"
                f" as in the first batch, got {dtype} at row {self._n_rows}"
            )
        self._check_held(dtype, held)
        if len(row_shape) != len(self._row_shape):
            raise OutputError(
                f"output {self._path!r}: expected rows of {len(self._row_shape)} axes like the first one"
                f" (shape {self._row_shape}), got shape {row_shape} at row {self._n_rows};"
                " rows of one output may differ in lengths, not in their number of axes"
            )

    def _check_held(self, dtype: str, held: np.dtype[Any]) -> None:
        if held.newbyteorder("<") != self._storage:
            raise OutputError(
                f"output {self._path!r}: expected {dtype} values held as {self._storage.name},"
                f" got {held.name}"
            )

    def _count(self, row_shape: tuple[int, ...], n_rows: int) -> None:
        if self._n_rows + n_rows > self._n_expected:
            raise OutputError(
                f"output {self._path!r}: expected {self._n_expected} rows (one a {self._per}),"
                f" got more: {self._n_rows + n_rows} so far; is its leading dimension the batch's?"
            )
        if self._lengths is None and row_shape != self._row_shape:
            self._lengths = array("q", self._row_shape) * self._n_rows
        if self._lengths is not None:
            self._lengths.extend(row_shape * n_rows)
        self._n_rows += n_rows

    def _write(self, blocks: Sequence[NDArray[Any]]) -> None:
        """Append blocks as little-endian bytes in C order, one converted block at a time."""
        self._append_bytes(
            np.ascontiguousarray(block, self._storage).reshape(-1).view(np.uint8).data
            for block in blocks
            if block.size
        )

    def _append_bytes(self, parts: Iterable[bytes | memoryview]) -> None:
        try:
            with open(self._partial, "ab") as stream:
                for part in parts:
                    stream.write(part)
                    if self._lengths is None:
                        self._sha.update(part)
        except OSError as error:
            raise self._refused(error) from error

    def _header(self, shape: tuple[int, ...]) -> bytes:
        return header_bytes(self._storage, shape, row_axes=len(self._row_shape))

    def _close_regular(self) -> OutputRecord:
        sha256 = self._sha.hexdigest()
        return self._record((self._n_rows, *self._row_shape), sha256, counts=None)

    def _close_ragged(self, lengths: array[int]) -> OutputRecord:
        counts = np.array(lengths, "<i8").reshape(self._n_rows, -1)
        with open(self._partial, "r+b") as stream:
            stream.write(self._header(joined_shape(counts)))
        sha256 = file_digest(self._partial)
        data = header_bytes(counts.dtype, counts.shape, row_axes=1) + counts.tobytes()
        counts_sha256 = hashlib.sha256(data).hexdigest()
        counts_file = self._file_name(".counts", counts_sha256)
        partial = self._partial.with_name(self._partial.name + ".counts")
        with open(partial, "wb") as stream:
            stream.write(data)
        os.replace(partial, self._folder / counts_file)
        return self._record(
            (self._n_rows, *common_lengths(counts)), sha256, ArrayFile(file=counts_file, sha256=counts_sha256)
        )

    def _record(self, shape: tuple[int, ...], sha256: str, counts: ArrayFile | None) -> OutputRecord:
        name = self._file_name("", sha256)
        os.replace(self._partial, self._folder / name)
        values = ArrayFile(file=name, sha256=sha256)
        dtype = self._dtype or ""
        return OutputRecord(per=self._per, dtype=dtype, shape=shape, values=values, counts=counts)

    def _file_name(self, part: str, sha256: str) -> str:
        return f"outputs.{output_name(self._path)}{part}.{sha256[:12]}.npy"

    def _refused(self, error: OSError) -> OutputError:
        reason = error.strerror or str(error)
        return OutputError(f"output {self._path!r}: cannot be written to {shown(self._folder)}: {reason}")
