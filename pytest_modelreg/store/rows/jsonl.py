"""Rows of a ``.jsonl`` file: one strict JSON object a line.

What belongs here: lines and their JSON. Memory holds where the lines begin, 8 bytes a row.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.rows.content import MAX_INTEGER, MIN_INTEGER
from pytest_modelreg.store.rows.table import RowError

_BOM = b"\xef\xbb\xbf"
_MAX_DIGITS = 24


class JsonlTable:
    """A file with a JSON object a line; see :class:`~.table.RowTable`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("Q")
        start = 0
        with path.open("rb") as stream:
            for line in stream:
                self._starts.append(start)
                start += len(line)
        first = next(self.iterate(None), {})
        self.columns = () if isinstance(first, RowError) else tuple(first)

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._starts)

    def read(self, row: int, columns: Sequence[str]) -> dict[str, Any]:
        """Return some columns of a row; see :class:`~.table.RowTable`."""
        with self._path.open("rb") as stream:
            stream.seek(self._starts[row])
            return _pick(_parse(stream.readline()), columns)

    def iterate(self, columns: Sequence[str] | None) -> Iterator[dict[str, Any] | RowError]:
        """Yield every row; see :class:`~.table.RowTable`."""
        with self._path.open("rb") as stream:
            for line in stream:
                try:
                    row = _parse(line)
                    found: dict[str, Any] | RowError = row if columns is None else _pick(row, columns)
                except RowError as error:
                    found = error
                yield found

    def locate(self, row: int) -> tuple[str, str]:
        """Return file and line."""
        return f"{shown(self._path)}:{row + 1}", ""


def _pick(row: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    missing = [column for column in columns if column not in row]
    if missing:
        hint = suggest(missing[0], row)
        raise RowError(
            f"expected {', '.join(map(repr, columns))}, got no {', '.join(map(repr, missing))}{hint}; write "
            "null for a value that is missing"
        )
    return {column: row[column] for column in columns}


def _parse(line: bytes) -> dict[str, Any]:
    try:
        text = line.removeprefix(_BOM).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise RowError(
            f"expected UTF-8, got byte 0x{line[error.start]:02x} at offset {error.start}"
        ) from error
    if not text.strip():
        raise RowError("expected a JSON object, got an empty line; remove it")
    try:
        row = _DECODER.decode(text)
    except RecursionError as error:
        raise RowError("expected JSON, got lists or objects nested too deeply") from error
    except json.JSONDecodeError as error:
        raise RowError(f"expected a JSON object on one line: {error.msg} (column {error.colno})") from error
    if not isinstance(row, dict):
        raise RowError(f"expected a JSON object, got {_NAMES.get(type(row), 'null')}")
    return row


_NAMES = {list: "an array", str: "a string", int: "a number", float: "a number", bool: "true or false"}


def _refuse_constant(name: str) -> float:
    raise RowError(f"expected finite numbers, got {name}, which is not JSON; write null")


def _read_integer(digits: str) -> int:
    value = int(digits) if len(digits) <= _MAX_DIGITS else MAX_INTEGER + 1  # int() refuses very long ones
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        got = digits if len(digits) <= _MAX_DIGITS else f"{digits[:12]}... ({len(digits)} digits)"
        raise RowError(f"expected integers of at most 64 bits, got {got}; write it as text")
    return value


def _read_float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise RowError(f"expected numbers that fit 64 bits, got {digits[:_MAX_DIGITS]}")
    return value


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        keys = [key for key, _ in pairs]
        raise RowError(f"expected every key once, got {next(k for k in keys if keys.count(k) > 1)!r} twice")
    return built


_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant,
    parse_int=_read_integer,
    parse_float=_read_float,
    object_pairs_hook=_build_object,
)
