"""A run inside a job of GitHub Actions: recorded environments, one summary, annotations at their lines."""

from __future__ import annotations

import pytest

VARIANTS = """
variants:
  scaled:
    preprocess: "toydata:scaled"
"""

SCALED = """

def scaled(sample):
    return prepare(sample) * np.float32(1.2)
"""


@pytest.fixture
def job(recorded, monkeypatch):
    """The project as a checked-out repository, with the variables that a step of a job gets."""
    workspace = recorded.path
    variables = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_STEP_SUMMARY": str(workspace.parent / f"{workspace.name}_step_summary"),
        "GITHUB_WORKFLOW": "models",
        "GITHUB_JOB": "compare",
        "GITHUB_RUN_ID": "1234567890",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_REPOSITORY": "octo/shop",
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_SHA": "f" * 40,
        "GITHUB_EVENT_NAME": "pull_request",
        "RUNNER_OS": "Linux",
        "CI": "true",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    source = (recorded.path / "toydata.py").read_text(encoding="utf-8")
    recorded.write("toydata.py", source + SCALED)
    suite = (recorded.path / "modelreg.yaml").read_text(encoding="utf-8")
    recorded.write("modelreg.yaml", suite + VARIANTS)
    return recorded


def read_summary(project):
    """Return the step's summary, None where there is none."""
    path = project.path.parent / f"{project.path.name}_step_summary"
    return path.read_text(encoding="utf-8") if path.exists() else None


def list_commands(result):
    """Return the workflow commands of a run's output."""
    return [line for line in result.outlines if line.startswith("::")]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_drift_is_told_once_at_the_line_of_its_variant(job, workers):
    """Workers have the same environment, and say nothing."""
    result = job.pytester.runpytest_subprocess("--modelreg", *workers)
    line = (job.path / "modelreg.yaml").read_text(encoding="utf-8").splitlines().index("  scaled:") + 1
    (command,) = list_commands(result)
    assert command.startswith(f"::error file=modelreg.yaml,line={line},title=toy[scaled]%3A drift::")
    assert "logits rel_l2 0.2 > 1e-05 in 6 of 6 samples" in command
    summary = read_summary(job)
    assert summary is not None
    assert summary.count("## modelreg:") == 1
    assert "## modelreg: 1 match, 1 drift" in summary


def test_summary_is_the_one_of_the_markdown_flag(job):
    """The same text, without a flag."""
    job.pytest("--modelreg-markdown=pr.md")
    assert read_summary(job) == (job.path / "pr.md").read_text(encoding="utf-8")


def test_summaries_of_two_runs_of_a_step_stand_one_behind_the_other(job):
    """None overwrites what a step wrote before."""
    job.pytest("-k", "reference")
    job.pytest("-k", "scaled")
    summary = read_summary(job)
    assert summary is not None
    assert summary.index("## modelreg: 1 match") < summary.index("\n\n## modelreg: 1 drift")


def test_green_run_annotates_nothing(job):
    """Its summary is one line of counts."""
    result = job.pytest("-k", "reference")
    assert list_commands(result) == []
    assert "## modelreg: 1 match" in (read_summary(job) or "")


@pytest.mark.parametrize("variables", [{}, {"GITHUB_ACTIONS": ""}, {"GITHUB_ACTIONS": "false"}])
def test_nothing_is_told_outside_of_a_job(job, monkeypatch, variables):
    """Also where a summary file is named."""
    monkeypatch.delenv("GITHUB_ACTIONS")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert list_commands(job.pytest()) == []
    assert read_summary(job) is None


def test_ini_setting_switches_it_off(job):
    """For a project that tells in another way."""
    job.write("pytest.ini", "[pytest]\nmodelreg_github = false\n")
    assert list_commands(job.pytest()) == []
    assert read_summary(job) is None


def test_runs_without_modelreg_are_left_alone(job):
    """Comparing is off: nothing of ours is in the job."""
    job.write("test_other.py", "def test_other():\n    assert False\n")
    result = job.pytester.runpytest_inprocess("test_other.py")
    assert list_commands(result) == []
    assert read_summary(job) is None


def test_unwritable_summary_is_a_warning_and_no_failure(job, monkeypatch):
    """The run keeps its own verdict, strict or not."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(job.path / "nowhere" / "summary"))
    result = job.pytest("-k", "reference", "--modelreg-strict")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning: the step's summary was not written: GITHUB_STEP_SUMMARY=*"])
    (command,) = list_commands(result)
    assert command.startswith("::warning title=modelreg::the step's summary was not written")


def test_orphan_is_a_warning_there(job):
    """As on the terminal."""
    job.edit("modelreg.yaml", 'preprocess: "toydata:scaled"', 'preprocess: "toydata:scaled"\n    golden: own')
    job.pytest("--modelreg-regen=missing", "--modelreg-allow-ci")
    job.edit(
        "modelreg.yaml",
        VARIANTS.strip("\n").replace('"toydata:scaled"', '"toydata:scaled"\n    golden: own'),
        "",
    )
    lead, named = list_commands(job.pytest())
    assert lead.startswith("::warning title=modelreg::1 golden that no case has; ")
    assert named == "::warning title=modelreg::golden/toy/scaled"


def test_python_test_is_annotated_at_its_own_line(job):
    """Where somebody can change it."""
    job.write(
        "tests/test_values.py",
        "import numpy as np\n\n\ndef test_it(modelreg):\n    modelreg.check(np.ones(3, 'f4'), name='v')\n",
    )
    result = job.pytest("tests/test_values.py")
    (command,) = list_commands(result)
    assert command.startswith(
        "::error file=tests/test_values.py,line=4,title=py[tests/test_values.py%3A%3Atest_it"
    )
    assert "missing::" in command


def test_suite_in_a_folder_is_named_from_the_repository(job):
    """pytest's root folder may be another one."""
    root = job.path / "models" / "toy"
    root.mkdir(parents=True)
    for name in ("modelreg.yaml", "toymodel.py", "toydata.py", "labels.txt", "samples", "golden"):
        (job.path / name).rename(root / name)
    job.write("models/pytest.ini", "[pytest]\n")
    (command,) = list_commands(job.pytest("models", "-k", "scaled"))
    assert command.startswith("::error file=models/toy/modelreg.yaml,line=")


def test_run_in_which_nothing_was_compared_is_told(job):
    """A summary without a word would read as a clean one."""
    result = job.pytest("-k", "nothing")
    (command,) = list_commands(result)
    assert command.startswith("::warning title=modelreg::no case was run")
    assert "## modelreg: nothing was compared" in (read_summary(job) or "")


def test_hostile_sample_id_stays_in_its_message(job):
    """A name of a file is no workflow command."""
    table = (job.path / "samples/samples.csv").read_text(encoding="utf-8")
    job.write("samples/samples.csv", table.replace("s1,", '"%0A::error::x, line=1",', 1))
    commands = list_commands(job.pytest("-k", "reference"))
    assert len(commands) == 1
    assert commands[0].startswith("::error file=modelreg.yaml,line=5,title=toy[reference]%3A stale::")
    assert "%250A::error::x, line=1" in commands[0]


def test_terminal_that_is_switched_off_leaves_the_summary(job):
    """-p no:terminal prints nothing, of ours neither."""
    result = job.pytester.runpytest_subprocess("--modelreg", "-p", "no:terminal")
    assert list_commands(result) == []
    assert "1 drift" in (read_summary(job) or "")
