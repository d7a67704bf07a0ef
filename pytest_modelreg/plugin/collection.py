"""Suite files as pytest collectors, cases as pytest items."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.discovery import find_suites, is_suite_file
from pytest_modelreg.engine.outcome import place_of
from pytest_modelreg.engine.regeneration import Mode
from pytest_modelreg.engine.suite import CasePlan, Suite
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
            for path in find_suites(_argument_paths(session.config), ignored=_ignored(session.config)):
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

    def _require_reason(self) -> None:
        regeneration = self._state.regeneration
        if regeneration is None or regeneration.mode is Mode.MISSING or regeneration.reason is not None:
            return
        replaceable = [
            case.id
            for suite in self._state.suites.values()
            for case in suite.cases
            if place_of(suite, case).has_golden
        ]
        if replaceable:
            raise pytest.UsageError(
                f"--modelreg-regen {regeneration.mode.value}: replacing a golden needs a reason, and "
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
        item: CaseItem = cls.from_parent(parent, name=case.id)
        item.suite, item.case, item.state = suite, case, parent.state
        item.stash[BLANK] = CaseResult(
            suite=suite.name, variant=case.variant, axes=case.axes, verdict=Verdict.ERROR, message=""
        )
        item.add_marker("modelreg")
        if item.config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group(suite.name))
        return item

    def runtest(self) -> None:
        """Run the case; a verdict that does not pass fails the item."""
        session = self.state.session
        outcome = session.conclude(session.run_case(self.suite, self.case))
        self.stash[OUTCOMES] = {"": outcome}
        result = outcome.result
        if result.verdict is Verdict.SKIPPED:
            pytest.skip(result.message)
        if not result.verdict.passes:
            raise CaseFailed(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the case in words instead of a traceback through our own code."""
        if isinstance(excinfo.value, CaseFailed):
            return render_case(excinfo.value.result, verbose=self.config.get_verbosity() > 0)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return what pytest heads the failure with; without a line a skip marker would break pytest."""
        return self.path, 0, self.case.id


def _argument_paths(config: pytest.Config) -> list[Path]:
    """Return the files and folders that pytest was asked to collect from."""
    start = config.invocation_params.dir
    paths = [start / str(argument).split("::", 1)[0] for argument in config.args]
    return [path for path in paths if path.exists()]


def _ignored(config: pytest.Config) -> Any:
    """Return the question whether pytest itself would pass a path over."""

    def ignored(path: Path) -> bool:
        return bool(config.hook.pytest_ignore_collect(collection_path=path, config=config))

    return ignored
