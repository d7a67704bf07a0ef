"""Being asked to end: an interruption, once, and nobody else's handler is touched."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from pytest_modelreg.engine.termination import interrupted_by_termination


@pytest.fixture(autouse=True)
def default_handler():
    """The signal as a process starts with it, and afterwards as it was."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def ask() -> None:
    """Ask this process to end, and let the signal come."""
    os.kill(os.getpid(), signal.SIGTERM)
    signal.sigtimedwait([], 0)


def test_the_first_signal_interrupts_and_a_second_one_ends():
    """Whoever asks twice does not want to wait for what is being cleared up."""
    after = None

    def run() -> None:
        nonlocal after
        with interrupted_by_termination():
            try:
                ask()
            finally:
                after = signal.getsignal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
        run()
    assert after is signal.SIG_DFL


def test_afterwards_it_is_as_before():
    """Where nobody asked."""
    with interrupted_by_termination():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_somebody_else_stays():
    """Before and during; also one that is set meanwhile."""
    asked = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    with interrupted_by_termination():
        ask()
    assert asked == [signal.SIGTERM]
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with interrupted_by_termination():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_another_thread_changes_nothing():
    """Only the main one may."""
    seen = []

    def look() -> None:
        with interrupted_by_termination():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]
