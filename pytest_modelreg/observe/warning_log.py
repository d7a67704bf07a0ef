"""Warnings that frameworks and user code raise while a case is observed.

They are facts of the observation. Recorded, not raised: under ``-W error`` a
deprecation inside torch would otherwise decide the verdict.
"""

from __future__ import annotations

import warnings
from types import TracebackType

MAX_WARNINGS = 20
MAX_LENGTH = 300


class WarningLog:
    """Collects warnings inside a ``with`` block; filters are restored afterwards."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}
        self._catcher = warnings.catch_warnings(record=True)
        self._pending: list[warnings.WarningMessage] = []

    def __enter__(self) -> WarningLog:
        pending = self._catcher.__enter__()
        self._pending = [] if pending is None else pending
        warnings.simplefilter("always")
        # When an unclosed file is collected is chance: it would make runs differ.
        warnings.simplefilter("ignore", ResourceWarning)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._catcher.__exit__(kind, error, trace)

    def drain(self) -> None:
        """Keep new lines, forget repetitions: a warning a batch must not fill memory."""
        for entry in self._pending:
            self.note(f"{entry.category.__name__}: {entry.message}")
        self._pending.clear()

    def note(self, text: str) -> None:
        """Add a line, made one line and cut to :data:`MAX_LENGTH` characters."""
        line = " ".join(text.split())
        if len(line) > MAX_LENGTH:
            line = line[: MAX_LENGTH - 3] + "..."
        if len(self._lines) < MAX_WARNINGS:
            self._lines.setdefault(line)

    @property
    def lines(self) -> tuple[str, ...]:
        """Every distinct line so far, in order of appearance."""
        self.drain()
        return tuple(self._lines)
