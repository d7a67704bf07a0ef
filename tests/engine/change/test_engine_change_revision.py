"""Revisions to compare with, and those that are refused."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.change import find_commit, open_repository, select_changed

from .conftest import Checkout

DATA = "src/shop/data.py"
REASON = ["preprocess code changed: src/shop/data.py (imported by shop.data:prepare)"]


def refuse(shop: Checkout, base: str) -> str:
    """Return what is said of a revision that cannot be compared with."""
    with pytest.raises(UsageFault) as caught:
        shop.reasons(base=base)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_name_of_a_commit_will_do(shop) -> None:
    """Branch, tag, annotated tag, hash, short hash, ancestor, and what git reads as a name."""
    shop.git("tag", "--annotate", "-m", "x", "v1")
    shop.git("branch", "dev/größe")
    full = shop.git("rev-parse", "HEAD")
    shop.write(DATA)
    shop.commit()
    for base in ("base", "v1", "dev/größe", full, full[:8], "HEAD~1", "main~1", "base^{commit}", ":/^change"):
        expected = [] if base.startswith(":/") else REASON  # the youngest commit with that message
        assert shop.reasons(base=base) == expected, base


def test_what_others_changed_since_is_not_this_branchs(shop) -> None:
    """The other branch went on after this one left it."""
    shop.git("checkout", "--quiet", "-b", "feature")
    shop.write(DATA)
    shop.commit()
    shop.git("checkout", "--quiet", "main")
    shop.write("src/shop/models.py")
    shop.commit()
    shop.git("checkout", "--quiet", "feature")
    assert shop.reasons(base="main") == REASON


def test_a_clean_checkout_of_the_revision_selects_nothing(shop) -> None:
    """HEAD itself, with nothing changed in the working tree."""
    assert shop.reasons(base="HEAD") == []
    shop.write(DATA)
    assert shop.reasons(base="HEAD") == REASON


def test_an_unknown_revision_names_the_nearest(shop) -> None:
    """A misspelt branch, and one that only the remote has."""
    shop.git("branch", "release-1.2")
    assert refuse(shop, "relaese-1.2") == (
        "--base relaese-1.2: expected a branch, tag or commit, found none of this name "
        "(did you mean release-1.2?); `git branch --all` lists them"
    )
    shop.git("update-ref", "refs/remotes/origin/trunk", "HEAD")
    assert "(did you mean origin/trunk?)" in refuse(shop, "trunk")
    assert refuse(shop, "zzz").endswith("found none of this name; `git fetch` brings those of the remote")


@pytest.mark.parametrize("base", ["", "  ", "--output=stolen", "-x", "a\nb", "a\0b"])
def test_what_cannot_be_a_revision_never_reaches_git(shop, base: str) -> None:
    """`git diff --output=FILE` would write over a file."""
    assert refuse(shop, base).startswith("--base: expected a revision, such as origin/main, got ")
    assert not (shop.path / "stolen").exists()


def test_a_range_is_refused(shop) -> None:
    """Two commits are compared by other tools; here one side is the working tree."""
    assert "expected one revision, got a range" in refuse(shop, "base..HEAD")


def test_a_name_of_two_things_is_refused(shop) -> None:
    """Git takes the tag, and says so where nobody looks."""
    shop.git("branch", "v1")
    shop.git("tag", "v1")
    assert refuse(shop, "v1") == (
        "--base v1: expected one revision, got 2 of this name; write refs/heads/v1 or refs/tags/v1"
    )
    assert shop.reasons(base="refs/heads/v1") == []


def test_a_short_hash_of_several_objects_is_refused(shop) -> None:
    """Objects are written until two begin alike."""
    seen: dict[str, str] = {}
    for n in range(5000):
        digest = hashlib.sha1(f"blob {len(str(n))}\0{n}".encode()).hexdigest()
        if digest[:4] in seen:
            break
        seen[digest[:4]] = str(n)
    for text in (seen[digest[:4]], str(n)):
        subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], input=text.encode(), cwd=shop.path, check=True
        )
    assert "got a short hash of" in refuse(shop, digest[:4])


def test_another_option_is_named_in_its_place(shop) -> None:
    """Other commands take revisions too."""
    repository = open_repository(shop.path)
    assert find_commit(repository, "base", option="--good") == shop.git("rev-parse", "base")
    with pytest.raises(UsageFault, match=r"^--good bsae: expected .* \(did you mean base\?\)"):
        find_commit(repository, "bsae", option="--good")
    with pytest.raises(UsageFault, match=r"^--good needs a git repository around"):
        open_repository(shop.path.parent, option="--good")


def test_what_is_no_commit_is_refused(shop) -> None:
    """A tree or a file of a revision is no side of a comparison."""
    assert "expected a commit, got something else that git keeps" in refuse(shop, "HEAD:src")


def test_unrelated_histories_are_refused(shop) -> None:
    """There is no commit at which the two parted."""
    shop.git("checkout", "--quiet", "--orphan", "other")
    shop.write("README.md", "Another beginning.\n")
    shop.commit()
    assert refuse(shop, "main") == (
        "--base main: expected a revision that shares history with HEAD, and it shares none"
    )


def test_before_the_first_commit_there_is_nothing_to_compare(shop) -> None:
    """HEAD is the name of a branch that is not there yet."""
    shop.git("checkout", "--quiet", "--orphan", "other")
    assert "HEAD has none yet; commit first" in refuse(shop, "main")


def test_outside_of_git(shop, tmp_path: Path) -> None:
    """An unpacked archive has no revisions."""
    (shop.path / ".git").rename(tmp_path / "hidden")
    message = refuse(shop, "main")
    assert message.startswith(f"--base needs a git repository around {shop.path}; git says: fatal: not a git")
    assert message.endswith("; leave --base out")


def test_without_git(shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers often have none."""
    monkeypatch.setenv("PATH", "")
    assert "it cannot be started" in refuse(shop, "main")


