"""The controller's side of a run with xdist; registered only where xdist is installed."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_modelreg.domain.errors import RunFolderError
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.discovery import is_suite_file
from pytest_modelreg.engine.run import require_run_folder
from pytest_modelreg.plugin.carrying import carry
from pytest_modelreg.plugin.endings import LOST
from pytest_modelreg.plugin.recorder import Recorder
from pytest_modelreg.plugin.scheduling import SCHEDULERS
from pytest_modelreg.plugin.state import RunState, advise_run_dir


class WorkerSetup:
    """Gives every worker the run's id, so that all write into one run folder."""

    def __init__(self, state: RunState, recorder: Recorder) -> None:
        self._state = state
        self._recorder = recorder

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Refuse a place where workers could not keep what their tests find.

        The controller collects nothing, so that it cannot know whether there will be tests
        with the fixture: a project that only its ini file turned comparing on for is let run.

        Raises
        ------
        pytest.UsageError
            When the run folder cannot be made.
        """
        if session.config.getoption("dist", "no") == "no" or not session.config.getoption("--modelreg"):
            return
        try:
            require_run_folder(self._state.base, self._state.run_id, chosen=self._state.run_dir)
        except RunFolderError as error:
            raise pytest.UsageError(str(advise_run_dir(error))) from error

    @pytest.hookimpl
    def pytest_configure_node(self, node: Any) -> None:
        """Put the id into what the worker process starts with."""
        node.workerinput["modelreg_run_id"] = self._state.run_id

    @pytest.hookimpl(optionalhook=True, wrapper=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Generator[None, Any, Any]:
        """Keep the cases of a suite in one worker: in groups, and wherever goldens are replaced.

        A variant must not meet the golden that another worker is replacing. ``load`` may spread the cases
        of a plain run: they are independent, and one suite may be all that there is. A scheduler of the
        project's own stays.
        """
        chosen = yield
        if config.getvalue("dist") == "load" and self._state.regeneration is None:
            return chosen
        knowing = SCHEDULERS.get(type(chosen))
        return chosen if knowing is None else knowing(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Give a case that was lost with its worker the record that the worker could not send."""
        if not is_suite_file(self._state.base / crashitem.partition("::")[0]):
            self._recorder.note_lost_test(crashitem)
        elif (lost := self._describe_lost(crashitem)) is not None:
            carried: Any = report
            carried.modelreg = [carry(lost, None)]

    def _describe_lost(self, nodeid: str) -> CaseResult | None:
        name = nodeid.partition("::")[2]
        for suite in self._state.suites.values():
            for case in suite.cases:
                if name == case.id or name.startswith(f"{case.id}@"):  # xdist appends the group
                    return CaseResult(
                        suite=suite.name,
                        variant=case.variant,
                        axes=case.axes,
                        verdict=Verdict.ERROR,
                        message=LOST,
                    )
        return None
