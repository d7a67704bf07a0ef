"""Gathers the records of a run in the main process and writes the report."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.fingerprint import collect, git_state
from pytest_modelreg.plugin.options import is_selected_by_ini
from pytest_modelreg.plugin.state import RunState
from pytest_modelreg.report import RunFacts, dump_json, fingerprint_record, report_document


@dataclass(eq=False)  # pytest 8.0 keeps plugins in a set, so they must be hashable
class Recorder:
    """Records by case id, in the order in which cases ended (the last run of a rerun counts)."""

    state: RunState
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _environment: dict[str, Any] | None = None
    _n_deselected: int = 0
    _started: str = field(
        default_factory=lambda: (
            datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
        )
    )
    _clock: float = field(default_factory=time.perf_counter)

    @property
    def verdicts(self) -> list[Verdict]:
        """Verdicts of all cases that ran."""
        return [Verdict(record["verdict"]) for record in self.records.values()]

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Count what a selection took out."""
        self._n_deselected += len(items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over the records that a report carries."""
        carried_outcomes: list[dict[str, Any]] = getattr(report, "modelreg", None) or []
        for carried in carried_outcomes:
            record = carried["record"]
            self.records[record["id"]] = record
            self.notes[record["id"]] = carried["notes"]
            self._environment = self._environment or carried["environment"]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge the run as a whole and write the report."""
        self._check_whole_run(session)
        if self.records or self.state.options.json is not None:
            self._write_report(session)
        if self.problems and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def is_partial(self, session: pytest.Session) -> bool:
        """Whether something kept cases from running."""
        option = session.config.option
        selected = [getattr(option, name, None) for name in ("keyword", "markexpr", "lf", "deselect")]
        by_id = any("::" in str(argument) for argument in session.config.args)
        expected = {case.id for suite in self.state.suites.values() for case in suite.cases}
        return bool(
            any(selected)
            or by_id
            or self._n_deselected
            or session.shouldstop
            or session.shouldfail
            or session.exitstatus == pytest.ExitCode.INTERRUPTED
            or expected - set(self.records)
        )

    def _check_whole_run(self, session: pytest.Session) -> None:
        if session.config.option.collectonly or session.exitstatus in (
            pytest.ExitCode.INTERRUPTED,
            pytest.ExitCode.INTERNAL_ERROR,
            pytest.ExitCode.USAGE_ERROR,
        ):
            return  # the run was stopped for another reason, which is already on the screen
        if not self.records:
            if is_selected_by_ini(session.config) and not self.state.options.strict:
                return  # a project that always compares may still run one test file of it
            problems = self.problems if self.state.options.strict else self.warnings
            problems.append(f"no case was run, so nothing was compared: {self._explain_absence()}")
        elif all(verdict is Verdict.SKIPPED for verdict in self.verdicts):
            self.problems.append("every case was skipped, so nothing was compared")

    def _explain_absence(self) -> str:
        if self.state.suites:
            return "all cases were deselected"
        found = [os.path.relpath(path) for path in find_suites([self.state.base], ignored=lambda path: False)]
        if found:
            return (
                f"the arguments (or testpaths) leave out {', '.join(found[:3])}; "
                "name it as an argument or add it to testpaths"
            )
        return "there is no modelreg.yaml or *.modelreg.yaml below the arguments; `modelreg init` writes one"

    def _write_report(self, session: pytest.Session) -> None:
        git = git_state(self.state.base)
        document = report_document(
            RunFacts(
                id=self.state.run_id,
                started=self._started,
                duration_s=time.perf_counter() - self._clock,
                git_commit=git.commit,
                git_dirty=git.dirty,
                partial=self.is_partial(session),
            ),
            self._environment or fingerprint_record(collect()),
            self.records.values(),
        )
        targets = [self.state.options.json] if self.state.options.json is not None else []
        if self.records:
            targets.append(self.state.run_folder.folder / "report.json")
        for target in targets:
            try:
                dump_json(document, target)
            except ModelRegError as error:
                self.problems.append(str(error))
