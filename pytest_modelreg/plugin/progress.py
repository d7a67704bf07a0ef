"""The line that shows how far a running case is.

On a terminal it stands behind what pytest has written so far and is wiped when the case
ends, so that pytest goes on where it was. Elsewhere, as in a CI log, whole lines are
written, rarely. Under ``-q`` and in xdist's workers, whose output nobody sees, there is
none; xdist's controller runs no case.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_modelreg.report.progress import ProgressMeter
from pytest_modelreg.report.table import printable

LIVE_AFTER_S, LIVE_EVERY_S = 0.5, 0.2
PLAIN_AFTER_S, PLAIN_EVERY_S = 10.0, 30.0

SAVE_CURSOR, BACK_AND_CLEAR = "\x1b7", "\x1b8\x1b[K"


class ProgressLine:
    """Shows progress through pytest's terminal reporter.

    Parameters
    ----------
    reporter : pytest.TerminalReporter
        Whose line is continued.
    """

    def __init__(self, reporter: pytest.TerminalReporter, capture: Any) -> None:
        self._reporter = reporter
        self._capture = capture
        self._is_live = reporter.isatty
        after_s, every_s = (LIVE_AFTER_S, LIVE_EVERY_S) if self._is_live else (PLAIN_AFTER_S, PLAIN_EVERY_S)
        self._meter = ProgressMeter(first_after_s=after_s, interval_s=every_s)
        self._is_shown = False

    def show(self, case: str, done: int, total: int) -> None:
        """Show how many samples of a case are done."""
        line = self._meter.describe(case, done, total)
        if line is not None and not self._is_live:
            with self._uncaptured():
                self._reporter.ensure_newline()
                self._reporter.write_line(printable(line))
        elif line is not None:
            self._write_live(printable(line))
        if done >= total:
            self.wipe()

    def say(self, text: str) -> None:
        """Write a line on what takes long before a case can run, such as building its environment."""
        self.wipe()
        with self._uncaptured():
            self._reporter.ensure_newline()
            self._reporter.write_line(printable(text))

    def wipe(self) -> None:
        """Take a live line off the terminal."""
        if self._is_shown:
            with self._uncaptured():
                sys.stdout.write(BACK_AND_CLEAR)
                sys.stdout.flush()
            self._is_shown = False

    def _write_live(self, line: str) -> None:
        writer = self._reporter.config.get_terminal_writer()
        room = writer.fullwidth - writer.width_of_current_line - 2
        if room < 10:
            return  # a line that wraps could not be wiped
        with self._uncaptured():
            sys.stdout.write((BACK_AND_CLEAR if self._is_shown else SAVE_CURSOR) + line[:room])
            sys.stdout.flush()
        self._is_shown = True

    @contextmanager
    def _uncaptured(self) -> Iterator[None]:
        """Reach the terminal while pytest captures what the model prints."""
        if self._capture is None:
            yield
            return
        with self._capture.global_and_fixture_disabled():
            yield


def make_progress_line(config: pytest.Config) -> ProgressLine | None:
    """Return what shows progress in this process, or None where nothing should."""
    manager = config.pluginmanager
    reporter = manager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or config.get_verbosity() < 0:
        return None
    return ProgressLine(reporter, manager.get_plugin("capturemanager"))
