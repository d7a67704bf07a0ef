"""Progress on a real terminal, in a log, under -q and with workers."""

from __future__ import annotations

import importlib
import os
import pty
import subprocess
import sys

import pytest

SLOW = """
import time

import numpy as np


def build():
    def model(x):
        print("the model prints")
        time.sleep(0.3)
        return x @ np.ones((3, 4), np.float32)
    return model
"""


@pytest.fixture
def slow(project):
    """A recorded project whose every batch of one sample takes 0.3 s."""
    project.edit("modelreg.yaml", "batch_size: 4", "batch_size: 1")
    project.write("toymodel.py", SLOW.replace("time.sleep(0.3)", "pass"))
    project.record()
    project.write("toymodel.py", SLOW)
    return project


def run_on_terminal(project, *arguments: str) -> tuple[int, str]:
    """Run pytest with a pseudo-terminal as its output; return exit code and what was written."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--modelreg", "-p", "no:hypothesispytest", *arguments],
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm"},
    )
    os.close(follower)
    written = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the other side is closed: Linux says so by an error
            break
        if not chunk:
            break
        written += chunk
    os.close(leader)
    return process.wait(), written.decode()


def test_terminal_shows_one_live_line_and_wipes_it(slow):
    """Samples done, rate and time left; afterwards pytest goes on where it was."""
    code, text = run_on_terminal(slow)
    assert code == 0, text
    assert "toy[reference]: 3 of 6 samples" in text
    assert "/s, " in text
    assert " left" in text
    assert text.count("\x1b7") == 1
    lines = [line for line in text.replace("\r", "").split("\n") if "modelreg.yaml" in line]
    assert len(lines) == 1
    after = lines[0].rpartition("\x1b8\x1b[K")[2]
    assert "." in after
    assert "samples" not in after
    assert "the model prints" not in text


@pytest.mark.parametrize("arguments", [("-q",), ("-n", "1"), ("-p", "no:terminal")])
def test_nothing_where_nobody_asked(slow, arguments):
    """Quiet is quiet; workers have no terminal; without a terminal reporter nothing is written."""
    code, text = run_on_terminal(slow, *arguments)
    assert code == 0, text
    assert "of 6 samples" not in text


def test_log_of_a_short_case_has_no_progress(slow):
    """Output that is not a terminal gets whole lines only for cases that take long."""
    result = slow.pytester.runpytest_subprocess("--modelreg")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*of 6 samples*")
    assert "\x1b" not in result.stdout.str()


def test_log_of_a_long_case_has_whole_lines(slow, monkeypatch):
    """In a CI log a long case says how far it is, in lines of their own."""
    # Not `from ... import`: pytester drops modules of inner runs, the package keeps their names.
    progress = importlib.import_module("pytest_modelreg.plugin.progress")
    monkeypatch.setattr(progress, "PLAIN_AFTER_S", 0.0)
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0.5)
    result = slow.pytest()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["toy[[]reference]: * of 6 samples, */s, * s left", "*[[]100%]"])


def test_command_shows_progress_on_standard_error(slow):
    """`modelreg regen` keeps standard output for what it found."""
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "pytest_modelreg", "regen"],
        cwd=slow.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=follower,
        text=True,
        check=True,
    )
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert "of 6 samples" in shown
    assert shown.endswith("\r\x1b[K")
    assert "of 6 samples" not in done.stdout
