"""``modelreg prune``: what no case has any more is listed first, and removed only when told to."""

from __future__ import annotations

import shutil
from argparse import Namespace

import pytest

from pytest_modelreg.cli.prune import run
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.engine.orphans import Claims, write_claims


def orphan(project, place="golden/toy/gone"):
    """Put a golden where no case belongs."""
    target = project.path / place
    shutil.copytree(project.path / "golden/toy/reference", target)
    return target


def test_orphan_is_listed_and_nothing_removed(recorded):
    """A dry run unless somebody says so."""
    folder = orphan(recorded)
    for arguments in ((), ("--dry-run",)):
        result = recorded.modelreg("prune", *arguments)
        assert result.ret == 1
        result.stdout.fnmatch_lines(["golden/toy/gone", "1 golden that no case has; nothing was removed*"])
    assert (folder / "golden.json").exists()


def test_orphan_is_removed_when_told_to(recorded):
    """And nothing else: not the goldens of cases, not a file of the user's."""
    folder = orphan(recorded)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    orphan(recorded, "golden/old-suite/reference")
    assert recorded.modelreg("prune", "--yes").ret == 0
    assert sorted(path.name for path in folder.iterdir()) == ["notes.txt"]
    assert not (recorded.path / "golden/old-suite").exists()
    recorded.pytest().assert_outcomes(passed=1)
    assert recorded.modelreg("prune").ret == 0


def test_goldens_of_python_tests_take_a_whole_run(recorded):
    """Only a run knows what its tests check."""
    orphan(recorded, "golden/py/test_gone/test/v")
    shutil.rmtree(recorded.path / ".modelreg")
    result = recorded.modelreg("prune", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*no whole run is on record*", "every golden has its case"])
    run = recorded.path / ".modelreg/runs/20260101T000000-000000Z"
    run.mkdir(parents=True)
    write_claims(run, Claims())
    result = recorded.modelreg("prune")
    result.stdout.fnmatch_lines(
        ["*as claimed by the whole run 2026*", "golden/py/test_gone/test/v", "1 golden*"]
    )


def test_faulty_suite_file_stops_it(recorded):
    """What it claims is not known, so that every golden of it would be an orphan."""
    orphan(recorded)
    recorded.edit("modelreg.yaml", "suite: toy", "suit: toy")
    result = recorded.modelreg("prune", "--yes")
    assert result.ret == 2
    assert (recorded.path / "golden/toy/gone/golden.json").exists()


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_suite_in_a_hidden_folder_keeps_its_goldens(recorded, workers):
    """A run that was pointed there loaded it; looking for suite files passes the folder over."""
    text = (recorded.path / "modelreg.yaml").read_text(encoding="utf-8")
    for old, new in (
        ("suite: toy", "suite: hidden\ngolden: ../golden"),
        ("folder: samples", "folder: ../samples"),
        ("labels.txt", "../labels.txt"),
    ):
        text = text.replace(old, new)
    recorded.write(".hidden/modelreg.yaml", text)
    recorded.write("pytest.ini", "[pytest]\nnorecursedirs = golden\n")
    result = recorded.pytester.runpytest("--modelreg", "--modelreg-regen=missing", workers)
    result.assert_outcomes(passed=2)
    assert "no case has" not in result.stdout.str()
    assert recorded.modelreg("prune", "--yes").ret == 0
    assert (recorded.path / "golden/hidden/reference/golden.json").exists()


def test_folder_that_somebody_else_removed_meanwhile_is_no_error(recorded, monkeypatch):
    """What was to be gone is gone."""
    folders = [orphan(recorded, f"golden/toy/{name}") for name in ("gone", "other")]

    def remove_both(folder):
        for path in folders:
            shutil.rmtree(path, ignore_errors=True)
        raise GoldenError(f"{folder}: cannot be removed: No such file or directory")

    monkeypatch.setattr("pytest_modelreg.store.remove_golden", remove_both)
    monkeypatch.chdir(recorded.path)
    assert run(Namespace(yes=True, dry_run=False)) == 0
