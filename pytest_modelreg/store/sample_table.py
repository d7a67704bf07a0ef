"""``samples.csv`` as a table: its columns, its rows, and every fault of its text.

What belongs here: what can be said without looking at a sample's file. To add a
column, add it to ``COLUMNS``, to :class:`Sample` and to both directions below.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from pytest_modelreg.domain.errors import Fault, SampleSetError
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.sample import Sample
from pytest_modelreg.store.csv_text import render_csv
from pytest_modelreg.store.naming import shown

SAMPLES_FILE = "samples.csv"
COLUMNS = ("id", "file", "sha256", "label", "tags")

_REQUIRED = COLUMNS[:3]
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, kw_only=True)
class SampleRow:
    """One usable row: the sample and the line that it begins on."""

    line: int
    sample: Sample


@dataclass(frozen=True, kw_only=True)
class SampleTable:
    """Parsed text of a ``samples.csv``.

    Parameters
    ----------
    columns : tuple of str
        In the file's order.
    rows : tuple of SampleRow
        Rows whose own text has no fault.
    files : tuple of str
        Every ``file`` cell, also of rows that have a fault.
    text_faults : tuple of Fault
        Of the rows' text, in line order.
    empty_faults : tuple of Fault
        That there is no row at all, which pinning can mend.
    """

    columns: tuple[str, ...]
    rows: tuple[SampleRow, ...]
    files: tuple[str, ...]
    text_faults: tuple[Fault, ...]
    empty_faults: tuple[Fault, ...]

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault of the text."""
        return self.text_faults + self.empty_faults


def where_in_table(folder: Path, line: int | None = None) -> str:
    """Return how a place in the folder's ``samples.csv`` is shown."""
    path = shown(folder / SAMPLES_FILE)
    return path if line is None else f"{path}:{line}"


def read_records(folder: Path) -> list[tuple[int, list[str]]]:
    """Return the non-empty records with their lines, header first.

    Raises
    ------
    SampleSetError
        When there is no such file, it cannot be read, or is no UTF-8 CSV.
    """
    where = where_in_table(folder)
    try:
        text = (folder / SAMPLES_FILE).read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError) as error:
        message = f"expected the sample set's table, got no file; `modelreg pin {shown(folder)}` writes it"
        raise SampleSetError([Fault(where=where, message=message)]) from error
    except OSError as error:
        raise SampleSetError(
            [Fault(where=where, message=f"cannot be read: {error.strerror or error}")]
        ) from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        message = f"expected UTF-8, got byte 0x{byte:02x} at offset {error.start}; save it as UTF-8"
        raise SampleSetError([Fault(where=where, message=message)]) from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    records: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for record in reader:
            if record:
                records.append((line, record))
            line = reader.line_num + 1
    except csv.Error as error:
        fault = Fault(where=where_in_table(folder, line), message=f"expected CSV: {error}")
        raise SampleSetError([fault]) from error
    return records


def parse_table(folder: Path) -> SampleTable:
    """Parse the folder's ``samples.csv``; faults of rows are collected, not raised.

    Raises
    ------
    SampleSetError
        When there is no table to speak of: see :func:`read_records`, or a header that
        cannot be used.
    """
    records = read_records(folder)
    if not records:
        message = (
            f"expected a header and rows, got an empty file; `modelreg pin {shown(folder)} --update` fills it"
        )
        raise SampleSetError([Fault(where=where_in_table(folder), message=message)])
    line, header = records[0]
    if header_faults := list(_header_faults(header)):
        where = where_in_table(folder, line)
        raise SampleSetError([Fault(where=where, message=message) for message in header_faults])
    rows: list[SampleRow] = []
    files: list[str] = []
    faults: list[Fault] = []
    first_lines: dict[tuple[str, str], int] = {}
    for line, record in records[1:]:
        messages = list(_row_faults(header, record))
        cells = dict(zip(header, record, strict=False))
        files.append(cells.get("file", ""))
        for key in ("id", "file"):
            value = cells.get(key, "")
            first = first_lines.setdefault((key, value), line)
            if first != line and value:
                messages.append(
                    f"{key}: expected each {key} once, got {value!r} again (first on line {first})"
                )
        faults += [Fault(where=where_in_table(folder, line), message=message) for message in messages]
        if not messages:
            rows.append(SampleRow(line=line, sample=_sample(cells)))
    message = (
        f"expected at least one sample, got none; `modelreg pin {shown(folder)} --update` lists the files"
    )
    empty = () if len(records) > 1 else (Fault(where=where_in_table(folder), message=message),)
    return SampleTable(
        columns=tuple(header),
        rows=tuple(rows),
        files=tuple(files),
        text_faults=tuple(faults),
        empty_faults=empty,
    )


