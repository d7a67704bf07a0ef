"""A file with rows read for use: it fits its pin, and every row what a suite says of its columns.

What belongs here: reading the set, and one row of it. Writing the pin is ``pinning``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import Fault, SampleSetError
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.sample import RowFile, Sample, SampleSet
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.rows.content import digest_row
from pytest_modelreg.store.rows.naming import read_label, read_tags
from pytest_modelreg.store.rows.pin_file import Pin, pin_command, pin_path, read_pin
from pytest_modelreg.store.rows.survey import compare_with_pin, describe_difference, survey_rows
from pytest_modelreg.store.rows.table import RowTable, open_table


def read_row_set(declared: SampleSet) -> SampleSet:
    """Return a set with its samples: the rows of its file, verified against the pin.

    Parameters
    ----------
    declared : SampleSet
        Names the file and its columns.

    Raises
    ------
    SampleSetError
        With every fault of the file, of its columns and rows, and of what differs from the pin.
    """
    path, rows = declared.place, declared.rows
    assert rows is not None
    table = open_table(path)
    pin = _require_pin(path, rows)
    if faults := list(_find_absent_columns(path, table, rows)):
        raise SampleSetError(faults)
    columns = input_columns(rows, table.columns)
    samples: list[Sample] = []

    def look(row: int, name: str, values: dict[str, Any]) -> None:
        _require_columns(values, table.columns, rows)
        samples.append(
            Sample(
                id=name,
                file=rows.name,
                sha256=digest_row(values, columns),
                label=None if rows.label is None else _read(rows.label, values, read_label),
                tags=() if rows.tags is None else _read(rows.tags, values, read_tags),
                row=row,
            )
        )

    try:
        survey = survey_rows(table, rows.id, look)
        faults = survey.conclude(path)
        if not faults and file_digest(path) != pin.sha256:
            faults = list(describe_difference(compare_with_pin(survey, pin), pin, path))
    except OSError as error:
        raise SampleSetError([Fault(where=shown(path), message=error.strerror or str(error))]) from error
    if not faults and not samples:
        faults = [Fault(where=shown(path), message="expected at least one row, got none")]
    if faults:
        raise SampleSetError(faults)
    # Not resolved: pin and reports name the file as it was written, and a linked file is pinned by its bytes.
    return replace(declared, samples=tuple(samples))


def read_row(samples: SampleSet, sample: Sample) -> Any:
    """Return what ``preprocess`` is given of a row: a dict by column, or the value of the only column.

    Raises
    ------
    ValueError
        The row is not the one that was verified: the file changed since.
    SampleSetError
        The file cannot be read.
    OSError
        It vanished meanwhile.
    """
    rows = samples.rows
    assert rows is not None
    assert sample.row is not None
    table = open_table(samples.place)
    columns = input_columns(rows, table.columns)
    if sample.row >= len(table):
        raise ValueError(
            f"expected row {sample.row + 1}, got {len(table)} rows: the file changed during the run"
        )
    values = table.read(sample.row, columns)
    if digest_row(values, columns) != sample.sha256:
        raise ValueError(f"expected row {sample.row + 1} as it was verified: the file changed during the run")
    return values[columns[0]] if rows.is_bare else values


def count_rows(path: Path) -> int | None:
    """Return how many rows the pin of a file has; None when there is no readable one."""
    try:
        pin = read_pin(path)
    except SampleSetError:
        return None
    return None if pin is None else len(pin.rows)


def input_columns(rows: RowFile, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that ``preprocess`` is given, in order."""
    taken = {rows.id, rows.label, rows.tags}
    return rows.input or tuple(column for column in columns if column not in taken)


def _require_pin(path: Path, rows: RowFile) -> Pin:
    pin = read_pin(path)
    where = shown(pin_path(path))
    if pin is None:
        message = f"expected the pin of {path.name}, got no file; {pin_command(path, rows.id)} writes it"
        raise SampleSetError([Fault(where=where, message=message)])
    if pin.id != rows.id:
        expected = "row numbers" if rows.id is None else f"column {rows.id!r}"
        got = "row numbers" if pin.id is None else f"column {pin.id!r}"
        message = (
            f"expected ids of {expected}, as samples.id of the suite says, got ids of {got}; change "
            f"samples.id, or pin again with {pin_command(path, rows.id, update=True)}"
        )
        raise SampleSetError([Fault(where=where, message=message)])
    return pin


def _find_absent_columns(path: Path, table: RowTable, rows: RowFile) -> list[Fault]:
    if not table.columns:
        return []  # no row, or a first one that cannot be read, which is told of the row
    named = [
        ("id", rows.id),
        ("label", rows.label),
        ("tags", rows.tags),
        *(("input", name) for name in rows.input),
    ]
    known = ", ".join(map(repr, table.columns))
    faults = [
        Fault(
            where=shown(path),
            message=f"samples.{key}: expected a column of the file ({known}), got {name!r}"
            f"{suggest(name, table.columns)}",
        )
        for key, name in named
        if name is not None and name not in table.columns
    ]
    if not faults and not input_columns(rows, table.columns):
        message = (
            f"expected a column for preprocess beside those for id, label and tags, got {known}; name it as "
            "samples.input"
        )
        faults.append(Fault(where=shown(path), message=message))
    return faults


def _require_columns(values: dict[str, Any], columns: Sequence[str], rows: RowFile) -> None:
    """Hold a row of a format without a schema against the columns that count."""
    expected = dict.fromkeys([*(rows.input or columns), *filter(None, (rows.label, rows.tags))])
    missing = [name for name in expected if name not in values]
    more = [] if rows.input else [name for name in values if name not in columns]
    if missing:
        hint = suggest(missing[0], more or values)
        raise ValueError(
            f"expected the columns {', '.join(map(repr, expected))}, got no {', '.join(map(repr, missing))}"
            f"{hint}; write null for a value that is missing"
        )
    if more:
        raise ValueError(
            f"expected the columns of the first row, got also {', '.join(map(repr, more))}; name the columns "
            "that count as samples.input"
        )


def _read(column: str, values: dict[str, Any], read: Any) -> Any:
    try:
        return read(values[column])
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from error
