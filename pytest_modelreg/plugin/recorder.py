"""Gathers the records of a run in the main process and writes the report."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.kept_run import KEPT, REPORT_FILE, list_kept_folders
from pytest_modelreg.engine.sharding.share import SHARE, RunShare, shard_record, share_fields
from pytest_modelreg.fingerprint import collect, git_state
from pytest_modelreg.plugin.claims import ClaimedGoldens
from pytest_modelreg.plugin.completeness import Completeness
from pytest_modelreg.plugin.endings import Endings
from pytest_modelreg.plugin.page import write_page
from pytest_modelreg.plugin.project import tell_verdict
from pytest_modelreg.plugin.sharding import ShardCourse
from pytest_modelreg.plugin.state import RunState
from pytest_modelreg.plugin.whole_run import judge_run, was_run
from pytest_modelreg.report import (
    RunFacts,
    choose_fullest,
    dump_json,
    fingerprint_record,
    render_markdown,
    report_document,
    seal_json,
    write_report,
)


@dataclass(eq=False)  # pytest 8.0 keeps plugins in a set, so they must be hashable
class Recorder:
    """Records by the test they came from; the last run of a rerun counts."""

    state: RunState
    shards: ShardCourse
    claimed: ClaimedGoldens = field(init=False)
    completeness: Completeness = field(default_factory=Completeness)
    endings: Endings = field(default_factory=Endings)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    _share: RunShare | None = None
    _carried: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    _asking: dict[str, str] = field(default_factory=dict)
    _document: dict[str, Any] | None = None
    _started: str = field(
        default_factory=lambda: (
            datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
        )
    )
    _clock: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.claimed = ClaimedGoldens(self.state)

    @property
    def records(self) -> dict[str, dict[str, Any]]:
        """Records by case id, in the order of collection, whatever worker ended first."""
        return {carried["record"]["id"]: carried["record"] for carried in self._in_order()}

    @property
    def notes(self) -> dict[str, list[str]]:
        """Notes by case id, in the same order."""
        found = {}
        for carried in self._in_order():
            rerun = self.endings.describe_rerun(carried["record"])
            found[carried["record"]["id"]] = [*carried["notes"], *([rerun] if rerun else [])]
        return found

    @property
    def commands(self) -> dict[str, str]:
        """Commands that accept what was seen, by case id; empty where there is none."""
        return {carried["record"]["id"]: carried["command"] for carried in self._in_order()}

    @property
    def expected(self) -> list[str]:
        """Ids of cases that do not pass, as their tests say beforehand (``xfail``)."""
        return self.endings.list_expected(self._carried)

    @property
    def verdicts(self) -> list[Verdict]:
        """Verdicts of all cases that have a record."""
        return [Verdict(record["verdict"]) for record in self.records.values()]

    @property
    def told_less(self) -> list[str]:
        """What is only a warning unless the run is strict."""
        return self.problems if self.state.options.strict else self.warnings

    def list_swallowed(self) -> list[str]:
        """Return a problem for every record that does not pass although its test does."""
        return self.endings.list_swallowed(self._carried)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over the records that a report carries."""
        if report.when == "setup":
            self._carried.pop(report.nodeid, None)  # a rerun starts: what the last run said is void
            self._asking[report.nodeid] = getattr(report, "modelreg_test", "")
        carried: list[dict[str, Any]] | None = getattr(report, "modelreg", None)
        if carried:
            self._carried[report.nodeid] = carried
        self.endings.note(report, self._carried.get(report.nodeid, ()))

    def note_lost_test(self, nodeid: str) -> None:
        """Note a Python test that was lost with its worker; whether it is a case is known at the end."""
        self.endings.note_lost(nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge the run as a whole and write the report."""
        asking = {nodeid: test for nodeid, test in self._asking.items() if test} | self.completeness.asking
        for nodeid, lost in self.endings.list_lost(asking).items():
            self._carried.setdefault(nodeid, []).append(lost)
        records = self.records
        try:
            self._share = judge_run(self, session)
            self._write_report(keeps_run=was_run(session))
        except (ModelRegError, OSError) as error:  # a traceback here would hide what the run found
            self.problems.append(f"the report cannot be written: {error}")
        told = (tell_verdict(session.config, record) for record in records.values())
        self.problems += [problem for problem in told if problem is not None]
        if self.problems and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif self.shards.is_empty_by_design and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # the other shards have them all

    def _in_order(self) -> list[dict[str, Any]]:
        nodeids = sorted(self._carried, key=self.completeness.position)
        return [carried for nodeid in nodeids for carried in self._carried[nodeid]]

    def _environment(self) -> dict[str, Any]:
        """Return the fullest fingerprint of the run, the first one of several.

        A case without a framework knows less than one with it, and which of them a
        process ran first depends on how many workers there are.
        """
        found = [carried["environment"] for carried in self._in_order() if carried["environment"] is not None]
        return choose_fullest(found) or fingerprint_record(collect(project=self.state.project_facts))

    def _write_report(self, *, keeps_run: bool) -> None:
        records, options = self.records, self.state.options
        # A shard leaves a report also where it had no case: without it nobody knew that it had none.
        keeps_run = bool(records) or (keeps_run and options.shard is not None)
        asked_for = (options.json, options.markdown, options.html)
        if not keeps_run and all(target is None for target in asked_for):
            return
        document = self._assemble()
        try:
            if options.json is not None:
                dump_json(document, options.json)
        except ModelRegError as error:
            self.problems.append(str(error))
        try:
            if keeps_run and self._share is not None:
                folder = self.state.run_folder.folder
                kept = {KEPT: list_kept_folders(folder), SHARE: share_fields(self._share)}
                seal_json({**document, **kept}, folder / REPORT_FILE)
        except ModelRegError as error:
            self.problems.append(str(error))
        if options.markdown is not None:
            self._write_summary(options.markdown)
        if options.html is not None:
            self._write_page(options.html)

    def _assemble(self) -> dict[str, Any]:
        """Return the report's document, put together once."""
        if self._document is None:
            git = git_state(self.state.base)
            facts = RunFacts(
                id=self.state.run_id,
                started=self._started,
                duration_s=time.perf_counter() - self._clock,
                git_commit=git.commit,
                git_dirty=git.dirty,
                partial=bool(self.obstacles),
                shard=None
                if self._share is None or not self.state.options.shard
                else shard_record(self._share),
            )
            self._document = report_document(facts, self._environment(), self.records.values())
        return self._document

    def render_summary(self) -> str | None:
        """Return the Markdown summary of a run that is over; None where there is nothing to tell.

        Raises
        ------
        ProjectFactError
            When the environment cannot be told.
        """
        if not (self.records or self.problems or self.warnings):
            return None
        return self._render_summary()

    def _render_summary(self) -> str:
        return render_markdown(
            self._assemble(),
            commands=self.commands,
            notes=self.notes,
            problems=[*self.problems, *self.warnings],
            expected=self.expected,
        )

    def _write_page(self, target: Path) -> None:
        """Write the HTML report, last: it shows what the others left in the run folder."""
        try:
            write_page(
                self._assemble(),
                self.state,
                target,
                commands=self.commands,
                problems=[*self.problems, *self.warnings],
                expected=self.expected,
            )
        except ModelRegError as error:
            self.problems.append(str(error))

    def _write_summary(self, target: Path) -> None:
        """Write the Markdown summary, after the reports whose problems it tells."""
        try:
            write_report(self._render_summary(), target)
        except ModelRegError as error:
            self.problems.append(str(error))
