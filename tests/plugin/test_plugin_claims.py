"""Goldens that no case has any more: told by a whole run, and only by a whole one."""

from __future__ import annotations

import shutil
import subprocess

import pytest

TESTS = """
import numpy as np
import pytest


@pytest.mark.parametrize("size", [1, 2])
def test_size(modelreg, size):
    modelreg.check(np.ones(size, "f4"), name="v")


def test_more(modelreg):
    modelreg.check(np.ones(3, "f4"), name="a")
    modelreg.check(np.ones(3, "f4"), name="b")
"""


@pytest.fixture
def whole(project):
    """A project with a suite and Python tests, all recorded."""
    project.write("test_it.py", TESTS)
    project.write("pytest.ini", "[pytest]\n")
    project.pin()
    project.pytest("--modelreg-regen=missing").assert_outcomes(passed=4)
    return project


def orphans(result):
    """Return the goldens that a run named as orphans."""
    lines = result.stdout.str().splitlines()
    return [
        line.split(": ", 1)[1] for line in lines if line.startswith(("warning: golden/", "error: golden/"))
    ]


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_parameter_that_is_gone_leaves_one_orphan(whole, workers):
    """Named with its path; a warning, or in a strict run a failure."""
    whole.edit("test_it.py", "[1, 2]", "[1]")
    result = whole.pytester.runpytest("--modelreg", workers)
    result.assert_outcomes(passed=3)
    assert orphans(result) == ["golden/py/test_it/test_size[2]/v"]
    assert result.ret == 0
    strict = whole.pytester.runpytest("--modelreg", "--modelreg-strict", workers)
    strict.stdout.fnmatch_lines(["error: 1 golden that no case has; *modelreg prune"])
    assert strict.ret == 1


def test_variant_that_is_gone_leaves_one_orphan(whole):
    """Its golden is the suite's, so the suite file tells."""
    shutil.copytree(whole.path / "golden/toy/reference", whole.path / "golden/toy/old")
    assert orphans(whole.pytest()) == ["golden/toy/old"]


def test_check_that_is_gone_leaves_one_orphan(whole):
    """The test is still there and passed, without it."""
    whole.edit("test_it.py", '    modelreg.check(np.ones(3, "f4"), name="b")\n', "")
    assert orphans(whole.pytest()) == ["golden/py/test_it/test_more/b"]


def test_whole_file_that_is_gone_is_found(whole):
    """Nothing of it is collected, so nothing else could tell."""
    (whole.path / "test_it.py").unlink()
    assert len(orphans(whole.pytest())) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["-k", "size"],
        ["-m", "modelreg", "--deselect", "test_it.py::test_more"],
        ["test_it.py::test_more"],
        ["test_it.py"],
        ["modelreg.yaml"],
    ],
)
def test_partial_run_gives_no_verdict(whole, arguments):
    """What it did not run, it cannot miss."""
    shutil.copytree(whole.path / "golden/toy/reference", whole.path / "golden/toy/old")
    assert orphans(whole.pytest(*arguments)) == []


def test_run_that_stops_gives_no_verdict(whole):
    """-x leaves tests out."""
    whole.edit("test_it.py", "np.ones(size", "7 * np.ones(size")
    shutil.copytree(whole.path / "golden/toy/reference", whole.path / "golden/toy/old")
    assert orphans(whole.pytest("-x")) == []


@pytest.mark.parametrize(
    "change",
    ["    pytest.skip('not today')\n", "    pytest.xfail('known')\n", "    raise RuntimeError('broken')\n"],
)
def test_test_that_did_not_come_to_its_checks_keeps_its_goldens(whole, change):
    """Skipped, expected to fail or in error is not gone."""
    whole.edit("test_it.py", "def test_more(modelreg):\n", f"def test_more(modelreg):\n{change}")
    assert orphans(whole.pytest()) == []


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
@pytest.mark.parametrize(
    ("change", "arguments"),
    [
        ("import pytest\npytest.skip('no gpu', allow_module_level=True)\n", ()),
        ("import pytest\npytest.importorskip('no_such_module')\n", ()),
        ("", ("--ignore=test_it.py",)),
        ("", ("--ignore-glob=test_i*",)),
        ("", ("--override-ini=testpaths=tests modelreg.yaml",)),
    ],
)
def test_file_that_was_not_collected_keeps_its_goldens(whole, change, arguments, workers):
    """Neither the run nor the command that prunes may take them for gone."""
    text = (whole.path / "test_it.py").read_text(encoding="utf-8")
    whole.write("test_it.py", change + text)
    whole.write("tests/test_other.py", "def test_other():\n    pass\n")
    result = whole.pytester.runpytest("--modelreg", workers, *arguments)
    result.assert_outcomes(passed=2, skipped=1 if change else 0)
    assert orphans(result) == []
    assert whole.modelreg("prune", "--yes").ret == 0
    assert len(list((whole.path / "golden/py").rglob("golden.json"))) == 4


