"""``action.yml``: its shell lines run as a runner runs them, and no input is ever a part of a script."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
SCRIPTS = [step for step in STEPS if "run" in step]

HOSTILE = "\"; touch pwned; $(touch pwned) `touch pwned` ' && touch pwned \\ * ?"

FAKE_PYTHON = f"""#!{sys.executable}
import json, pathlib, sys
with open(pathlib.Path(__file__).with_name("calls.jsonl"), "a") as stream:
    stream.write(json.dumps(sys.argv[1:]) + "\\n")
sys.exit(sys.argv[1] == "-c")
"""


def find_unsafe(steps):
    """Return the names of steps whose script has an expression in it."""
    return [step["name"] for step in steps if "${{" in step.get("run", "")]


def test_no_script_has_an_expression_in_it():
    """What is written into a script is run: the name of a branch would be a command."""
    assert find_unsafe(STEPS) == []


def test_expression_in_a_script_is_found():
    """The rule's own planted fault."""
    assert find_unsafe([{"name": "bad", "run": 'echo "${{ inputs.args }}"'}]) == ["bad"]


def test_every_input_is_declared_with_a_default_and_used():
    """A misspelt one would be empty without a word."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    assert all(isinstance(spec["default"], str) and spec["description"] for spec in ACTION["inputs"].values())


def test_every_variable_of_a_script_is_set_for_it():
    """By the step or by the runner."""
    runners = {"GITHUB_ACTION_PATH", "GITHUB_OUTPUT", "RUNNER_TEMP"}
    for step in SCRIPTS:
        used = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", step["run"]))
        assert used <= set(step["env"]) | runners, step["name"]
        assert step["shell"] == "bash"


def test_every_variable_is_quoted():
    """Unquoted, a space in a path would be two arguments."""
    for step in SCRIPTS:
        for line in step["run"].splitlines():
            commands = re.sub(r'"\$\(([^()]*)\)"', r"\1", re.sub(r"'[^']*'", "", line))
            assert "$" not in re.sub(r'"[^"]*"', "", commands), line


def test_run_folder_is_kept_by_the_upload_step():
    """Where the comparison left it, as an artifact that review can read."""
    (upload,) = (step for step in STEPS if "uses" in step)
    assert upload["uses"].startswith("actions/upload-artifact@v")
    assert upload["with"]["path"] == "${{ steps.compare.outputs.run-dir }}"
    assert "always()" in upload["if"]


def test_installed_package_is_used_as_it_is(runner):
    """Nothing is installed where the project did."""
    ran = runner.step("Install", {"python": sys.executable})
    assert ran.code == 0, ran.text
    assert ran.text.startswith("modelreg ")


@pytest.fixture
def fake(tmp_path):
    """An interpreter that only notes how it is called, in a folder whose name needs quoting."""
    folder = tmp_path / "a $HOME `b`"
    folder.mkdir()
    path = folder / "python"
    path.write_text(FAKE_PYTHON, encoding="utf-8")
    path.chmod(0o755)
    return path


def list_calls(fake):
    """Return the arguments of every call."""
    lines = fake.with_name("calls.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_package_that_is_missing_is_installed_from_the_action(runner, fake):
    """The release of the action, by the project's interpreter."""
    assert runner.step("Install", {"python": str(fake)}).code == 0
    assert list_calls(fake)[1] == ["-m", "pip", "install", "--quiet", str(ROOT)]


@pytest.mark.parametrize("step", ["Verify", "Precheck", "Compare"])
def test_hostile_inputs_are_arguments_and_nothing_else(runner, fake, step):
    """Quotes, substitutions, globs: each arrives as it was written, and nothing of it is run."""
    inputs = {
        "python": str(fake),
        "suites": f"{HOSTILE}\r\n\n a b \n",
        "args": HOSTILE,
        "base": HOSTILE,
        "strict": HOSTILE,
        "keep-outputs": HOSTILE,
    }
    ran = runner.step(step, inputs)
    assert ran.code == 0, ran.text
    (call,) = list_calls(fake)
    assert call[-2:] == [HOSTILE, " a b "]
    assert not list(runner.folder.rglob("pwned"))
    if step == "Precheck":
        assert call[2:4] == ["precheck", f"--base={HOSTILE}"]
    if step == "Compare":
        assert call[:2] == ["-m", "pytest"]
        assert call[-3] == HOSTILE


@pytest.mark.parametrize("step", ["Verify", "Precheck", "Compare"])
def test_option_among_suites_is_refused(runner, fake, step):
    """It would do what nobody who named a suite asked for."""
    ran = runner.step(step, {"python": str(fake), "suites": "modelreg.yaml\n--modelreg-regen=all"})
    assert ran.code == 2
    assert "options go into args" in ran.text
    assert not fake.with_name("calls.jsonl").exists()


@pytest.mark.parametrize("suites", ["", "modelreg.yaml\n"])
def test_green_project_passes_every_step(runner, suites):
    """The steps as they are, one after the other."""
    for step in ("Install", "Verify", "Precheck", "Compare"):
        ran = runner.step(step, {"suites": suites, "args": "-p\nno:cacheprovider"})
        assert ran.code == 0, ran.text
    assert "## modelreg: 1 match" in runner.summary.read_text(encoding="utf-8")


def test_damaged_golden_fails_the_verification(runner):
    """Before any model is run."""
    (array,) = (runner.folder / "golden/toy/reference").glob("outputs.*.npy")
    array.write_bytes(b"")
    assert runner.step("Verify").code == 3


def test_drift_fails_the_precheck(runner, recorded):
    """A pipeline that makes other inputs."""
    recorded.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(1.5)")
    ran = runner.step("Precheck")
    assert ran.code == 1, ran.text


def test_drift_leaves_a_run_folder_that_is_reviewed_elsewhere(runner, recorded):
    """The step fails, names its folder, and what is in it is enough, under any name."""
    recorded.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(1.5)")
    ran = runner.step("Compare", {"keep-outputs": "true"})
    assert ran.code == 1
    assert "::error file=modelreg.yaml,line=" in ran.text
    artifact = Path(shutil.move(ran.outputs["run-dir"], runner.temp / "downloaded"))
    # What an upload refuses in names, and passes over.
    names = [path.relative_to(artifact).as_posix() for path in artifact.rglob("*")]
    assert names
    assert not [name for name in names if re.search(r'["<>:|*?\r\n\\]', name) or name.startswith(".")]
    review = recorded.modelreg("review", str(artifact))
    assert review.ret == 1
    review.stdout.fnmatch_lines(["toy?reference?: drift: *"])
    assert (
        recorded.modelreg(
            "rejudge", str(artifact), "--checks", "rel_l2=1", "--checks", "top1_agreement=0"
        ).ret
        == 0
    )


def test_strict_fails_where_nothing_was_compared(runner):
    """And a project that wants less says so."""
    nothing = {"args": "-k\nnothing"}
    assert runner.step("Compare", nothing).code == 1
    assert runner.step("Compare", nothing | {"strict": "false"}).code == 5
