"""Goldens of Python tests without a claim: orphans only where the run on record still speaks for them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_modelreg.engine.claims import Claims
from pytest_modelreg.engine.tracked_files import digest_file, read_working_state
from pytest_modelreg.engine.values_orphans import digest_conftests, has_values_goldens, sort_unclaimed
from pytest_modelreg.store import safe_component

COMMIT = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "x")


def plant(root: Path, *places: str) -> None:
    """Make folders with something that counts as a golden."""
    for place in places:
        (root / "golden/py" / place).mkdir(parents=True)
        (root / "golden/py" / place / "golden.json").write_text("{}", encoding="utf-8")


def write(root: Path, name: str, text: str = "") -> Path:
    """Write a file of the project."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def claim(root: Path, *files: str, **fields: object) -> Claims:
    """Return what a whole run that collected these files, as they are now, would know."""
    collected = {name: digest_file(root / name) or "" for name in files}
    state = read_working_state(root)
    found: dict = {
        "collected": collected,
        "conftests": digest_conftests(collected, root),
        "commit": state.commit,
        "changed": state.changed,
        **fields,
    }
    return Claims(**found)


def orphans(root: Path, claims: Claims) -> list[str]:
    """Return the places of orphans."""
    found = sort_unclaimed(root, claims).orphans
    return [folder.relative_to(root / "golden/py").as_posix() for folder in found]


def doubts(root: Path, claims: Claims) -> list[str]:
    """Return why goldens cannot be judged."""
    return list(sort_unclaimed(root, claims).unknown)


def git(root: Path, *arguments: str) -> None:
    """Run git in the project."""
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def test_check_that_is_gone_is_an_orphan_and_a_skipped_test_keeps_its_own(tmp_path):
    """A test that did not come to its end says nothing of the checks it would have made."""
    plant(tmp_path, "test_a/test_x/v", "test_a/test_x/old", "test_a/test_skipped/v", "test_gone/test/v")
    claims = Claims(checked=frozenset({"test_a/test_x/v"}), kept=frozenset({"test_a/test_skipped"}))
    assert orphans(tmp_path, claims) == ["test_a/test_x/old", "test_gone/test/v"]


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("a/b.py", "a.b/test/v"),
        ("a.b.py", "a.b/test/v"),
        ("a/b.txt", "a.b/b.txt/v"),
        ("a/b.py", "a.b/a.b.function/v"),
        ("../out/test_c.py", "up.out.test_c/test/v"),
        (f"{'long' * 25}/test_d.py", f"{safe_component('long' * 25 + '.test_d')}/test/v"),
    ],
)
def test_file_that_is_there_and_was_not_collected_keeps_its_goldens(tmp_path, file, place):
    """Skipped, ignored, or of another kind than was asked for; once it is gone they are orphans."""
    project = tmp_path / "project"
    plant(project, place)
    path = write(project, file)
    assert orphans(project, Claims()) == []
    (doubt,) = doubts(project, Claims())
    assert doubt.startswith(f"{file} is there, and the run did not collect it")
    known = {file: digest_file(path) or ""}
    assert orphans(project, Claims(collected=known, doctested=known)) == [place]
    path.unlink()
    assert orphans(project, Claims()) == [place]


def test_doctest_of_a_collected_module_is_kept_without_its_flag(tmp_path):
    """Its tests were collected, its doctests were not."""
    plant(tmp_path, "a.b/a.b.function/v", "a.b/test[1.5]/v")
    write(tmp_path, "a/b.py")
    assert orphans(tmp_path, claim(tmp_path, "a/b.py")) == ["a.b/test[1.5]/v"]


def test_file_that_changed_since_the_run_keeps_its_goldens(tmp_path):
    """Another branch is checked out, a name is put back: only a run knows what it checks now."""
    plant(tmp_path, "test_a/test_old/v", "test_b/test_old/v")
    for name in ("test_a.py", "test_b.py"):
        write(tmp_path, name, "def test_new(): pass\n")
    claims = claim(tmp_path, "test_a.py", "test_b.py")
    assert orphans(tmp_path, claims) == ["test_a/test_old/v", "test_b/test_old/v"]
    write(tmp_path, "test_b.py", "def test_old(): pass\n")
    assert orphans(tmp_path, claims) == ["test_a/test_old/v"]
    assert doubts(tmp_path, claims) == ["test_b.py changed since the run"]


def test_new_file_of_the_same_module_keeps_its_goldens(tmp_path):
    """a/b.py and a.b.py are one module's name: what the run saw of one says nothing of the other."""
    plant(tmp_path, "a.b/test/v")
    write(tmp_path, "a/b.py")
    claims = claim(tmp_path, "a/b.py")
    write(tmp_path, "a.b.py")
    assert doubts(tmp_path, claims) == ["a.b.py is there, and the run did not collect it"]


