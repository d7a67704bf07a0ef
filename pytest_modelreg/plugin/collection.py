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
from pytest_modelreg.engine.session import Outcome
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.plugin.state import RunState, worker_input
from pytest_modelreg.report import case_record, fingerprint_record, render_case
from pytest_modelreg.store import golden_folder, golden_sha256


class CaseFailed(Exception):
    """Raised by an item whose verdict does not pass; carries the result to the report."""

    def __init__(self, result: CaseResult) -> None:
        self.result = result
        super().__init__(result.message)


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
        """
        if worker_input(session.config) is None:
            for path in find_suites(_argument_paths(session.config), ignored=_ignored(session.config)):
                self._state.load(path)
            self._state.require_faultless()

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect ``modelreg.yaml`` and ``*.modelreg.yaml``."""
        if not is_suite_file(file_path):
            return None
        collector: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        collector.state = self._state
        return collector

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Stop before the first forward pass when the run cannot be carried out as asked."""
        self._state.require_faultless()
        cases = [item for item in items if isinstance(item, CaseItem)]
        regeneration = self._state.regeneration
        if regeneration is None or regeneration.mode == "missing" or regeneration.reason is not None:
            return
        replaceable = [item.case.id for item in cases if _has_golden(item.suite, item.case)]
        if replaceable:
            raise pytest.UsageError(
                f"--modelreg-regen {regeneration.mode.value}: replacing a golden needs a reason, and "
                f"{', '.join(replaceable[:5])} {'has' if len(replaceable) == 1 else 'have'} one; "
                'add --modelreg-reason "why it changes"'
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Put the case's record on its report: builtin values, so that it crosses from a worker."""
        report = yield
        if isinstance(item, CaseItem) and call.when == "call" and item.outcome is not None:
            observation = item.outcome.observation
            report.modelreg = {
                "record": case_record(item.outcome.result),
                "notes": list(item.outcome.result.notes),
                "environment": None if observation is None else fingerprint_record(observation.fingerprint),
            }
        return report


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
    outcome: Outcome | None = None

    @classmethod
    def of(cls, parent: SuiteFile, suite: Suite, case: CasePlan) -> CaseItem:
        """Return the item of a case."""
        item: CaseItem = cls.from_parent(parent, name=case.id)
        item.suite, item.case, item.state = suite, case, parent.state
        item.add_marker("modelreg")
        if item.config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group(suite.name))
        return item

    def runtest(self) -> None:
        """Run the case; a verdict that does not pass fails the item."""
        self.outcome = self.state.session.run_case(self.suite, self.case)
        result = self.outcome.result
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
        """Return what pytest heads the failure with."""
        return self.path, None, self.case.id


def _has_golden(suite: Suite, case: CasePlan) -> bool:
    return golden_sha256(golden_folder(suite.golden_root, suite.name, case.variant)) is not None


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
