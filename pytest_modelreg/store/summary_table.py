"""``summary.csv``: a row a sample, for people and for the diff of a golden.

What belongs here: the file's bytes and the record of them. What the cells say is judging's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.store.csv_text import neutralise_formula, render_csv

SUMMARY_FILE = "summary.csv"


def summary_file(rows: Sequence[Sequence[str]]) -> ArrayFile:
    """Return the record that writing a golden would make of this table, without writing it.

    Parameters
    ----------
    rows : sequence of rows of str
        Header first.

    Notes
    -----
    Equal to the ``summary`` of a written golden exactly when its ``summary.csv`` holds
    this table, so that a regeneration can tell beforehand whether it would change it.
    """
    return ArrayFile(file=SUMMARY_FILE, sha256=hashlib.sha256(render_summary(rows)).hexdigest())


def render_summary(rows: Sequence[Sequence[str]]) -> bytes:
    """Return the bytes of a table.

    Labels and sample ids are data from elsewhere, and people open this file: no cell is
    left that a spreadsheet would run.
    """
    text = render_csv([neutralise_formula(cell) for cell in row] for row in rows)
    return text.encode("utf-8", "backslashreplace")
