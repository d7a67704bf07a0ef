"""Commits as candidates, in repositories made for the purpose."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.bisection import Commits, Finding, Trial, search
from pytest_modelreg.engine.change import open_repository


def git(folder: Path, *arguments: str) -> str:
    """Run git with an identity of its own and nobody's configuration."""
    settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    found = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of eight commits; returns its folder and the hashes, oldest first."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git(tmp_path, "init", "-q", "-b", "main")
    hashes = []
    for index in range(8):
        (tmp_path / f"file {index}.py").write_text(f"{index}")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", f"commit {index}")
        hashes.append(git(tmp_path, "rev-parse", "HEAD"))
    return tmp_path, hashes


@pytest.mark.parametrize("culprit", range(1, 8))
def test_the_culprit_is_found_among_commits(repository, culprit):
    """Whichever commit drifts first, git's order leads to it in at most five trials of eight."""
    folder, hashes = repository

    def attempt(commit: str, n_left: int) -> Trial:
        finding = Finding.BAD if hashes.index(commit) >= culprit else Finding.GOOD
        return Trial(candidate=commit, finding=finding, message="planted")

    commits = Commits(open_repository(folder), good=hashes[0], bad=hashes[-1])
    result = search(commits, good=hashes[0], bad=hashes[-1], attempt=attempt)
    assert result.first_bad == hashes[culprit]
    assert len(result.trials) <= 5
    assert commits.list_files(hashes[culprit]) == [f"file {culprit}.py"]
    assert commits.describe(hashes[culprit]).endswith(f" commit {culprit}")


def test_a_merged_branch_is_searched_too(repository):
    """History is no line: the culprit on a branch is behind the merge."""
    folder, hashes = repository
    git(folder, "checkout", "-q", "-b", "side", hashes[3])
    (folder / "side.py").write_text("x")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "side")
    culprit = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "--no-ff", "-m", "merge", "side")
    merge = git(folder, "rev-parse", "HEAD")

    def attempt(commit: str, n_left: int) -> Trial:
        finding = Finding.BAD if commit in (culprit, merge) else Finding.GOOD
        return Trial(candidate=commit, finding=finding, message="planted")

    commits = Commits(open_repository(folder), good=hashes[0], bad=merge)
    assert search(commits, good=hashes[0], bad=merge, attempt=attempt).first_bad == culprit


def test_commits_without_a_way_between_them_are_refused(repository):
    """Nothing lies between a commit and its ancestor's ancestor the wrong way round."""
    folder, hashes = repository
    opened = open_repository(folder)
    with pytest.raises(UsageFault, match="expected an ancestor of --bad"):
        Commits(opened, good=hashes[5], bad=hashes[1])
    with pytest.raises(UsageFault, match="expected two commits"):
        Commits(opened, good=hashes[5], bad=hashes[5])
