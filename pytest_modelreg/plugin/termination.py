"""A run that is asked to end (SIGTERM): as after Ctrl-C it reports what it has, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_modelreg.engine.termination import interrupted_by_termination


class TerminationCare:
    """Turns the signal into an interruption while tests run, in every process of a run."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Only here: before it nothing is held, and after it the report is being written."""
        with interrupted_by_termination():
            return (yield)
