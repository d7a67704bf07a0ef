"""The git repository around a project: what differs from a commit, what is tracked, what a file was.

What belongs here: questions about files. The working tree as it is, with what is staged, changed
and new in it, is one side of each; which commit is the other is ``revision``'s.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.change.changed_files import Change, ChangedFiles
from pytest_modelreg.fingerprint import GitAnswer, run_git

TIMEOUT_S = 60.0
"""How long one question may take, in seconds: a large working tree on a network file system."""

_SUBMODULE = "160000"


@dataclass(frozen=True, kw_only=True)
class Repository:
    """The git repository around a folder.

    Parameters
    ----------
    top : Path
        Its folder, links resolved.
    is_shallow : bool
        Whether history was cut off when it was cloned.
    """

    top: Path
    is_shallow: bool

    def list_changes(self, commit: str, root: Path) -> ChangedFiles:
        """Return how the working tree differs from a commit; files that git ignores do not count.

        Raises
        ------
        UsageFault
            When git cannot tell.
        """
        changes = {change.path: change for change in self._list_since(commit)}
        return ChangedFiles(top=str(self.top), root=os.path.realpath(root), changes=changes.values())

    def _list_since(self, commit: str) -> Iterator[Change]:
        # --no-renames: the old place of a moved file is a change of its own.
        tracked = self._require(
            *("diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-relative"),
            *("--ignore-submodules=none", commit, "--"),
        )
        untracked = self._require("ls-files", "-z", "--others", "--exclude-standard", "--full-name")
        known = list(self._parse_raw(tracked))
        yield from known
        before = {change.path for change in known}
        for name in _split(untracked):
            path = self._place(name.rstrip("/"))
            what = "changed" if path in before else "added"  # taken out of the index, and still there
            yield Change(path=path, what=what, is_folder=name.endswith("/"))

    def find_tracked(self, files: Iterable[str]) -> frozenset[str]:
        """Return those of some files, absolute and inside, that git tracks, in submodules too."""
        files = list(files)
        if not files:
            return frozenset()
        relative = [os.path.relpath(file, self.top) for file in files]
        names = self._require(
            "--literal-pathspecs", "ls-files", "-z", "--recurse-submodules", "--", *relative
        )
        return frozenset(self._place(name) for name in _split(names))

    def read(self, commit: str, path: str) -> bytes | None:
        """Return a file, absolute and inside, as a commit has it; None where it has none."""
        relative = os.path.relpath(path, self.top).replace(os.sep, "/")
        answer = ask_git(self.top, "cat-file", "blob", f"{commit}:{relative}")
        return answer.output if answer.code == 0 else None

    def _require(self, *arguments: str) -> bytes:
        # core.fsmonitor=false: a question must leave no daemon behind. diff.autoRefreshIndex: a
        # file that was only touched is no change.
        settings = ("-c", "core.fsmonitor=false", "-c", "diff.autoRefreshIndex=true")
        answer = ask_git(self.top, *settings, *arguments)
        if answer.code == 0:
            return answer.output
        broken = (self.top / ".gitmodules").exists()
        advice = "`git submodule update --init` mends submodules" if broken else "`git fsck` says more"
        raise UsageFault(
            f"expected git to say what changed in {self.top}, got: {_first_line(answer)}; {advice}"
        )

    def _parse_raw(self, output: bytes) -> Iterator[Change]:
        parts = iter(_split(output))
        for header in parts:
            old_mode, new_mode, old_hash, _, letter = header.lstrip(":").split(" ")
            path = self._place(next(parts))
            if old_mode == new_mode == _SUBMODULE and _has_commit(path, old_hash):
                inner = Repository(top=Path(path), is_shallow=self.is_shallow)
                yield from inner._list_since(old_hash)
            else:
                yield Change(
                    path=path,
                    what={"A": "added", "D": "deleted"}.get(letter[0], "changed"),
                    is_folder=_SUBMODULE in (old_mode, new_mode),
                )

    def _place(self, name: str) -> str:
        return os.path.join(self.top, *name.split("/"))


def open_repository(folder: Path, *, option: str = "--base") -> Repository:
    """Return the repository around a folder.

    Parameters
    ----------
    option : str
        What needs it, for messages.

    Raises
    ------
    UsageFault
        When there is none, or one without files: bare, or a ``.git`` folder.
    """
    answer = ask_git(
        folder, "rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-toplevel"
    )
    lines = answer.output.decode("utf-8", "surrogateescape").split("\n", 2)
    if answer.code == 0:
        top = os.path.realpath(lines[2].removesuffix("\n"))
        return Repository(top=Path(top), is_shallow=lines[1] == "true")
    if lines[0] == "false":
        raise UsageFault(
            f"{option} needs the files of a git repository, and {folder} is in a bare one or in a .git "
            "folder; run it in a clone or a worktree"
        )
    refused = "safe.directory" in answer.errors  # a container that runs as another user
    advice = (
        f"`git config --global --add safe.directory {folder}` trusts it" if refused else f"leave {option} out"
    )
    raise UsageFault(
        f"{option} needs a git repository around {folder}; git says: {_first_line(answer)}; {advice}"
    )


def ask_git(folder: Path, *arguments: str) -> GitAnswer:
    """Return what git answers in a folder, whatever its exit code.

    Raises
    ------
    UsageFault
        When git is not there, or takes too long.
    """
    try:
        return run_git(folder, *arguments, timeout_s=TIMEOUT_S)
    except OSError as error:
        raise UsageFault(
            f"expected git, to ask it for revisions, and it cannot be started: {error.strerror or error}; "
            "install git, or run the command without a revision"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UsageFault(
            f"expected git to answer within {TIMEOUT_S:.0f} s, got nothing from "
            f"`git {' '.join(arguments)}` in {folder}; run the command without a revision"
        ) from error


def _has_commit(folder: str, commit: str) -> bool:
    """Whether a submodule is there and knows the commit that it was at."""
    if not os.path.exists(os.path.join(folder, ".git")):
        return False
    return ask_git(Path(folder), "cat-file", "-e", f"{commit}^{{commit}}").code == 0


def _split(output: bytes) -> list[str]:
    return [os.fsdecode(part) for part in output.split(b"\0") if part]


def _first_line(answer: GitAnswer) -> str:
    return next(
        (line.strip() for line in answer.errors.splitlines() if line.strip()), f"exit code {answer.code}"
    )
