"""The command that records and replaces goldens."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest


def test_records_what_is_missing_without_a_question(project):
    """A first recording replaces nothing, so it needs neither a reason nor a yes."""
    project.pin()
    result = project.modelreg("regen")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["toy[[]reference]: recorded from 6 samples: first recording"])
    assert project.pytest().ret == 0


def test_replacing_needs_a_reason(recorded):
    """Exit 2, nothing written."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.modelreg("regen", "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*reason*"])
    assert recorded.golden_bytes() == before


def test_script_without_yes_replaces_nothing(recorded):
    """Off a terminal nobody can answer, so nothing is replaced and the exit says so."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.modelreg("regen", "--reason", "scaled")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*drift*", "*add --yes*"])
    assert recorded.golden_bytes() == before


def test_script_with_yes_replaces(recorded):
    """What will change is shown first, then done."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.modelreg("regen", "toy[reference]", "--reason", "scaled", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*drift*", "toy[[]reference]: replaced from 6 samples: scaled"])
    assert recorded.pytest().ret == 0


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
def test_terminal_is_asked(recorded, answer, code):
    """On a terminal the user decides after seeing the change."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    before = recorded.golden_bytes()
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_modelreg", "regen", "--reason", "scaled"],
        cwd=recorded.path,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    os.write(leader, f"{answer}\n".encode())
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code, out
    assert "Replace 1 golden?" in out
    assert (recorded.golden_bytes() == before) is (answer == "n")


def test_match_leaves_every_byte(recorded):
    """Nothing to change is exit 0 and no write."""
    before = recorded.golden_bytes()
    result = recorded.modelreg("regen", "--reason", "nothing", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*match*left as it is*"])
    assert recorded.golden_bytes() == before


def test_ci_is_refused_with_exit_2(project):
    """C1 for the command: the variable named, nothing written."""
    project.pin()
    done = subprocess.run(
        [sys.executable, "-m", "pytest_modelreg", "regen"],
        cwd=project.path,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "CI=true" in done.stderr
    assert "--allow-ci" in done.stderr
    assert not (project.path / "golden").exists()


def test_unknown_target_names_the_nearest(recorded):
    """A misspelt id is a usage error, not an empty run."""
    result = recorded.modelreg("regen", "toy[referense]")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*did you mean toy[[]reference]*"])


def test_case_that_cannot_run_is_exit_3(recorded):
    """The other cases are carried out; the exit code says that one was not."""
    recorded.edit("toymodel.py", "scale * (x @ WEIGHT)", "1 / 0")
    assert recorded.modelreg("regen", "--reason", "x", "--yes").ret == 3


def test_killed_regeneration_leaves_old_or_new(recorded):
    """SIGKILL at many moments: the golden is one of the two, whole, and the next run works."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    folder = recorded.path / "golden/toy/reference"
    old = json.loads((folder / "golden.json").read_text(encoding="utf-8"))["outputs"]
    seen = set()
    for delay_s in (0.05, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8):
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest_modelreg", "regen", "--reason", "scaled", "--yes"],
            cwd=recorded.path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        outputs = json.loads((folder / "golden.json").read_text(encoding="utf-8"))["outputs"]
        for record in outputs.values():
            assert (folder / record["file"]).is_file()
        seen.add("old" if outputs == old else "new")
    assert recorded.modelreg("regen", "--reason", "scaled", "--yes").ret == 0
    assert recorded.pytest().ret == 0
    assert not [
        path for path in folder.iterdir() if path.name.startswith(".") and path.name != ".gitattributes"
    ]
    assert seen
