"""``summary.csv``: a row a sample, for people and for the diff of a golden.

What belongs here: how cells become bytes. What the cells say is judging's.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_modelreg.store.csv_text import render_csv

SUMMARY_FILE = "summary.csv"

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def render_summary(rows: Sequence[Sequence[str]]) -> bytes:
    """Return the bytes of a table.

    A cell that a spreadsheet would run as a formula gets an apostrophe in front:
    labels and sample ids are data from elsewhere, and people open this file.
    Numbers stay as they are, signs included.
    """
    text = render_csv([_neutralise(cell) for cell in row] for row in rows)
    return text.encode("utf-8", "backslashreplace")


def _neutralise(cell: str) -> str:
    if not cell.lstrip(" ").startswith(_FORMULA_STARTS) or _is_number(cell):
        return cell
    return "'" + cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
