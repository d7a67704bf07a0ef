"""CSV as text: one dialect and one spreadsheet guard for every table that is written here."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def render_csv(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV, each ended by a newline on every system.

    Notes
    -----
    ``csv.writer`` quotes a carriage return only when it is part of its line
    terminator: written with a plain newline, a cell with one would end its row.
    """
    lines = []
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\r\n").writerow(row)
        lines.append(line.getvalue()[:-2] + "\n")
    return "".join(lines)


def neutralise_formula(cell: str) -> str:
    """Return a cell with an apostrophe in front when a spreadsheet would run it as a formula.

    Numbers stay as they are, signs included.
    """
    if not cell.lstrip(" ").startswith(_FORMULA_STARTS) or _is_number(cell):
        return cell
    return "'" + cell


def restore_cell(cell: str) -> str:
    """Undo :func:`neutralise_formula`; a cell that began with its apostrophe by itself loses it."""
    return cell[1:] if cell.startswith("'") and neutralise_formula(cell[1:]) == cell else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