def render_table(columns: Sequence[str], samples: Sequence[Sample]) -> bytes:
    """Return the bytes of a ``samples.csv`` with these columns."""
    rows: list[Sequence[str]] = [columns]
    for sample in samples:
        cells = {
            "id": sample.id,
            "file": sample.file,
            "sha256": sample.sha256,
            "label": sample.label or "",
            "tags": " ".join(sample.tags),
        }
        rows.append([cells[column] for column in columns])
    return render_csv(rows).encode()


def has_unprintable(text: str) -> bool:
    """Whether a name holds control characters, line separators or undecodable bytes."""
    return any(unicodedata.category(char) in _UNPRINTABLE for char in text)


def file_path_fault(file: str) -> str | None:
    """Say what is wrong with the text of a ``file`` cell; None when nothing is."""
    if not file:
        return "file: expected a path inside the sample folder, got nothing"
    if has_unprintable(file):
        return f"file: expected a printable path, got {file!r}; rename the file"
    if file.startswith("/") or PureWindowsPath(file).drive or PureWindowsPath(file).root:
        return f"file: expected a path inside the sample folder, got the absolute path {file!r}"
    if "\\" in file:
        return f"file: expected a path with forward slashes, got {file!r}"
    if ".." in PurePosixPath(file).parts:
        return f"file: expected a path inside the sample folder, got {file!r}, which leaves it"
    if str(PurePosixPath(file)) != file or file == ".":
        return f"file: expected the plain form {str(PurePosixPath(file))!r}, got {file!r}"
    return None


def _header_faults(header: list[str]) -> list[str]:
    faults = []
    for column in dict.fromkeys(header):
        if column not in COLUMNS:
            hint = suggest(column, COLUMNS)
            faults.append(f"expected columns out of {', '.join(COLUMNS)}, got {column!r}{hint}")
        elif header.count(column) > 1:
            faults.append(f"expected each column once, got {column!r} {header.count(column)} times")
    faults += [
        f"expected a column {column!r}, got {', '.join(map(repr, header))}"
        for column in _REQUIRED
        if column not in header
    ]
    return faults


def _row_faults(header: list[str], record: list[str]) -> list[str]:
    if len(record) != len(header):
        return [f"expected {len(header)} cells like the header, got {len(record)}"]
    cells = dict(zip(header, record, strict=True))
    faults = []
    if not cells["id"].strip():
        faults.append(f"id: expected a name, got {cells['id']!r}")
    elif has_unprintable(cells["id"]):
        faults.append(f"id: expected printable characters, got {cells['id']!r}")
    if (fault := file_path_fault(cells["file"])) is not None:
        faults.append(fault)
    if not _SHA256.fullmatch(cells["sha256"]):
        faults.append(f"sha256: expected 64 hex digits, got {cells['sha256']!r}")
    return faults


def _sample(cells: dict[str, str]) -> Sample:
    return Sample(
        id=cells["id"],
        file=cells["file"],
        sha256=cells["sha256"].lower(),
        label=cells.get("label") or None,
        tags=tuple(cells.get("tags", "").split()),
    )
