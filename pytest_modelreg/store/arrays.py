"""Recorded outputs, read back: an array over a mapped file, row by row.

What belongs here: the view of one output that judging works on. Writing is
``output_writer``'s, the file format ``array_file``'s, dtypes are ``element_type``'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError, OutputError
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.store.array_file import RESTORE, MappedArray, file_in, map_array
from pytest_modelreg.store.element_type import DTYPE_NAMES, decode, storage_dtype
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.output_writer import OutputWriter
from pytest_modelreg.store.row_shape import common_lengths, joined_shape

__all__ = ["OutputWriter", "StoredOutput", "open_output"]


class StoredOutput:
    """One recorded output, memory-mapped and read-only.

    Made by :func:`open_output`. Blocks are views of the file, except bfloat16 and
    float8, which are decoded to float32 block by block.
    """

    def __init__(self, record: OutputRecord, values: MappedArray, counts: NDArray[np.int64] | None) -> None:
        self._record = record
        self._values = values
        self._counts = counts
        self._starts: NDArray[np.int64] | None = None
        if counts is not None:
            # Along axis 0 of the values file: elements where rows were flattened.
            lengths = counts.prod(axis=1) if len(values.shape) == 1 else counts[:, 0]
            self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])

    @property
    def record(self) -> OutputRecord:
        """What was opened."""
        return self._record

    @property
    def dtype(self) -> str:
        """True dtype by its common name; blocks of bfloat16 and float8 are float32."""
        return self._record.dtype

    @property
    def n_rows(self) -> int:
        """Number of rows: samples, or batches where recorded per batch."""
        return self._record.shape[0]

    @property
    def is_ragged(self) -> bool:
        """Whether rows differ in shape."""
        return self._counts is not None

    def row_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of one row, without the row axis."""
        if self._counts is None:
            return self._record.shape[1:]
        return tuple(int(length) for length in self._counts[index])

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return the rows ``[start, stop)``, axis 0 is rows.

        Raises
        ------
        OutputError
            When rows differ in shape: ask for each by :meth:`row`.
        """
        if self._counts is not None:
            raise OutputError(
                f"{self._record.values.file}: expected rows of one shape, got ragged rows;"
                " read them one by one"
            )
        return decode(self._values.block(start, stop), self.dtype)

    def row(self, index: int) -> NDArray[Any]:
        """Return one row in its own shape.

        Raises
        ------
        IndexError
            When there is no such row.
        """
        if not 0 <= index < self.n_rows:
            raise IndexError(f"row {index} of {self.n_rows}")
        if self._counts is None or self._starts is None:
            row: NDArray[Any] = self.rows(index, index + 1)[0, ...]
            return row
        block = self._values.block(int(self._starts[index]), int(self._starts[index + 1]))
        return decode(block.reshape(self.row_shape(index)), self.dtype)


def open_output(folder: Path, record: OutputRecord) -> StoredOutput:
    """Open a recorded output for reading.

    Parameters
    ----------
    folder : pathlib.Path
        Of the observation or golden that the record belongs to.
    record : OutputRecord
        Data from elsewhere: everything it says is held against the files.

    Raises
    ------
    GoldenError
        When a file is missing, damaged, of another dtype or shape than recorded, or a
        name reaches out of the folder; the message names the file.
    """
    storage = storage_dtype(record.dtype)
    where = shown(file_in(folder, record.values.file))
    if storage is None:
        raise GoldenError(f"{where}: expected a dtype out of {', '.join(DTYPE_NAMES)}, got {record.dtype!r}")
    if not record.shape or (record.counts is None and min(record.shape) < 0):
        raise GoldenError(f"{where}: expected a shape with a row axis, got {record.shape}; {RESTORE}")
    if record.counts is None:
        return StoredOutput(record, map_array(folder, record.values, storage, record.shape), None)
    counts = _read_counts(folder, record.counts, record.shape)
    values = map_array(folder, record.values, storage, joined_shape(counts))
    return StoredOutput(record, values, counts)


def _read_counts(folder: Path, file: ArrayFile, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Read every row's shape and hold it against the recorded whole shape."""
    where = shown(file_in(folder, file.file))
    if len(shape) < 2 or shape[0] < 1:
        raise GoldenError(f"{where}: expected a ragged shape with rows and axes, got {shape}; {RESTORE}")
    n_rows, n_axes = shape[0], len(shape) - 1
    mapped = map_array(folder, file, np.dtype("<i8"), (n_rows, n_axes))
    counts = np.array(mapped.block(0, n_rows), np.int64)
    # Sizes that cannot be are refused in floating point, before integers overflow.
    if counts.min(initial=0) < 0 or counts.astype(np.float64).prod(axis=1).sum() > 2.0**60:
        raise GoldenError(f"{where}: expected lengths of rows, got negative or impossible ones; {RESTORE}")
    if common_lengths(counts) != shape[1:]:
        raise GoldenError(
            f"{where}: expected rows of shape {shape[1:]} (-1: differs) as recorded,"
            f" got {common_lengths(counts)}; {RESTORE}"
        )
    return counts
