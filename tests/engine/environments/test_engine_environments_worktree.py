"""Another revision's code: beside the user's checkout, which stays as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments import worktree
from pytest_modelreg.engine.environments.worktree import PREFIX

from .conftest import Checkout, hold, kill


def test_a_folder_leads_to_the_revisions_code(repository) -> None:
    """In the same place there."""
    (folder,) = repository.lead("src")
    assert Path(folder, "model.py").read_text() == "VALUE = 1\n"
    assert not Path(folder).is_relative_to(repository.path)


def test_a_folder_outside_stays_and_one_that_is_not_there_is_left_out(repository, tmp_path) -> None:
    """In the order in which they were; the checkout itself is a folder of it."""
    led = repository.lead("src", str(tmp_path), "later", "")
    top = repository.worktrees.check_out(repository.path, "base").top
    assert led == (str(top / "src"), str(tmp_path), str(top))


def test_folders_none_of_which_is_there_are_refused(repository) -> None:
    """Whatever was imported would be this checkout's, or nothing."""
    with pytest.raises(EnvironmentUnavailable) as caught:
        repository.lead("later", "/usr")
    commit = repository.git("rev-parse", "--short=7", "base")
    assert str(caught.value) == (
        f"revision base ({commit}): expected at least one folder of python_path there, got none of later; "
        "choose a revision that has it"
    )


def test_folders_outside_alone_are_refused(repository) -> None:
    """The revision would change nothing, and the case would match."""
    with pytest.raises(EnvironmentUnavailable, match="nothing would come from the revision"):
        repository.lead("/usr")


def test_a_link_leads_where_its_target_does(repository, tmp_path) -> None:
    """The suite may be reached by another name of the checkout."""
    link = tmp_path / "link"
    link.symlink_to(repository.path)
    found = repository.worktrees.check_out(link, "base")
    assert found.lead((str(link / "src"),)) == (str(found.top / "src"),)


def test_one_commit_is_checked_out_once(repository) -> None:
    """By whatever name, from whatever folder."""
    tops = {
        repository.worktrees.check_out(root, revision).top
        for root in (repository.path, repository.path / "src")
        for revision in ("base", "HEAD~1", "main^", repository.git("rev-parse", "base"))
    }
    assert len(tops) == 1
    assert repository.worktrees.check_out(repository.path, "main").top not in tops


def test_nothing_stays_after_closing(repository) -> None:
    """Neither on disk nor in git's list; twice does no harm, and it can be used again."""
    (folder,) = repository.lead("src")
    Path(folder, "__pycache__").mkdir()
    Path(folder, "model.py").write_text("changed")
    assert len(repository.left()) == 2
    repository.worktrees.close()
    repository.worktrees.close()
    assert repository.left() == []
    repository.lead("src")
    assert len(repository.left()) == 2


def test_the_users_checkout_is_as_before(repository) -> None:
    """Its files, what is staged and what is not, its branches, and no hook was run."""
    repository.write("src/model.py", "VALUE = 3\n")
    repository.git("add", "src/model.py")
    repository.write("src/model.py", "VALUE = 4\n")
    repository.write("untracked.py")
    ran = repository.path.parent / "ran"
    hook = repository.write(".git/hooks/post-checkout", f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)

    def look() -> list[str]:
        asked = ("status --porcelain", "diff", "diff --staged", "branch --all", "config --list", "reflog")
        return [repository.git(*question.split()) for question in asked]

    before = look()
    (folder,) = repository.lead("src")
    assert Path(folder, "model.py").read_text() == "VALUE = 1\n"
    assert look() == before
    repository.worktrees.close()
    assert look() == before
    assert not ran.exists()


def test_a_hook_of_the_users_configuration_is_not_run_either(repository, monkeypatch, tmp_path) -> None:
    """As tools that manage hooks set it."""
    ran = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (hooks / "post-checkout").chmod(0o755)
    repository.git("config", "core.hooksPath", str(hooks))
    repository.lead("src")
    assert not ran.exists()
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "mine"))
    assert ran.exists()  # the hook works


def test_large_files_are_not_downloaded(repository, tmp_path) -> None:
    """Samples and weights come from here."""
    ran = tmp_path / "ran"
    repository.git("config", "filter.lfs.clean", "cat")
    repository.git("config", "filter.lfs.smudge", f"touch {ran}; cat")
    repository.git("config", "filter.lfs.required", "true")
    repository.write(".gitattributes", "*.bin filter=lfs\n")
    repository.write("src/weights.bin", "pointer")
    repository.commit(tag="large")
    (folder,) = repository.lead("src", revision="large")
    assert Path(folder, "weights.bin").read_text() == "pointer"
    assert not ran.exists()
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "mine"))
    assert ran.exists()  # the filter works


def test_a_repository_that_is_a_worktree_itself_will_do(repository, tmp_path) -> None:
    """As people have several branches at hand."""
    mine = tmp_path / "mine"
    repository.git("worktree", "add", "--quiet", "--detach", str(mine))
    found = repository.worktrees.check_out(mine, "base")
    assert found.lead((str(mine / "src"),)) == (str(found.top / "src"),)
    repository.worktrees.close()
    assert [line.split()[0] for line in repository.git("worktree", "list").splitlines()[1:]] == [str(mine)]


