"""``modelreg env``: the present environment, and what two recorded ones differ in."""

from __future__ import annotations

import json
import os

import pytest

FACTS = 'def pytest_modelreg_fingerprint(config):\n    return {"shop.revision": REVISION}\n'


@pytest.fixture
def two_runs(project):
    """A golden, then a run in another environment that drifts, with its report in ``run/``."""
    project.write("conftest.py", FACTS.replace("REVISION", "1"))
    project.record()
    project.edit("conftest.py", ": 1", ": 2")
    project.edit("toymodel.py", "scale=1.0", "scale=1.2")
    project.pytest("--modelreg-run-dir=run")
    return project


def test_present_environment_is_a_table(project):
    """Facts, reasons of unknown ones, and neutral ones marked."""
    result = project.modelreg("env")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "environment ????????????????",
            "*os.release *neutral",
            "*python.version *",
            "*torch.num_threads *[0-9]*",
        ]
    )
    result.stdout.fnmatch_lines(["*gpu.name *unknown: *"])
    assert "importing torch" in result.stderr.str()


def test_present_environment_as_json(project):
    """Strict JSON on standard output, nothing else."""
    project.write("conftest.py", FACTS.replace("REVISION", "1"))
    found = json.loads(project.modelreg("env", "--json").stdout.str())
    assert found["shop.revision"] == 1
    assert found["torch.num_threads"]
    assert found["gpu.name"] is None
    assert found["gpu.name_reason"]
    assert "os.release" in found["neutral"]


def test_pipe_is_refused(project):
    """Reading one would wait for whoever writes it."""
    os.mkfifo(project.path / "pipe")
    result = project.modelreg("env", "--diff", "pipe", timeout=60)
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*pipe: expected *got a pipe, a device or a socket"])


def test_golden_and_now_agree_where_nothing_changed(project):
    """The packages that the golden's run had loaded are loaded; a toy without torch waits for none."""
    project.pin()
    project.modelreg("regen")  # in a process of its own: this one may have loaded torch
    result = project.modelreg("env", "--diff", "golden/toy/reference")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["nothing that can move a number differs"])
    assert "importing" not in result.stderr.str()


def test_golden_of_a_torch_model_and_now_agree(project):
    """Facts that only a loaded torch tells are known on both sides."""
    project.write(
        "toymodel.py",
        "import torch\n\ndef build():\n    torch.manual_seed(0)\n    return torch.nn.Linear(3, 4)\n",
    )
    project.pin()
    assert project.modelreg("regen").ret == 0
    result = project.modelreg("env", "--diff", "golden/toy/reference", "now")
    assert result.ret == 0, result.stdout.str()
    assert "importing torch" in result.stderr.str()


def test_fact_of_the_project_differs_from_now(two_runs):
    """Exit 1, with key and both sides."""
    two_runs.edit("conftest.py", ": 2", ": 3")
    result = two_runs.modelreg("env", "--diff", "golden/toy/reference")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*fact*golden/toy/reference*now", "*shop.revision*1*3"])
    assert "python.version" not in result.stdout.str()


@pytest.mark.parametrize("expected", ["golden/toy/reference", "golden/toy/reference/golden.json"])
@pytest.mark.parametrize(
    "actual",
    ["run", "run/report.json", "run/toy[reference]", "run/toy[reference]/observation.json"],
)
def test_records_of_every_kind_are_compared(two_runs, expected, actual):
    """Golden, run, report and observation, by folder and by file; nothing is imported for it."""
    result = two_runs.modelreg("env", "--diff", expected, actual)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*shop.revision*1*2"])
    assert result.stderr.str() == ""


def test_difference_as_json(two_runs):
    """For scripts."""
    result = two_runs.modelreg("env", "--diff", "golden/toy/reference", "run", "--json")
    assert result.ret == 1
    assert json.loads(result.stdout.str()) == {
        "moving": [{"key": "shop.revision", "expected": 1, "actual": 2}],
        "neutral": [],
        "unshared": [],
    }


def test_neutral_difference_exits_with_0(recorded):
    """A kernel update alone is no reason to look at anything."""
    text = (recorded.path / "golden/toy/reference/golden.json").read_text(encoding="utf-8")
    fields = json.loads(text)
    fields["fingerprint"]["facts"]["os.release"] = "0.0"
    fields["modelreg_golden"] = 1  # of an earlier release, which had no digest of the file itself
    del fields["modelreg_sha256"]
    recorded.write("other.json", json.dumps(fields))
    result = recorded.modelreg("env", "--diff", "other.json", "golden/toy/reference")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["nothing that can move*", "*cannot move a number:", "*", "*os.release*0.0*"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "found nothing there"),
        (["golden"], "name one"),
        (["samples"], "without any of golden.json, report.json, observation.json"),
        (["modelreg.yaml"], "no strict JSON object"),
        (["samples/s0.json"], "no strict JSON object"),
        (["other.json"], "JSON without any of modelreg_golden"),
        (["damaged.json"], "damaged"),
        (["broken.json"], "broken.json"),
        (["now", "now", "now"], "one environment or two, got 3"),
    ],
)
def test_what_is_no_environment_is_bad_usage(recorded, words, said):
    """Exit 2, one line that says what was expected."""
    recorded.write("other.json", "{}")
    recorded.write("damaged.json", '{"modelreg_report": 1, "environment": {"a.b": []}}')
    recorded.write("broken.json", '{"modelreg_golden": 1}')
    result = recorded.modelreg("env", "--diff", *words)
    assert result.ret == 2
    assert said in result.stderr.str()
    assert "Traceback" not in result.stderr.str()
    assert result.stdout.str() == ""


def test_faulty_facts_of_the_project_are_bad_usage(project):
    """The same faults as under pytest, exit 2."""
    project.write(
        "conftest.py", 'def pytest_modelreg_fingerprint(config):\n    return {"Rev": 1, "a.b": []}\n'
    )
    result = project.modelreg("env")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*pytest_modelreg_fingerprint: Rev: expected*", "*a.b: expected*"])


def test_project_in_which_pytest_cannot_start_is_bad_usage(project):
    """Facts that could not be asked for must not be left out silently."""
    project.write("conftest.py", "raise RuntimeError('no database')\n")
    result = project.modelreg("env")
    assert result.ret == 2
    assert "no database" in result.stderr.str()


def test_regenerated_golden_has_the_facts_from_any_folder(project):
    """A golden recorded by the command carries what one recorded by pytest does, wherever it was typed."""
    project.write("pytest.ini", "[pytest]\ntestpaths = tests\n")
    project.write("tests/conftest.py", FACTS.replace("REVISION", "7"))
    project.pin()
    assert project.modelreg("regen", str(project.path)).ret == 0
    golden = json.loads((project.path / "golden/toy/reference/golden.json").read_text(encoding="utf-8"))
    assert golden["fingerprint"]["facts"]["shop.revision"] == 7
