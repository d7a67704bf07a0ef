"""What tests of several packages share: a small project with a suite, outside CI."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# A job in the background may be started with Ctrl-C ignored, which every process that a test starts would
# inherit: nothing could be interrupted then, and tests of interrupting would wait for their time limits.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

IN_CI = bool(os.environ.get("CI"))  # read before tests take it away

MODEL = """
import numpy as np

WEIGHT = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def build(scale=1.0):
    return lambda x: scale * (x @ WEIGHT)
"""

DATA = """
import numpy as np


def prepare(sample):
    return np.asarray(sample, dtype=np.float32)
"""

SUITE = """
modelreg: 1
suite: toy
samples: {folder: samples, loader: json}
reference:
  model: toymodel:build
  preprocess: toydata:prepare
  batch_size: 4
outputs:
  logits: {kind: classification, labels: labels.txt}
"""


class Project:
    """A project folder with one suite on a numpy model: six samples, four classes."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.write("toymodel.py", MODEL)
        self.write("toydata.py", DATA)
        self.write("modelreg.yaml", SUITE)
        self.write("labels.txt", "cat\ndog\nbird\nfish\n")
        samples = np.random.default_rng(0).standard_normal((6, 3)).round(3)
        for index, row in enumerate(samples):
            self.write(f"samples/s{index}.json", json.dumps(row.tolist()))

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text in a file; the text must be there."""
        path = self.path / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def pytest(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess("--modelreg", *arguments)

    def modelreg(self, *arguments: str, **kwargs: Any) -> pytest.RunResult:
        """Run the command in a process of its own."""
        return self.pytester.run(sys.executable, "-m", "pytest_modelreg", *arguments, **kwargs)

    def report(self, *arguments: str) -> dict[str, Any]:
        """Run pytest and return the JSON report."""
        target = self.path / "report.json"
        self.pytest(f"--modelreg-json={target}", *arguments)
        report: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
        return report

    def record(self) -> None:
        """Pin the samples and record the golden, through the engine alone."""
        self.pin()
        assert self.pytest("--modelreg-regen=missing").ret == 0

    def pin(self) -> None:
        """Write samples.csv."""
        from pytest_modelreg.store import pin

        pin(self.path / "samples", update=(self.path / "samples/samples.csv").exists())

    def golden_bytes(self, folder: str = "golden") -> dict[str, bytes]:
        """Return every file below the golden folder with its bytes."""
        return {
            path.relative_to(self.path).as_posix(): path.read_bytes()
            for path in sorted((self.path / folder).rglob("*"))
            if path.is_file()
        }


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take CI's variables away: these tests regenerate, and write reports of their own, in CI too."""
    for name in ("CI", "BUILD_NUMBER", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose samples are not yet pinned."""
    # hypothesis' own plugin would be imported anew, and rewritten, by every inner run.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    return Project(pytester)


@pytest.fixture
def recorded(project: Project) -> Project:
    """A project with pinned samples and a golden."""
    project.record()
    return project


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Keep child processes from fighting over the cores of a small machine."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test fails the run: there a dependency that is missing must be seen.

    Elsewhere tests that need a framework are skipped without it, so that the core can be
    tried in an environment with numpy alone.
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if IN_CI and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("in CI no test may be skipped", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
