"""Plain-text tables, and text made safe for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

MAX_CELL = 60


def printable(text: str) -> str:
    """Return the text with control and direction-changing characters written as escapes.

    Ids, labels and messages come from files: a terminal must not obey what they hold.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if unicodedata.category(char)[0] != "C" else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def render_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, indent: int, is_last_whole: bool = False
) -> list[str]:
    """Return aligned lines; a column without any content is left out.

    Parameters
    ----------
    header : sequence of str
        Column titles.
    rows : sequence of sequences of str
        Cells as text, as many as titles; long ones are cut in the middle.
    indent : int
        Spaces before each line.
    is_last_whole : bool
        Whether cells of the last column, which nothing stands beside, are never cut.
    """
    kept = [column for column in range(len(header)) if any(row[column] for row in rows)]
    cells = [[header[column] for column in kept]]
    whole = len(header) - 1 if is_last_whole else None
    cells += [
        [printable(row[column]) if column == whole else _cut(printable(row[column])) for column in kept]
        for row in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(kept))]
    return [
        (
            " " * indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _cut(text: str) -> str:
    if len(text) <= MAX_CELL:
        return text
    half = (MAX_CELL - 3) // 2
    return f"{text[:half]}...{text[-half:]}"
