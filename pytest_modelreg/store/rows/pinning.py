"""Pinning a file with rows: the first time freely, afterwards only on request.

What belongs here: when the pin is written. A changed row is never accepted silently: without ``update`` a
pin that exists is verified, not rewritten.
"""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.domain.errors import Fault, SampleSetError, UsageFault
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.pinning import PinReport
from pytest_modelreg.store.rows.pin_file import Pin, pin_command, pin_path, read_pin, write_pin
from pytest_modelreg.store.rows.survey import compare_with_pin, describe_difference, survey_rows
from pytest_modelreg.store.rows.table import open_table


def pin_rows(
    path: Path, *, id_column: str | None = None, check: bool = False, update: bool = False
) -> PinReport:
    """Write the pin of a file with rows, or verify the one that is there.

    Parameters
    ----------
    path : Path
        A ``.jsonl``, ``.npz`` or ``.parquet`` file.
    id_column : str or None
        Column with the samples' ids; None: the one of the pin that is there, otherwise rows are called by
        their numbers, from 1.
    check : bool
        Write nothing: the pin must exist and fit.
    update : bool
        Accept added, removed and changed rows, another order, and another ``id_column``.

    Returns
    -------
    PinReport
        By id. Nothing added, removed or changed when the pin was verified only, or when the rows hold what
        they held.

    Raises
    ------
    SampleSetError
        Every fault at once: of the file and its rows and, without ``update``, of rows that differ from
        the pin.
    UsageFault
        With ``check`` and ``update`` together.
    """
    if check and update:
        raise UsageFault("expected `--check` (writes nothing) or `--update` (accepts the rows), got both")
    pin = read_pin(path)
    if pin is None and check:
        message = f"expected the file's pin, got no file; {pin_command(path, id_column)} writes it"
        raise SampleSetError([Fault(where=shown(pin_path(path)), message=message)])
    if pin is not None and id_column is None:
        id_column = pin.id
    if pin is not None and not update and pin.id != id_column:
        message = (
            f"expected ids of {_name_source(pin.id)}, as pinned, got {_name_source(id_column)}; leave --id "
            f"out, or accept the other ids with {pin_command(path, id_column, update=True)}"
        )
        raise SampleSetError([Fault(where=shown(pin_path(path)), message=message)])
    try:
        return _pin(path, pin, id_column, update=update)
    except OSError as error:
        where = shown(Path(error.filename)) if isinstance(error.filename, str) else shown(path)
        raise SampleSetError([Fault(where=where, message=error.strerror or str(error))]) from error


def _pin(path: Path, pin: Pin | None, id_column: str | None, *, update: bool) -> PinReport:
    table = open_table(path)
    if id_column is not None and table.columns and id_column not in table.columns:
        message = (
            f"expected a column {id_column!r} for the ids, got {', '.join(map(repr, table.columns))}"
            f"{suggest(id_column, table.columns)}"
        )
        raise SampleSetError([Fault(where=shown(path), message=message)])
    survey = survey_rows(table, id_column)
    faults = survey.conclude(path)
    if not faults and not survey.digests:
        faults = [Fault(where=shown(path), message="expected at least one row, got none")]
    if faults:
        raise SampleSetError(faults)
    sha256 = file_digest(path)
    found = Pin(sha256=sha256, id=id_column, rows=survey.digests)
    if pin is None:
        write_pin(path, found)
        return PinReport(added=tuple(survey.digests), n_samples=len(survey.digests))
    difference = compare_with_pin(survey, pin)
    if pin != found:
        if not update:
            raise SampleSetError(list(describe_difference(difference, pin, path)))
        write_pin(path, found)
    return PinReport(
        added=difference.added,
        removed=difference.missing,
        changed=difference.changed,
        n_samples=len(survey.digests),
    )


def _name_source(id_column: str | None) -> str:
    return "row numbers" if id_column is None else f"column {id_column!r}"