def test_in_a_bare_repository(shop, tmp_path: Path) -> None:
    """It has no files to look at, and neither has the .git folder."""
    suite = shop.load()
    shop.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    for folder in (tmp_path / "bare", shop.path / ".git"):
        with pytest.raises(UsageFault, match=r"is in a bare one or in a \.git folder; run it in a clone"):
            select_changed([suite], base="main", root=folder)


def test_a_repository_of_another_user_says_how_to_trust_it(shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Continuous integration runs as another user in a container."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    message = refuse(shop, "main")
    assert "dubious ownership" in message
    assert f"`git config --global --add safe.directory {shop.path}`" in message


@pytest.fixture
def shallow(shop, tmp_path: Path) -> Checkout:
    """A clone of depth 1 of a feature branch, as continuous integration makes it."""
    shop.git("checkout", "--quiet", "-b", "feature")
    shop.write(DATA)
    shop.commit()
    shop.git("clone", "--quiet", "--depth=1", f"file://{shop.path}", str(tmp_path / "clone"))
    return Checkout(tmp_path / "clone")


def test_a_shallow_clone_without_the_revision_says_what_to_fetch(shallow) -> None:
    """The very command works."""
    message = refuse(shallow, "origin/main")
    assert "this is a shallow clone, which may lack it" in message
    assert "did you mean" not in message
    assert "`fetch-depth: 0`" in message
    command = message.split("`")[1]
    assert command.startswith("git fetch --unshallow ")
    subprocess.run(command, shell=True, cwd=shallow.path, check=True, capture_output=True)
    assert shallow.reasons(base="origin/main") == REASON


def test_a_shallow_clone_without_the_fork_says_what_to_fetch(shallow) -> None:
    """Both tips are there, and not where they parted."""
    shallow.git("fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    message = refuse(shallow, "origin/main")
    assert "does not reach back to where HEAD left origin/main" in message
    subprocess.run(message.split("`")[1], shell=True, cwd=shallow.path, check=True, capture_output=True)
    assert shallow.reasons(base="origin/main") == REASON


def test_a_hash_that_a_shallow_clone_lacks(shallow, shop) -> None:
    """Git takes any forty digits for a name."""
    assert "this is a shallow clone" in refuse(shallow, shop.git("rev-parse", "main"))


def test_a_shallow_clone_that_reaches_back_will_do(shallow) -> None:
    """Nothing needs the whole history."""
    assert shallow.reasons(base="HEAD") == []
    shallow.write("src/shop/models.py")
    assert shallow.reasons(base="HEAD") == [
        "model code changed: src/shop/models.py (imported by shop.models:build)"
    ]


def test_inside_a_hook_the_folder_counts(shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git exports GIT_DIR and GIT_INDEX_FILE to hooks, which are another repository's here."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "other")], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other" / ".git" / "index"))
    assert shop.reasons() == []


def test_asking_writes_nothing(shop) -> None:
    """The user may be in the middle of a rebase; a stale index stays as it is."""
    os.utime(shop.path / DATA, (1, 1))
    (shop.path / ".git/index.lock").touch()
    before = (shop.path / ".git/index").read_bytes()
    assert shop.reasons() == []
    assert (shop.path / ".git/index").read_bytes() == before
