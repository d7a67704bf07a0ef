"""The state of the repository around a folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pytest_modelreg.fingerprint import GitState, git_state
from pytest_modelreg.fingerprint import git as git_module


def run_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder with an identity of its own."""
    identity = (
        "-c",
        "user.name=Somebody",
        "-c",
        "user.email=somebody@example.org",
        "-c",
        "init.defaultBranch=main",
    )
    answer = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, of a tracked file in a subfolder."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "repository"
    (folder / "suite").mkdir(parents=True)
    (folder / "suite" / "tracked.txt").write_text("one\n")
    run_git(folder, "init")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-m", "first")
    return folder


def test_a_clean_repository(repository: Path) -> None:
    """The commit is HEAD's full hash, from any folder below."""
    head = run_git(repository, "rev-parse", "HEAD")
    assert git_state(repository / "suite") == GitState(commit=head, dirty=False)


def test_a_changed_tracked_file_is_dirty(repository: Path) -> None:
    """A golden recorded from uncommitted code says so."""
    (repository / "suite" / "tracked.txt").write_text("two\n")
    assert git_state(repository).dirty is True
    run_git(repository, "add", ".")
    assert git_state(repository).dirty is True


def test_an_untracked_file_is_not_dirty(repository: Path) -> None:
    """Run folders and notes are not the code."""
    (repository / "note.txt").write_text("x")
    assert git_state(repository).dirty is False


def test_a_rewritten_equal_file_is_not_dirty(repository: Path) -> None:
    """A new time stamp alone is no change, although the index cannot be refreshed on disk."""
    file = repository / "suite" / "tracked.txt"
    file.write_text("one\n")
    os.utime(file, (1, 1))
    assert git_state(repository).dirty is False


def test_before_the_first_commit_there_is_no_commit(tmp_path: Path) -> None:
    """A fresh repository is one, without a HEAD."""
    run_git(tmp_path, "init")
    assert git_state(tmp_path) == GitState(commit=None, dirty=False)


def test_outside_git_nothing_is_known(tmp_path: Path) -> None:
    """Unknown, not clean."""
    assert git_state(tmp_path) == GitState(commit=None, dirty=None)


def test_without_git_nothing_is_known(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers often have no git."""
    monkeypatch.setenv("PATH", "")
    assert git_state(repository) == GitState(commit=None, dirty=None)


def test_a_git_that_hangs_is_given_up(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network file system must not stop a test run."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(git_module, "TIMEOUT_S", 0.2)
    assert git_state(repository) == GitState(commit=None, dirty=None)


def test_inside_a_hook_the_folder_counts(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git exports GIT_DIR and GIT_INDEX_FILE to its hooks; they are another repository's here."""
    other = tmp_path / "other"
    other.mkdir()
    run_git(other, "init")
    head = run_git(repository, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert git_state(repository) == GitState(commit=head, dirty=False)


def test_asking_takes_no_lock_and_writes_nothing(repository: Path) -> None:
    """The user may be in the middle of a rebase; a stale index stays as it is."""
    index = repository / ".git" / "index"
    os.utime(repository / "suite" / "tracked.txt", (1, 1))
    (repository / ".git" / "index.lock").touch()
    before = index.read_bytes()
    assert git_state(repository).dirty is False
    assert index.read_bytes() == before
