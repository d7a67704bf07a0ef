"""What the plugin adds to pytest's terminal output: header and summary."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.plugin.recorder import Recorder
from pytest_modelreg.plugin.state import RunState
from pytest_modelreg.plugin.values import NOT_RECORDED
from pytest_modelreg.report.notes import group_notes, name_cases
from pytest_modelreg.report.table import printable
from pytest_modelreg.report.text import summary_counts
from pytest_modelreg.store import count_sample_set


class TerminalLines:
    """Header and summary lines; never registered in an xdist worker."""

    def __init__(self, state: RunState, recorder: Recorder) -> None:
        self._state = state
        self._recorder = recorder

    def pytest_report_header(self) -> list[str]:
        """Name suites, models and sample counts."""
        shard = self._state.options.shard
        lines = [f"modelreg: {_describe(suite)}" for suite in self._state.suites.values()]
        return [printable(line) for line in [*lines, *([f"modelreg: shard {shard}"] if shard else [])]]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Sum up verdicts, recordings apart, and say where the evidence is."""
        recorder, reporter = self._recorder, terminalreporter
        if not (recorder.records or recorder.problems or recorder.warnings or recorder.remarks):
            return
        reporter.section("modelreg", sep="-")
        if recorder.records:
            reporter.line(self._counts())
        for record in recorder.records.values():
            if record["verdict"] == Verdict.RECORDED.value:
                reporter.line(printable(f"recorded, not compared: {record['id']}: {record['message']}"))
            elif NOT_RECORDED in record["message"]:
                reporter.line(printable(f"{NOT_RECORDED}: {record['id']}"))
        matches = [
            case for case, record in recorder.records.items() if record["verdict"] == Verdict.MATCH.value
        ]
        notes = recorder.notes
        for note, cases in group_notes({case: notes[case] for case in matches}).items():
            reporter.line(printable(f"note: {name_cases(cases)}: {note}"))
        for remark in recorder.remarks:
            reporter.line(printable(f"note: {remark}"))
        if (recorder.records or recorder.remarks) and recorder.obstacles:
            reporter.line(printable(f"partial run: {'; '.join(recorder.obstacles)}"))
        for warning in recorder.warnings:
            reporter.line(printable(f"warning: {warning}"), yellow=True)
        for problem in recorder.problems:
            reporter.line(printable(f"error: {problem}"), red=True)
        folder = self._state.made_run_folder
        if folder is not None and any(not verdict.passes for verdict in recorder.verdicts):
            reporter.line(f"observations and report: {_short(folder)}")

    def _counts(self) -> str:
        verdicts = self._recorder.verdicts
        compared = [verdict for verdict in verdicts if verdict is not Verdict.RECORDED]
        n_recorded = len(verdicts) - len(compared)
        parts = [summary_counts(compared)] if compared else []
        if n_recorded:
            parts.append(f"{n_recorded} recorded (regenerated, nothing compared)")
        return "; ".join(parts)


def _describe(suite: Suite) -> str:
    n_samples = count_sample_set(suite.samples)
    samples = "no readable sample set" if n_samples is None else f"{n_samples} samples"
    n_cases = len(suite.cases)
    return f"{suite.name}: {suite.model}, {samples}, {n_cases} case{'s' if n_cases != 1 else ''}"


def _short(path: Path) -> str:
    """Return the path relative to the current folder where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)
