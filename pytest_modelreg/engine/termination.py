"""Being asked to end (SIGTERM) as an interruption, so that what a run holds is given back.

What belongs here: the signal. ``timeout``, container runtimes and CI systems send it where a person
would press Ctrl-C; by default Python ends at once then, without a report, and leaves behind what only
it knows of.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupted_by_termination() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` for the first SIGTERM during a ``with`` block; the second one ends at once.

    Whoever has a handler of his own keeps it; outside of the main thread nothing is changed.
    """
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if is_ours:
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        if is_ours and signal.getsignal(signal.SIGTERM) is _interrupt:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise KeyboardInterrupt(signal.Signals(number).name)