def test_file_that_was_renamed_leaves_its_goldens_behind(whole):
    """Its tests have other goldens now."""
    (whole.path / "test_it.py").rename(whole.path / "test_new.py")
    assert len(orphans(whole.pytest("--modelreg-regen=missing"))) == 4


def test_pruning_takes_what_the_last_whole_run_left(whole):
    """The command knows what the run knew, and removes only that."""
    whole.edit("test_it.py", "[1, 2]", "[1]")
    whole.pytest()
    assert whole.modelreg("prune", "--yes", "--untracked").ret == 0
    assert not (whole.path / "golden/py/test_it/test_size[2]").exists()
    whole.pytest().assert_outcomes(passed=3)


def test_golden_above_its_budget_is_a_warning(whole):
    """Once a run, with the ways out."""
    whole.edit("modelreg.yaml", "reference:", "golden_budget_mb: 0.0001\nreference:")
    result = whole.pytest()
    result.stdout.fnmatch_lines(["warning: *toy*budget*"])
    assert result.ret == 0


def commit(project, *words):
    """Commit everything; words come before."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in ([*words] if words else ["status"], ["add", "-A"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=project.path, check=True, capture_output=True)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_branch_that_was_switched_since_the_run_keeps_its_goldens(whole, workers):
    """A test was called otherwise there: the run on record knows nothing of the one that is here now."""
    whole.write(".gitignore", "__pycache__\n.modelreg\n")
    commit(whole, "init", "-q", "-b", "first")
    whole.edit("test_it.py", "test_more", "test_other")
    commit(whole, "checkout", "-q", "-b", "second")
    whole.pytester.runpytest("--modelreg", workers)
    listed = whole.modelreg("prune", "--dry-run").stdout.str()
    assert "golden/py/test_it/test_more/a" in listed
    subprocess.run(["git", "checkout", "-q", "first"], cwd=whole.path, check=True)
    whole.pytest("test_it.py::test_more").assert_outcomes(passed=1)
    result = whole.modelreg("prune", "--yes", "--untracked")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "2 goldens of Python tests kept: *not known; to know, run: pytest --modelreg",
            "  2: test_it.py changed since the run",
            "every other golden has its case",
        ]
    )
    whole.pytest().assert_outcomes(passed=4)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
@pytest.mark.parametrize("left", ["nothing", "another test"])
def test_last_test_that_is_gone_leaves_orphans(whole, left, workers):
    """No case is run any more, and no run folder was needed for one."""
    (whole.path / "modelreg.yaml").unlink()
    shutil.rmtree(whole.path / "golden/toy")
    shutil.rmtree(whole.path / ".modelreg")
    (whole.path / "test_it.py").unlink()
    if left == "another test":
        whole.write("test_it.py", "def test_nothing():\n    pass\n")
    result = whole.pytester.runpytest("--modelreg", "--modelreg-strict", workers)
    assert len(orphans(result)) == 4
    assert whole.modelreg("prune").ret == 1
    assert whole.modelreg("prune", "--yes", "--untracked").ret == 0
    assert not list((whole.path / "golden").rglob("golden.json"))
    last = whole.modelreg("prune")
    last.stdout.fnmatch_lines(["every golden has its case"])


@pytest.mark.parametrize("arguments", [["-k", "nothing"], ["test_other.py"], ["--collect-only"]])
def test_partial_run_without_a_case_leaves_no_record(whole, arguments):
    """It would make orphans of everything."""
    (whole.path / "modelreg.yaml").unlink()
    shutil.rmtree(whole.path / ".modelreg")
    whole.write("test_other.py", "def test_other():\n    pass\n")
    assert orphans(whole.pytest(*arguments)) == []
    assert not list(whole.path.glob(".modelreg/runs/*/goldens.json"))


def test_many_orphans_are_told_by_their_number(whole):
    """The strict line stays, the list is cut."""
    for index in range(30):
        shutil.copytree(whole.path / "golden/toy/reference", whole.path / f"golden/toy/old{index:02}")
    result = whole.pytest("--modelreg-strict")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["error: 30 goldens that no case has; *", "error: and 10 more"])
    assert len(orphans(result)) == 20
