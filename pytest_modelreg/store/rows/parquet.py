"""Rows of a ``.parquet`` file, read by pyarrow one row group at a time.

What belongs here: row groups and their values. Memory holds the columns asked for of the row group that was
read last. Dates, times and durations come as integers of their column's unit, decimals as text: what Python
has for them depends on what else is installed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.rows.table import RowError, refuse_file


class ParquetTable:
    """A Parquet file; see :class:`~.table.RowTable`."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            raise refuse_file(
                path,
                "a .parquet file is read by pyarrow, which is not installed: "
                "pip install 'pytest-modelreg[parquet]'",
            ) from error
        except ImportError as error:  # built for another numpy
            raise refuse_file(
                path, f"a .parquet file is read by pyarrow, whose import raised {error}; install it anew"
            ) from error
        self._arrow: Any = pyarrow
        self._path = path
        try:
            with pyarrow.parquet.ParquetFile(path) as file:
                metadata = file.metadata
                sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
                self.columns = tuple(file.schema_arrow.names)
        except (pyarrow.ArrowException, EOFError) as error:
            raise refuse_file(path, f"expected a Parquet file, got other bytes: {error}") from error
        if twice := [name for name in dict.fromkeys(self.columns) if self.columns.count(name) > 1]:
            raise refuse_file(path, f"expected every column once, got {', '.join(map(repr, twice))} twice")
        self._ends = list(accumulate(sizes))
        self._held: tuple[tuple[int, tuple[str, ...]], Any] | None = None

    def __len__(self) -> int:
        """Return the number of rows of all groups."""
        return self._ends[-1] if self._ends else 0

    def read(self, row: int, columns: Sequence[str]) -> dict[str, Any]:
        """Return some columns of a row; see :class:`~.table.RowTable`."""
        group = bisect_right(self._ends, row)
        start = self._ends[group - 1] if group else 0
        key = (group, tuple(columns))
        if self._held is None or self._held[0] != key:
            self._held = (key, self._read_group(group, columns))
        return _take(self._held[1], row - start, columns)

    def iterate(self, columns: Sequence[str] | None) -> Iterator[dict[str, Any] | RowError]:
        """Yield every row; see :class:`~.table.RowTable`."""
        names = self.columns if columns is None else tuple(columns)
        for group in range(len(self._ends)):
            table = self._read_group(group, names)
            for row in range(table.num_rows):
                try:
                    found: dict[str, Any] | RowError = _take(table, row, names)
                except RowError as error:
                    found = error
                yield found

    def locate(self, row: int) -> tuple[str, str]:
        """Return file and row, from 1."""
        return shown(self._path), f"row {row + 1}"

    def _read_group(self, group: int, columns: Sequence[str]) -> Any:
        arrow = self._arrow
        try:
            with arrow.parquet.ParquetFile(self._path) as file:
                table = file.read_row_group(group, columns=list(columns))
            for index, name in enumerate(table.column_names):
                if (plain := _find_plain_type(arrow, table.schema.field(name).type)) is not None:
                    table = table.set_column(index, name, table.column(name).cast(plain))
        except arrow.ArrowException as error:
            raise refuse_file(self._path, f"row group {group}: cannot be read: {error}") from error
        return table


def _find_plain_type(arrow: Any, kind: Any) -> Any:
    """Return the type that a column is cast to; None for one that stays."""
    if arrow.types.is_decimal(kind):
        return arrow.string()
    if arrow.types.is_temporal(kind):
        return arrow.int32() if kind.bit_width == 32 else arrow.int64()
    return None


def _take(table: Any, row: int, columns: Sequence[str]) -> dict[str, Any]:
    try:
        return {name: table.column(name)[row].as_py() for name in columns}
    except (ValueError, ImportError) as error:  # moments inside of lists, text that is no UTF-8
        raise RowError(f"expected values that Python has, got: {error}") from error