@pytest.mark.parametrize("change", ["new", "edited", "removed"])
def test_conftest_around_a_file_decides_on_its_parameters(tmp_path, change):
    """One beside or above counts, one of another folder does not."""
    plant(tmp_path, "tests.test_a/test[1]/v")
    write(tmp_path, "tests/test_a.py")
    if change != "new":
        write(tmp_path, "tests/conftest.py", "old = 1\n")
    claims = claim(tmp_path, "tests/test_a.py")
    write(tmp_path, "other/conftest.py")
    assert orphans(tmp_path, claims) == ["tests.test_a/test[1]/v"]
    if change == "removed":
        (tmp_path / "tests/conftest.py").unlink()
    else:
        write(tmp_path, "tests/conftest.py", "new = 1\n")
    assert doubts(tmp_path, claims) == ["tests/conftest.py changed since the run"]


@pytest.fixture
def repository(tmp_path):
    """A project under git: a test file that takes parameters from a table, and a golden of a lost one."""
    plant(tmp_path, "test_a/test[x]/v", "test_gone/test/v")
    for name in ("test_a.py", "cases.csv", "notes.md"):
        write(tmp_path, name)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, *COMMIT)
    return tmp_path


def test_table_that_tests_read_is_part_of_what_the_run_saw(repository):
    """Changed, or of another branch: the parameter may be back. A file that is gone has no parameters."""
    claims = claim(repository, "test_a.py")
    assert orphans(repository, claims) == ["test_a/test[x]/v", "test_gone/test/v"]
    write(repository, "cases.csv", "x\n")
    assert doubts(repository, claims) == ["cases.csv changed since the run"]
    assert orphans(repository, claims) == ["test_gone/test/v"]
    git(repository, *COMMIT)
    assert doubts(repository, claims) == ["cases.csv changed since the run"]
    git(repository, "checkout", "-q", "HEAD~1")
    assert orphans(repository, claims) == ["test_a/test[x]/v", "test_gone/test/v"]


def test_commit_of_what_the_run_saw_changes_nothing(repository):
    """Run, commit, prune: the usual order. Goldens that were accepted since are no test's source."""
    write(repository, "cases.csv", "y\n")
    write(repository, "test_a.py", "1\n")
    claims = claim(repository, "test_a.py")
    write(repository, "golden/toy/reference/golden.json", "{}")
    git(repository, "add", "golden")
    git(repository, *COMMIT)
    assert orphans(repository, claims) == ["test_a/test[x]/v", "test_gone/test/v"]


def test_commit_that_git_has_lost_says_nothing(repository):
    """A clone that was made anew, a shallow one."""
    claims = claim(repository, "test_a.py", commit="0" * 40)
    assert doubts(repository, claims) == ["git does not know the run's commit 000000000000 any more"]


@pytest.mark.parametrize("by", ["date", "mtime"])
def test_golden_accepted_after_the_run_had_started_is_kept(tmp_path, by):
    """The run knows nothing of it; an older one it would have claimed."""
    plant(tmp_path, "test_a/test/old", "test_a/test/new")
    now = time.time()
    for name, age in (("old", -1000), ("new", 1000)):
        file = tmp_path / f"golden/py/test_a/test/{name}/golden.json"
        date = datetime.fromtimestamp(now + age * (by == "date"), timezone.utc)
        accepted = {"date": date.isoformat(timespec="seconds").replace("+00:00", "Z")}
        file.write_text(json.dumps({"accepted": accepted}, indent=2), encoding="utf-8")
        moment = now - 1000 if by == "date" else now + age
        os.utime(file, (moment, moment))
    claims = Claims(as_of=now + 1)
    assert orphans(tmp_path, claims) == ["test_a/test/old"]
    assert doubts(tmp_path, claims) == ["accepted or put there after the run had started"]


def test_goldens_of_python_tests_are_noticed(tmp_path):
    """A folder alone is none."""
    (tmp_path / "golden/py/test_a").mkdir(parents=True)
    assert not has_values_goldens(tmp_path)
    plant(tmp_path, "test_a/test/v")
    assert has_values_goldens(tmp_path)


def test_ten_thousand_goldens_cost_little(tmp_path):
    """A second of this process at most, for as many tests, claimed or not."""
    places = [f"test_{index // 100}/check_{index}/v" for index in range(10_000)]
    plant(tmp_path, *places)
    for index in range(100):
        write(tmp_path, f"test_{index}.py", str(index))
    files = [f"test_{index}.py" for index in range(100)]
    for checked, n_orphans in ((places[:-1], 1), ([], 10_000)):
        claims = claim(tmp_path, *files, checked=frozenset(checked), as_of=time.time() + 60)
        spent_s = []
        for _ in range(3):  # the first one may meet folders that no cache has yet
            started = time.process_time()
            found = orphans(tmp_path, claims)
            spent_s.append(time.process_time() - started)
            assert len(found) == n_orphans
        assert min(spent_s) < 1.0
