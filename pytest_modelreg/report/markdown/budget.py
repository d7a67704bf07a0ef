"""The size of a summary: blocks are added while they fit, and what does not is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_modelreg.report.markdown.text import table

MAX_BYTES = 60_000
"""GitHub refuses comments of more than 65,536 characters."""


class Budget:
    """Blocks of lines that together stay below the limit."""

    _RESERVE_BYTES = 400  # for the line that says what is left out

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._left_bytes = MAX_BYTES - self._RESERVE_BYTES
        self._left_out: list[str] = []

    def add(self, lines: Sequence[str], *, called: str) -> None:
        """Add a block, which may be empty, and an empty line behind it, if it fits."""
        if lines and not self._fit(lines):
            self._left_out.append(called)

    def add_all(self, blocks: Iterable[Sequence[str]], *, called: str) -> None:
        """Add the blocks that fit, earlier ones first, none for an empty one; the others are only counted."""
        n_left_out = sum(not self._fit(block) for block in blocks if block)
        if n_left_out:
            self._left_out.append(f"{n_left_out} x {called}")

    def add_table(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], *, limit: int, called: str
    ) -> None:
        """Add a table of the first rows, as many as fit into ``limit`` bytes."""
        lines = table(header, rows)
        n_lines, size = 0, 0
        while n_lines < len(lines) and size + _size(lines[n_lines : n_lines + 1]) <= limit:
            size += _size(lines[n_lines : n_lines + 1])
            n_lines += 1
        if rows:
            self.add(lines[:n_lines], called="the table")
        if n_lines < len(lines):
            self._left_out.append(f"{len(lines) - n_lines} x {called}")

    def finish(self) -> str:
        """Return the text, with a line on what is left out."""
        if self._left_out:
            self._lines.append(
                f"Left out to stay below {MAX_BYTES // 1000} KB: {', '.join(self._left_out)}. "
                "The JSON report has all."
            )
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def _fit(self, lines: Sequence[str]) -> bool:
        size = _size(lines) + 1
        if size > self._left_bytes:
            return False
        self._lines += [*lines, ""]
        self._left_bytes -= size
        return True


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
