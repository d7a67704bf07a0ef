"""A sample set read for use: table and files, or pin and rows, hold together, or every fault is named.

What belongs here: reading. Writing ``samples.csv`` is ``pinning``'s, a file's pin ``rows.pinning``'s.
"""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.domain.errors import Fault, SampleSetError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.pinning import PinReport, pin
from pytest_modelreg.store.rows.row_set import count_rows, read_row_set
from pytest_modelreg.store.sample_files import compare_rows
from pytest_modelreg.store.sample_table import parse_table, read_records

__all__ = ["PinReport", "count_sample_set", "count_samples", "pin", "read_sample_set", "read_samples"]


def read_sample_set(declared: SampleSet) -> SampleSet:
    """Return a set that a suite declares with its samples, every byte verified.

    Raises
    ------
    SampleSetError
        With every fault of the set at once.
    """
    return read_samples(Path(declared.folder)) if declared.rows is None else read_row_set(declared)


def read_samples(folder: Path) -> SampleSet:
    """Read the sample set of a folder and verify every file's bytes.

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


def count_sample_set(declared: SampleSet) -> int | None:
    """Count the samples of a set that a suite declares; see :func:`count_samples`."""
    return count_samples(Path(declared.folder)) if declared.rows is None else count_rows(declared.place)


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
