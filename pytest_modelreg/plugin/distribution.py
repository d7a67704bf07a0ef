"""The controller's side of a run with xdist; registered only where xdist is installed."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.discovery import is_suite_file
from pytest_modelreg.plugin.carrying import carry
from pytest_modelreg.plugin.state import RunState


class WorkerSetup:
    """Gives every worker the run's id, so that all write into one run folder."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    @pytest.hookimpl
    def pytest_configure_node(self, node: Any) -> None:
        """Put the id into what the worker process starts with."""
        node.workerinput["modelreg_run_id"] = self._state.run_id

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Give a case that was lost with its worker the record that the worker could not send."""
        lost = self._describe_lost(crashitem)
        if lost is not None:
            carried: Any = report
            carried.modelreg = [carry(lost, None)]

    def _describe_lost(self, nodeid: str) -> CaseResult | None:
        file, _, name = nodeid.partition("::")
        if not is_suite_file(self._state.base / file):
            return None
        for suite in self._state.suites.values():
            for case in suite.cases:
                if name == case.id or name.startswith(f"{case.id}@"):  # xdist appends the group
                    return CaseResult(
                        suite=suite.name,
                        variant=case.variant,
                        axes=case.axes,
                        verdict=Verdict.ERROR,
                        message="the process that ran it ended without an answer (a crash in native code, "
                        "an exit, or out of memory); run it alone, without -n, to see its last words",
                    )
        return None
