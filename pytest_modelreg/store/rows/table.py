"""A file with rows, whatever its format: the port, and which module opens which suffix.

What belongs here: the protocol, the table of formats, and keeping an opened file for the next
row. To add a format, write a module with a class that is a :class:`RowTable` and name it in
:data:`OPENERS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

from pytest_modelreg.domain.errors import Fault, SampleSetError
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.substitute import describe_pointer, describe_unfetched

OPENERS: Mapping[str, str] = {
    ".jsonl": "pytest_modelreg.store.rows.jsonl:JsonlTable",
    ".npz": "pytest_modelreg.store.rows.npz:NpzTable",
    ".parquet": "pytest_modelreg.store.rows.parquet:ParquetTable",
}
"""Formats by the end of a file's name; a module is imported only when such a file is opened."""

_KEPT_OPEN = 4


class RowError(ValueError):
    """A row that cannot be read: the message says what was expected and what was got."""


class RowTable(Protocol):
    """A file with rows. Holds no open file and, where the format allows, no row.

    Attributes
    ----------
    columns : tuple of str
        In the file's order; of a format without a schema, those of the first row.
    """

    columns: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of rows."""

    def read(self, row: int, columns: Sequence[str]) -> dict[str, Any]:
        """Return some columns of a row, in the order asked for.

        Raises
        ------
        RowError
            The row cannot be read, or lacks a column.
        OSError
            The file cannot be read.
        """

    def iterate(self, columns: Sequence[str] | None) -> Iterator[dict[str, Any] | RowError]:
        """Yield every row in order, or what is wrong with it.

        Parameters
        ----------
        columns : sequence of str or None
            None: all that the row has.
        """

    def locate(self, row: int) -> tuple[str, str]:
        """Return file (with the line, where there are lines) and key of a row, for a fault."""


def is_row_file(path: Path) -> bool:
    """Whether a file's name ends like one with rows."""
    return path.suffix.lower() in OPENERS


def open_table(path: Path) -> RowTable:
    """Open a file with rows.

    The same file is opened once: what was found in it is kept for a few files, until they change.

    Raises
    ------
    SampleSetError
        There is no such file, or it is none of its format.
    """
    try:
        status = path.stat()
        with path.open("rb") as stream:
            start = stream.read(64)
    except (FileNotFoundError, NotADirectoryError) as error:
        got = describe_unfetched(path) or "no file"
        raise refuse_file(path, f"expected a file with a row a sample, got {got}") from error
    except OSError as error:
        raise refuse_file(path, f"cannot be read: {error.strerror or error}") from error
    if (pointer := describe_pointer(start)) is not None:
        raise refuse_file(path, f"expected a file with a row a sample, got {pointer}")
    if not is_row_file(path):
        known = " ".join(OPENERS)
        raise refuse_file(path, f"expected a file of {known}, got {path.suffix or 'no suffix'}")
    return _open(path, status.st_mtime_ns, status.st_size)


def refuse_file(path: Path, message: str) -> SampleSetError:
    """Return the error that a file as a whole is at fault."""
    return SampleSetError([Fault(where=shown(path), message=message)])


@lru_cache(maxsize=_KEPT_OPEN)
def _open(path: Path, mtime_ns: int, n_bytes: int) -> RowTable:
    module, _, name = OPENERS[path.suffix.lower()].partition(":")
    try:
        return cast(RowTable, getattr(importlib.import_module(module), name)(path))
    except OSError as error:
        raise refuse_file(path, f"cannot be read: {error.strerror or error}") from error
