"""The axis `environment` from outside: another process's code, variables and packages, judged here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

VARIANTS = """
variants:
  same: {environment: {variables: {NOTHING_READS_THIS: 1}}}
"""

BRANCHING = """
import os
import numpy as np

WEIGHT = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def build(scale=1.0):
    gain = 1.01 if os.environ.get("KERNELS") == "fast" else 1.0
    return lambda x: np.float32(gain) * (x @ WEIGHT)
"""


def git(folder: Path, *arguments: str) -> None:
    """Run git with an identity of its own."""
    settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


def cases_of(project, *arguments):
    """Run all cases and return their records by variant."""
    return {case["variant"]: case for case in project.report(*arguments)["cases"]}


def test_a_variable_that_moves_numbers_is_drift_that_leads_with_it(project):
    """The planted variable drifts, naming itself first; the one that nobody reads is a match."""
    project.write("toymodel.py", BRANCHING)
    project.record()
    project.write(
        "modelreg.yaml",
        (project.path / "modelreg.yaml").read_text()
        + VARIANTS
        + "  fast: {environment: {variables: {KERNELS: fast, ONEDNN_MAX_CPU_ISA: avx2}}}\n",
    )
    cases = cases_of(project)
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "reference": "match",
        "same": "match",
        "fast": "drift",
    }
    message = cases["fast"]["message"]
    assert message.startswith("environment differs (env.ONEDNN_MAX_CPU_ISA none -> avx2")
    assert "rel_l2 1.0e-02 > 1e-05 in 6 of 6 samples" in message
    assert {"key": "env.ONEDNN_MAX_CPU_ISA", "expected": None, "actual": "avx2"} in cases["fast"][
        "environment_changes"
    ]


def test_both_fingerprints_are_on_record(recorded):
    """The golden's and the other environment's: a match of the two is one note."""
    recorded.write(
        "modelreg.yaml",
        (recorded.path / "modelreg.yaml").read_text()
        + "variants: {one: {environment: {variables: {PYTHONHASHSEED: 7}}}}\n",
    )
    case = cases_of(recorded)["one"]
    assert case["verdict"] == "match"
    assert [note for note in case["notes"] if "PYTHONHASHSEED none -> 7" in note]


def test_only_python_code_comes_from_a_revision(recorded):
    """The old model is run on the samples and the golden of here; the checkout stays as it is."""
    folder = recorded.path
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "as recorded")
    recorded.edit("toymodel.py", "scale * (x", "1.01 * scale * (x")
    recorded.write(
        "modelreg.yaml",
        (folder / "modelreg.yaml").read_text() + "variants: {main: {environment: {revision: main}}}\n",
    )
    cases = cases_of(recorded)
    assert (cases["reference"]["verdict"], cases["main"]["verdict"]) == ("drift", "match")
    answer = subprocess.run(
        ["git", "worktree", "list"], cwd=folder, check=True, capture_output=True, text=True
    )
    assert len(answer.stdout.splitlines()) == 1
    assert "1.01" in (folder / "toymodel.py").read_text()


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ("{python: no/such/python}", "which does not exist"),
        ("{python: ./modelreg.yaml}", "modelreg.yaml"),
        ("{revision: nowhere}", "revision needs a git repository around"),
        ("{requirements: [no-such-package-of-anybody==1.0]}", "no-such-package-of-anybody"),
    ],
)
def test_an_environment_that_cannot_be_had_is_an_error_of_its_case(recorded, environment, told):
    """The others go on; nothing is left behind."""
    recorded.write(
        "modelreg.yaml",
        (recorded.path / "modelreg.yaml").read_text()
        + f"variants:\n  bad: {{environment: {environment}}}\n  one: {{batch_size: 1}}\n",
    )
    cases = cases_of(recorded)
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "reference": "match",
        "bad": "error",
        "one": "match",
    }
    assert told in cases["bad"]["message"]


def test_a_crash_and_a_hang_are_errors_of_their_cases(recorded):
    """With how the process ended; the run goes on."""
    recorded.edit(
        "toymodel.py",
        "def build(scale=1.0):\n",
        "import os, time\n\n\ndef build(scale=1.0):\n"
        "    if os.environ.get('CRASH'):\n        os.abort()\n"
        "    if os.environ.get('HANG'):\n        time.sleep(600)\n",
    )
    recorded.write(
        "modelreg.yaml",
        (recorded.path / "modelreg.yaml").read_text()
        + "variants:\n"
        + "  crash: {environment: {variables: {CRASH: 1}}}\n"
        + "  hang: {environment: {variables: {HANG: 1}, time_limit_s: 5}}\n"
        + "  one: {batch_size: 1}\n",
    )
    cases = cases_of(recorded)
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "reference": "match",
        "crash": "error",
        "hang": "error",
        "one": "match",
    }
    assert "killed by SIGABRT" in cases["crash"]["message"]
    assert "no answer within 5 s" in cases["hang"]["message"]


def test_an_environment_without_torch_runs_what_needs_none(recorded):
    """A numpy callable, in an environment of numpy alone, built once."""
    recorded.write(
        "modelreg.yaml",
        (recorded.path / "modelreg.yaml").read_text()
        + "variants: {bare: {environment: {requirements: [numpy]}}}\n",
    )
    case = cases_of(recorded)["bare"]
    assert case["verdict"] == "match", case["message"]


def test_a_golden_can_be_recorded_elsewhere(project):
    """`golden: own` of an environment; regenerating twice changes no byte."""
    project.write(
        "modelreg.yaml",
        (project.path / "modelreg.yaml").read_text()
        + "variants: {own: {environment: {variables: {KERNELS: fast}}, golden: own}}\n",
    )
    project.write("toymodel.py", BRANCHING)
    project.record()
    before = project.golden_bytes()
    assert any(name.startswith("golden/toy/own/trace.inputs") for name in before)
    assert {case["verdict"] for case in project.report()["cases"]} == {"match"}
    project.pytest("--modelreg-regen=changed", "--modelreg-reason=again")
    assert project.golden_bytes() == before


def test_the_header_and_workers_take_environments(recorded):
    """Under `-n 2` each case still has one record, and the same verdict."""
    recorded.write("modelreg.yaml", (recorded.path / "modelreg.yaml").read_text() + VARIANTS)
    result = recorded.pytester.run(sys.executable, "-m", "pytest", "--modelreg", "-n", "2")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*2 match*"])


def test_code_that_the_revision_lacks_never_comes_from_the_checkout(recorded, monkeypatch):
    """Neither through the working folder nor through an installation that points here: an error, no match."""
    folder = recorded.path
    recorded.write("src/late.py", "GAIN = 1.0\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A", ":!src")
    git(folder, "commit", "-q", "-m", "before late.py")
    recorded.write("late.py", "GAIN = 1.0\n")
    recorded.edit("toymodel.py", "import numpy as np\n", "import numpy as np\nimport late\n")
    git(folder, "add", "toymodel.py")
    git(folder, "commit", "-q", "-m", "late.py was forgotten")
    recorded.write(
        "modelreg.yaml",
        (folder / "modelreg.yaml").read_text() + "variants: {main: {environment: {revision: main}}}\n",
    )
    case = cases_of(recorded)["main"]
    assert case["verdict"] == "error"
    assert "No module named 'late'" in case["message"]
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))  # what an editable installation does
    case = cases_of(recorded)["main"]
    assert case["verdict"] == "error"
    assert f"late ({folder / 'src/late.py'}) from the checkout" in case["message"]
