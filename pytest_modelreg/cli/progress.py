"""Progress of a command: one live line on a terminal, whole lines elsewhere, on standard error."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_modelreg.engine.observer import CaseProgress

CLEAR_LINE = "\r\x1b[K"


def make_progress() -> CaseProgress:
    """Return what a session calls after every batch."""
    from pytest_modelreg.report.progress import ProgressMeter
    from pytest_modelreg.report.table import printable

    is_live = sys.stderr.isatty()
    meter = ProgressMeter(first_after_s=0.5 if is_live else 10.0, interval_s=0.2 if is_live else 30.0)

    def show(case: str, done: int, total: int) -> None:
        line = meter.describe(case, done, total)
        if is_live and (line is not None or done >= total):
            room = shutil.get_terminal_size().columns - 1
            sys.stderr.write(CLEAR_LINE + printable(line or "")[:room])
            sys.stderr.flush()
        elif line is not None:
            print(printable(line), file=sys.stderr, flush=True)

    return show
