"""A sample set read for use: table and files hold together, or every fault is named.

What belongs here: reading. Writing ``samples.csv`` is ``pinning``'s.
"""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.domain.errors import Fault, SampleSetError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.pinning import PinReport, pin
from pytest_modelreg.store.sample_files import compare_rows
from pytest_modelreg.store.sample_table import parse_table, read_records

__all__ = ["PinReport", "count_samples", "pin", "read_samples"]


def read_samples(folder: Path) -> SampleSet:
    """Read a sample set and verify every file's bytes.

    Raises
    ------
    SampleSetError
        With every fault of the table and of the files at once, by line.
    """
    table = parse_table(folder)
    try:
        content = compare_rows(folder, table.rows, listed=table.files)
    except OSError as error:
        fault = Fault(where=shown(folder), message=f"cannot be read: {error.strerror or error}")
        raise SampleSetError([fault]) from error
    if faults := [*table.faults, *content.all_faults]:
        raise SampleSetError(faults)
    return SampleSet(folder=str(folder.resolve()), samples=tuple(row.sample for row in table.rows))


def count_samples(folder: Path) -> int | None:
    """Count the rows of ``samples.csv`` without looking at any file.

    Returns
    -------
    int or None
        None when there is no readable table (no file, no CSV, no line at all): this
        serves a header, which must neither fail nor tell a number that nobody counted.
        Running the case says what is wrong.
    """
    try:
        records = read_records(folder)
    except SampleSetError:
        return None
    return len(records) - 1 if records else None
