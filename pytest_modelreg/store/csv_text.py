"""CSV as text: one dialect for every table that is written here."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


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
