"""A file with rows read through once: ids and digests of its rows, and every fault.

What belongs here: what is asked of each row, and how what was found differs from a pin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import Fault
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.rows.content import digest_row
from pytest_modelreg.store.rows.naming import read_id
from pytest_modelreg.store.rows.pin_file import Pin, pin_command
from pytest_modelreg.store.rows.table import RowError, RowTable

MAX_FAULTS = 100
"""Faults of rows that are told one by one."""


@dataclass(kw_only=True)
class Survey:
    """What reading a file through found.

    Attributes
    ----------
    digests : dict of str to str
        Of everything that a row holds, by id.
    faults : list of Fault
        Of rows, in their order.
    n_more : int
        Faults beyond those listed.
    """

    digests: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    n_more: int = 0

    def note(self, where: tuple[str, str], message: str) -> None:
        """Note what is wrong with a row."""
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(Fault(where=where[0], key=where[1], message=message))
        else:
            self.n_more += 1

    def conclude(self, path: Path) -> list[Fault]:
        """Return every fault, those beyond the list as one."""
        more = [] if not self.n_more else [Fault(where=shown(path), message=f"and {self.n_more} more faults")]
        return [*self.faults, *more]


@dataclass(frozen=True, kw_only=True)
class PinDifference:
    """How rows differ from those that were pinned, by id.

    Parameters
    ----------
    changed, missing, added : tuple of str
        In the file's order, missing ones in the pin's.
    is_reordered : bool
        Whether the rows that are on both sides stand in another order.
    """

    changed: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    is_reordered: bool


def survey_rows(
    table: RowTable, id_column: str | None, look: Callable[[int, str, dict[str, Any]], None] | None = None
) -> Survey:
    """Read every row.

    Parameters
    ----------
    look : callable or None
        Called with position, id and values of every row that holds; what it raises as ``ValueError`` is a
        fault of the row.
    """
    found = Survey()
    first: dict[str, int] = {}
    for row, values in enumerate(table.iterate(None)):
        try:
            if isinstance(values, RowError):
                raise values
            name = _name(row, values, id_column)
            digest = digest_row(values, tuple(values))
            before = first.setdefault(name, row)
            if before != row:
                raise ValueError(
                    f"{id_column}: expected each id once, got {name!r} again (first in row {before + 1})"
                )
            found.digests[name] = digest
            if look is not None:
                look(row, name, values)
        except ValueError as error:
            found.note(table.locate(row), str(error))
    return found


def compare_with_pin(survey: Survey, pin: Pin) -> PinDifference:
    """Return how the rows differ from those that were pinned."""
    digests, pinned = survey.digests, pin.rows
    kept = [name for name in digests if name in pinned]
    return PinDifference(
        changed=tuple(name for name in kept if digests[name] != pinned[name]),
        missing=tuple(name for name in pinned if name not in digests),
        added=tuple(name for name in digests if name not in pinned),
        is_reordered=kept != [name for name in pinned if name in digests],
    )


def describe_difference(difference: PinDifference, pin: Pin, path: Path) -> Iterator[Fault]:
    """Yield a fault for every row that is not as pinned; one for the file when all are."""
    where, update = shown(path), pin_command(path, pin.id, update=True)
    told = (
        (
            difference.changed,
            "content changed: expected what was pinned, got other values; restore the row, or accept it",
        ),
        (difference.missing, "expected this row, got none; restore it, or take it off"),
        (difference.added, "expected only pinned rows, got one more; remove it, or pin it"),
    )
    total = 0
    for names, message in told:
        for name in names:
            total += 1
            if total <= MAX_FAULTS:
                yield Fault(where=where, key=f"sample {name}", message=f"{message} with {update}")
    if total > MAX_FAULTS:
        yield Fault(where=where, message=f"and {total - MAX_FAULTS} more rows that are not as pinned")
    if not total:
        what = "stand in another order" if difference.is_reordered else "hold what was pinned"
        yield Fault(
            where=where,
            message=f"bytes changed: expected sha256 {pin.sha256[:12]}, got another, although all rows "
            f"{what}; restore the file, or accept it with {update}",
        )


def _name(row: int, values: dict[str, Any], id_column: str | None) -> str:
    if id_column is None:
        return str(row + 1)
    if id_column not in values:
        raise ValueError(f"expected a column {id_column!r} for the id, got none{suggest(id_column, values)}")
    return read_id(values[id_column])
