"""Runs that are interrupted, asked to end or killed while a worker observes, from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

HANGING = """
import os, pathlib, subprocess, sys, time
import numpy as np

WEIGHT = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
HERE = pathlib.Path(__file__).parent
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def build(scale=1.0):
    name = os.environ.get("HANG")
    if name is not None and not (HERE / "stop-hanging").exists():
        children = [subprocess.Popen(SLEEP), subprocess.Popen(SLEEP, start_new_session=True)]
        pids = [os.getpid(), *(child.pid for child in children)]
        (HERE / "part").write_text(" ".join(map(str, pids)))
        (HERE / "part").rename(HERE / f"pids-{name}")
        time.sleep(600)
    return lambda x: scale * (x @ WEIGHT)
"""


class Run:
    """A pytest run of its own, in a session of its own, whose workers hang."""

    def __init__(self, project, *arguments: str) -> None:
        self.project = project
        self.output = project.path / "output.txt"
        with self.output.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pytest", "--modelreg", "--modelreg-json=report.json", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=project.path,
                start_new_session=True,
            )

    def wait_for_workers(self, number: int) -> list[int]:
        """Wait until so many workers hang, and return the ids of all that they started."""
        deadline = time.monotonic() + 90
        while len(files := list(self.project.path.glob("pids-*"))) < number:
            assert self.process.poll() is None, self.output.read_text()
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.05)
        return [int(word) for file in files for word in file.read_text().split()]

    def send(self, number: signal.Signals, *, to_group: bool = False) -> int:
        """Send a signal and return how the run ended."""
        (os.killpg if to_group else os.kill)(self.process.pid, number)
        return self.process.wait(timeout=90)

    @property
    def is_gone(self) -> bool:
        """Whether nobody is left in its group: itself, and the processes of xdist."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def end(self) -> None:
        """End what is left of it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits for its parent's attention does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def wait_for_end(pids: list[int]) -> None:
    """Wait until none of some processes is left."""
    wait_until(lambda: not any(map(is_alive, pids)))


def list_work(project) -> list[Path]:
    """Return the folders that processes of any run work in."""
    return list(project.path.glob(".modelreg/runs/*/.work-*"))


@pytest.fixture
def hanging(recorded):
    """Two suites, each with a variant whose worker hangs, beside one that does not."""
    recorded.write("toymodel.py", HANGING)
    text = (recorded.path / "modelreg.yaml").read_text()
    variants = "variants:\n  one: {batch_size: 1}\n  hangs: {environment: {variables: {HANG: toy}}}\n"
    recorded.write("modelreg.yaml", text + variants)
    recorded.write(
        "other.modelreg.yaml",
        (text + variants).replace(": toy", ": other", 1).replace("HANG: toy", "HANG: other"),
    )
    assert recorded.pytest("--modelreg-regen=missing", "-k", "other and reference").ret == 0
    return recorded


@pytest.mark.parametrize(
    ("number", "to_group", "workers"),
    [
        (signal.SIGINT, False, 1),
        (signal.SIGTERM, False, 1),
        (signal.SIGINT, True, 2),
        (signal.SIGTERM, False, 2),
    ],
)
def test_an_interrupted_run_reports_and_leaves_nothing(hanging, number, to_group, workers):
    """Exit 2, a report that says that it is partial, no process, no work folder; the next run is fine."""
    run = Run(hanging, *(("-n", "2", "--dist", "loadfile") if workers == 2 else ()))
    try:
        pids = run.wait_for_workers(workers)
        assert run.send(number, to_group=to_group) == pytest.ExitCode.INTERRUPTED
    finally:
        run.end()
    wait_for_end(pids)
    assert list_work(hanging) == []
    report = json.loads((hanging.path / "report.json").read_text())
    assert report["run"]["partial"] is True
    assert {case["verdict"] for case in report["cases"]} == {"match"}
    assert "INTERNALERROR" not in run.output.read_text()
    (hanging.path / "stop-hanging").touch()
    assert {case["verdict"] for case in hanging.report()["cases"]} == {"match"}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_leaves_no_process_and_its_work_to_the_next(hanging, workers):
    """Nobody can clear up after himself then: what he started notices, and the next run finds the rest."""
    run = Run(hanging, *(("-n", "2", "--dist", "loadfile") if workers == 2 else ()))
    try:
        pids = run.wait_for_workers(workers)
        run.send(signal.SIGKILL)
    finally:
        run.end()
    wait_for_end(pids)
    wait_until(lambda: run.is_gone)  # xdist's own processes take a while to notice
    assert list_work(hanging)
    (hanging.path / "stop-hanging").touch()
    assert {case["verdict"] for case in hanging.report()["cases"]} == {"match"}
    assert list_work(hanging) == []