def test_submodules_are_noted(repository, tmp_path) -> None:
    """Code in them is missing there; closing removes such a worktree as well."""
    inner = Checkout(tmp_path / "inner")
    inner.path.mkdir()
    inner.git("init", "--quiet", "--initial-branch=main")
    inner.write("inner.py")
    inner.commit()
    repository.git("submodule", "--quiet", "add", str(inner.path), "vendored")
    repository.commit(tag="with-submodule")
    repository.lead("src")
    assert repository.said == []
    repository.lead("src", revision="with-submodule")
    (note,) = repository.said
    assert note.startswith("revision with-submodule (")
    assert note.endswith("has submodules, which are not checked out: code in them is missing there")
    repository.worktrees.close()
    assert repository.left() == []


def test_an_unknown_revision_names_the_nearest(repository) -> None:
    """Among branches and tags."""
    assert repository.refuse("bas") == (
        "revision bas: expected a branch, tag or commit, found none of this name (did you mean base?); "
        "`git branch --all` lists them"
    )
    assert repository.left() == []


@pytest.mark.parametrize("revision", ["--output=x", "-f", "", "a..b"])
def test_what_is_no_single_revision_never_reaches_git(repository, revision) -> None:
    """Git takes what begins with a dash for an option."""
    assert repository.refuse(revision).startswith("revision")
    assert repository.left() == []
    assert not (repository.path / "x").exists()


def test_a_shallow_clone_says_how_to_get_the_rest(repository, tmp_path) -> None:
    """As continuous integration clones."""
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.path}", str(clone))
    commit = repository.git("rev-parse", "base")
    message = repository.refuse(commit, root=clone)
    assert "this is a shallow clone" in message
    assert "git fetch --unshallow" in message


def test_a_folder_outside_of_git_is_refused(repository, tmp_path) -> None:
    """It says what needs a repository."""
    outside = tmp_path / "outside"
    outside.mkdir()
    assert repository.refuse("main", root=outside).startswith(
        f"revision needs a git repository around {outside}"
    )


def test_git_must_be_there(repository, monkeypatch, tmp_path) -> None:
    """It says what to install."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install git" in repository.refuse("base")
    monkeypatch.undo()


def test_what_git_says_of_a_checkout_that_fails_is_shown(repository) -> None:
    """An object is gone; nothing stays of the attempt."""
    blob = repository.git("rev-parse", "base:src/model.py")
    (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    message = repository.refuse("base")
    assert f"expected git to check it out beside {repository.path}, got:\n  " in message
    assert blob in message
    assert repository.left() == []


def test_a_checkout_that_takes_too_long_is_given_up(repository, monkeypatch) -> None:
    """A network disk that hangs; nothing stays of the attempt."""
    repository.git("config", "filter.slow.smudge", "sleep 5")
    repository.write(".gitattributes", "*.slow filter=slow\n")
    repository.write("src/x.slow")
    repository.commit(tag="slow")
    monkeypatch.setattr(worktree, "LIMIT_S", 0.5)
    assert repository.refuse("slow").endswith("expected git to check it out within 0 s, and it did not")
    assert repository.left() == []


def test_what_a_killed_session_left_is_removed_by_the_next(repository) -> None:
    """From disk and from git's list."""
    process, left = hold(repository)
    kill(process)
    assert left.exists()
    repository.lead("src", revision="main")
    assert not left.parent.exists()
    repository.worktrees.close()
    assert repository.left() == []


def test_what_another_session_uses_stays(repository) -> None:
    """Sessions run side by side, each with its own."""
    process, used = hold(repository)
    repository.lead("src")
    assert Path(used, "src", "model.py").read_text() == "VALUE = 1\n"
    repository.worktrees.close()
    assert Path(used, "src", "model.py").exists()
    kill(process)


def test_a_leftover_whose_folder_is_gone_is_taken_from_gits_list(repository) -> None:
    """Temporary folders are emptied at every start of the machine."""
    process, left = hold(repository)
    kill(process)
    subprocess.run(["rm", "-r", str(left.parent)], check=True)
    assert str(left) in repository.git("worktree", "list")
    repository.lead("src")
    assert str(left) not in repository.git("worktree", "list")


def test_a_leftover_that_git_was_still_making_is_removed(repository) -> None:
    """Git locks a worktree until it is whole."""
    process, left = hold(repository)
    kill(process)
    (repository.path / ".git" / "worktrees" / left.name / "locked").write_text("initializing")
    repository.lead("src")
    assert str(left) not in repository.git("worktree", "list")


def test_a_worktree_of_another_machine_stays(repository, tmp_path) -> None:
    """One disk, or one folder of a container: a folder that is not here may be in use there."""
    folder = tmp_path / f"{PREFIX}000000-abc" / f"{PREFIX}000000-abc"
    repository.git("worktree", "add", "--quiet", "--detach", str(folder))
    repository.lead("src")
    assert str(folder) in repository.git("worktree", "list")


def test_the_users_own_worktrees_stay(repository, tmp_path) -> None:
    """Also one whose disk is not there at the moment: git could prune it."""
    mine = tmp_path / "mine"
    repository.git("worktree", "add", "--quiet", "--detach", str(mine))
    mine.rename(tmp_path / "away")
    repository.lead("src")
    repository.worktrees.close()
    assert str(mine) in repository.git("worktree", "list")
