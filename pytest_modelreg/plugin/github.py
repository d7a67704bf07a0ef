"""What a run tells the GitHub Actions job that it is a step of; registered only there, in the main process.

What belongs here: when it is told, and from which records. Formats are ``report.github``'s. The ini
setting ``modelreg_github = false`` switches it off.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.plugin.recorder import Recorder
from pytest_modelreg.report.github import (
    SourceLine,
    annotate_run,
    append_step_summary,
    find_in_workspace,
    render_annotations,
)


class GitHubStep:
    """Appends the summary once everything is known, and prints annotations with pytest's last words.

    Parameters
    ----------
    recorder : Recorder
        What the run found; its warnings say what could not be told.
    environ : mapping of str to str
        The environment.
    """

    def __init__(self, recorder: Recorder, environ: Mapping[str, str]) -> None:
        self._recorder = recorder
        self._environ = environ
        self._places: dict[str, SourceLine] = {}
        self._root = Path()

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Note what the places of tests are relative to."""
        self._root = session.config.rootpath

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note where the cases that a report carries are declared."""
        for carried in getattr(report, "modelreg", ()):
            file, line, _ = report.location
            path = self._root / file
            self._places[carried["record"]["id"]] = SourceLine(
                file=find_in_workspace(path, self._environ), line=None if line is None else line + 1
            )

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, object, object]:
        """Append the summary once the recorder has judged the whole run, before the terminal tells it."""
        result = yield
        try:
            text = self._recorder.render_summary()
        except (ModelRegError, OSError) as error:
            self._recorder.warnings.append(f"the step's summary was not written: {error}")
            return result
        problem = None if text is None else append_step_summary(text, self._environ)
        if problem is not None:
            self._recorder.warnings.append(problem)
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the annotations; in the log a workflow command is a line of its own."""
        recorder = self._recorder
        found = annotate_run(
            list(recorder.records.values()),
            places=self._places,
            commands=recorder.commands,
            problems=recorder.problems,
            warnings=recorder.warnings,
            expected=recorder.expected,
        )
        for line in render_annotations(found):
            terminalreporter.line(line)
