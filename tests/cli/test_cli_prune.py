"""``modelreg prune``: what no case has any more is listed first, and removed only when told to."""

from __future__ import annotations

import shutil
import subprocess
from argparse import Namespace

import pytest

from pytest_modelreg.cli.prune import run
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.engine.claims import Claims, write_claims


def orphan(project, place="golden/toy/gone"):
    """Put a golden where no case belongs."""
    target = project.path / place
    shutil.copytree(project.path / "golden/toy/reference", target)
    return target


def commit(project):
    """Put the project, as it is, under git."""
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=project.path, check=True)


def test_orphan_is_listed_and_nothing_removed(recorded):
    """A dry run unless somebody says so."""
    folder = orphan(recorded)
    for arguments, why in (((), "--yes removes"), (("--dry-run", "--yes"), "--dry-run")):
        result = recorded.modelreg("prune", *arguments)
        assert result.ret == 1
        result.stdout.fnmatch_lines(
            [
                "golden/toy/gone",
                f"1 golden that no case has; nothing was removed ({why})",
                "1 golden*kept: commit it first*",
            ]
        )
    assert (folder / "golden.json").exists()


def test_orphan_is_removed_when_told_to(recorded):
    """And nothing else: not the goldens of cases, not a file of the user's."""
    folder = orphan(recorded)
    orphan(recorded, "golden/old-suite/reference")
    commit(recorded)
    (folder / "sub").mkdir()
    (folder / "sub/notes.txt").write_text("mine", encoding="utf-8")
    result = recorded.modelreg("prune", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["removed 2 goldens that no case has; git has them still"])
    assert sorted(path.name for path in folder.iterdir()) == ["sub"]
    assert not (recorded.path / "golden/old-suite").exists()
    recorded.pytest().assert_outcomes(passed=1)
    assert recorded.modelreg("prune").ret == 0


def test_goldens_of_python_tests_take_a_whole_run(recorded):
    """Only a run knows what its tests check."""
    orphan(recorded, "golden/py/test_gone/test/v")
    shutil.rmtree(recorded.path / ".modelreg")
    result = recorded.modelreg("prune", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "1 golden of a Python test kept: *not known; to know, run: pytest --modelreg",
            "  1: no whole run is on record",
            "every other golden has its case",
        ]
    )
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
    assert run(Namespace(yes=True, dry_run=False, untracked=True, verbose=False)) == 0


@pytest.mark.parametrize("state", ["no git", "no commit", "untracked", "ignored", "changed", "staged"])
def test_what_no_commit_has_takes_a_word_of_its_own(recorded, state):
    """--yes alone would remove the only copy; --untracked says that it may."""
    if state != "no git":
        recorded.write(".gitignore", ".modelreg\n" + ("gone/\n" if state == "ignored" else ""))
        commit(recorded)
    folder = orphan(recorded)
    if state == "no commit":
        shutil.rmtree(recorded.path / ".git")
        subprocess.run(["git", "init", "-q"], cwd=recorded.path, check=True)
    if state == "changed":
        commit(recorded)
        recorded.edit("golden/toy/gone/summary.csv", "s0", "s9")
    if state == "staged":
        subprocess.run(["git", "add", "-A"], cwd=recorded.path, check=True)
    result = recorded.modelreg("prune", "--yes")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "1 golden that no case has: in no commit as on disk, *",
            "  golden/toy/gone",
            "*kept: commit it first, so that git has what is removed, or add --untracked beside --yes",
        ]
    )
    assert (folder / "golden.json").exists()
    lost = recorded.modelreg("prune", "--yes", "--untracked")
    assert lost.ret == 0
    lost.stdout.fnmatch_lines(["removed 1 golden that no case has for good"])
    assert "git has" not in lost.stdout.str()
    assert not folder.exists()


def test_committed_ones_go_while_others_are_kept(recorded):
    """Each by itself."""
    committed = orphan(recorded)
    commit(recorded)
    other = orphan(recorded, "golden/toy/other")
    result = recorded.modelreg("prune", "--yes")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["removed 1 golden that no case has; git has it still", "1 golden that no case has kept: *"]
    )
    assert (committed.exists(), other.exists()) == (False, True)


def test_long_list_is_cut_unless_all_are_asked_for(recorded):
    """With the count."""
    for index in range(103):
        folder = recorded.path / f"golden/toy/gone{index:03}"
        folder.mkdir()
        (folder / "golden.json").write_text("{}", encoding="utf-8")
    result = recorded.modelreg("prune")
    result.stdout.fnmatch_lines(
        ["golden/toy/gone099", "and 3 more", "103 goldens that no case has; nothing*"]
    )
    assert "golden/toy/gone102" not in result.stdout.str()
    assert "golden/toy/gone102" in recorded.modelreg("prune", "-v").stdout.str()


def test_damaged_record_of_the_last_run_stops_it(recorded):
    """What it claimed is not known, so that every golden of a test might be an orphan."""
    run = recorded.path / ".modelreg/runs/20290101T000000-000000Z"
    run.mkdir(parents=True)
    write_claims(run, Claims(checked=frozenset({"a/b/c"})))
    path = run / "goldens.json"
    path.write_bytes(path.read_bytes().replace(b"a/b/c", b"a/b/d"))
    result = recorded.modelreg("prune", "--yes")
    assert result.ret == 3
    result.stderr.fnmatch_lines(["*goldens.json: bytes changed: *; make a new one with: pytest --modelreg"])
