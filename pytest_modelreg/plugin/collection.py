"""Suite files as pytest collectors, cases as pytest items."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.discovery import find_suites, is_suite_file
from pytest_modelreg.engine.failure import describe_failure
from pytest_modelreg.engine.outcome import place_of
from pytest_modelreg.engine.regeneration import Mode
from pytest_modelreg.engine.subject import failed, subject_of_case
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.plugin.base import list_argument_paths
from pytest_modelreg.plugin.carrying import BLANK, OUTCOMES, CaseFailed
from pytest_modelreg.plugin.state import RunState, worker_input
from pytest_modelreg.report import render_case


class SuiteCollection:
    """Finds suite files, reports their faults all at once, makes items of their cases."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Load every suite below the run's arguments before anything is collected.

        An xdist controller collects nothing itself, and a usage error that only a
        worker sees would look like a crash: so faults are looked for here, in the main
        process, and the header can name the suites.

        Raises
        ------
        pytest.UsageError
            For faulty suite files, and for goldens that would be replaced without a reason.
        """
        if worker_input(session.config) is None:
            for path in find_suites(list_argument_paths(session.config), ignored=_ignored(session.config)):
                self._state.load(path)
            self._state.require_faultless()
            self._state.require_safe_targets()
            self._require_reason()

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect ``modelreg.yaml`` and ``*.modelreg.yaml``."""
        if not is_suite_file(file_path):
            return None
        collector: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        collector.state = self._state
        return collector

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Stop before the first forward pass when a file that only collection found is faulty."""
        self._state.require_faultless()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell the session which cases are coming, so that they share what they have in common."""
        cases = [(item.suite, item.case) for item in session.items if isinstance(item, CaseItem)]
        if len(cases) > 1 and not session.config.option.collectonly:
            with suppress(ModelRegError):  # of a worker: each of its cases says so
                self._state.session.expect(cases)

    def pytest_unconfigure(self) -> None:
        """Remove what was kept for the cases."""
        self._state.close()

    def _require_reason(self) -> None:
        regeneration = self._state.regeneration
        if regeneration is None or regeneration.mode is Mode.MISSING or regeneration.reason is not None:
            return
        replaceable = [
            case.id
            for suite in self._state.suites.values()
            for case in suite.cases
            if case.keeps_golden and (place := place_of(suite, case)).has_golden | place.is_fallback
        ]
        if replaceable:
            raise pytest.UsageError(
                f"--modelreg-regen {regeneration.mode.value}: what differs from a golden needs a reason, and "
                f"{', '.join(replaceable[:5])} {'has' if len(replaceable) == 1 else 'have'} one; "
                'add --modelreg-reason "why it changes"'
            )


class SuiteFile(pytest.File):
    """One suite file."""

    state: RunState

    def collect(self) -> Iterable[pytest.Item]:
        """Yield an item a case; faults are noted and reported together once all files are read."""
        suite = self.state.load(self.path)
        if suite is not None:
            for case in suite.cases:
                yield CaseItem.of(self, suite, case)


class CaseItem(pytest.Item):
    """One case: reference or variant."""

    suite: Suite
    case: CasePlan
    state: RunState

    @classmethod
    def of(cls, parent: SuiteFile, suite: Suite, case: CasePlan) -> CaseItem:
        """Return the item of a case."""
        # As text, because pytest 9.2 reads its cache as text: of an id that it puts together itself, it
        # would not see that the brackets are parameters, and --lf would not know the case again.
        item: CaseItem = cls.from_parent(parent, name=case.id, nodeid=f"{parent.nodeid}::{case.id}")
        item.suite, item.case, item.state = suite, case, parent.state
        item.stash[BLANK] = CaseResult(
            suite=suite.name, variant=case.variant, axes=case.axes, verdict=Verdict.ERROR, message=""
        )
        for mark in ("modelreg", *case.marks):
            item.add_marker(mark)
        if item.config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group(suite.name))
        return item

    def runtest(self) -> None:
        """Run the case; a verdict that does not pass fails the item."""
        try:
            session = self.state.session
        except ModelRegError as error:  # what only an xdist worker finds; elsewhere it ended the run before
            outcome = failed(subject_of_case(self.suite, self.case), describe_failure(error))
        else:
            outcome = session.conclude(session.run_case(self.suite, self.case))
        self.stash[OUTCOMES] = {"": outcome}
        result = outcome.result
        if result.verdict is Verdict.SKIPPED:
            # With the item's own place: where in our code it was skipped helps nobody.
            raise pytest.skip.Exception(result.message, _use_item_location=True)
        if not result.verdict.passes:
            raise CaseFailed(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the case in words instead of a traceback through our own code."""
        if isinstance(excinfo.value, CaseFailed):
            return render_case(excinfo.value.result, verbose=self.config.get_verbosity() > 0)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return what pytest heads the failure with; without a line a skip marker would break pytest."""
        return self.path, self.case.line - 1, self.case.id


def _ignored(config: pytest.Config) -> Any:
    """Return the question whether pytest itself would pass a path over."""

    def ignored(path: Path) -> bool:
        return bool(config.hook.pytest_ignore_collect(collection_path=path, config=config))

    return ignored
