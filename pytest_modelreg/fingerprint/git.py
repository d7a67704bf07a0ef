"""The state of the git repository around a folder: provenance, not part of the fingerprint."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 10.0

REPOSITORY_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""Set by git inside its hooks; they would describe the hook's repository, not the folder's."""


@dataclass(frozen=True, kw_only=True)
class GitState:
    """Where a repository stands.

    Parameters
    ----------
    commit : str or None
        HEAD's full hash; None before the first commit and outside git.
    dirty : bool or None
        Whether tracked files differ from HEAD; files that git does not track do not
        count. None outside git.
    """

    commit: str | None
    dirty: bool | None


@dataclass(frozen=True, kw_only=True)
class GitAnswer:
    """What git answered.

    Parameters
    ----------
    code : int
        Exit code; 0 when it did what was asked.
    output : bytes
        What it printed; names of files are in no certain encoding.
    errors : str
        What it complained of.
    """

    code: int
    output: bytes
    errors: str


def git_state(folder: Path) -> GitState:
    """Return the state of the repository that holds a folder.

    Asks the ``git`` executable, without locks, so that it never gets in the way of the
    user's own git. Without git, outside a repository, in one that git refuses to read
    or when it takes more than 10 s, both facts are None.
    """
    # core.fsmonitor=false: a status must not leave a daemon behind.
    # One command for both facts: starting git is what takes the time.
    answer = _ask_git(
        folder,
        *("-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch"),
        *("--untracked-files=no", "--ignore-submodules=untracked"),
    )
    if answer is None:
        return GitState(commit=None, dirty=None)
    return _parse_status(answer.decode("utf-8", errors="replace"))


def list_versions(file: Path) -> list[str]:
    """Return the commits of HEAD's history that changed a file, the newest first; empty without git."""
    answer = _ask_git(file.parent, "log", "--format=%H", "--", file.name)
    return [] if answer is None else answer.decode("ascii", errors="replace").split()


def read_version(file: Path, commit: str) -> bytes | None:
    """Return a file as a commit has it; None where the commit has none or git does not answer."""
    return _ask_git(file.parent, "show", f"{commit}:./{file.name}")


def run_git(folder: Path, *arguments: str, timeout_s: float | None = None) -> GitAnswer:
    """Run git in a folder, of the folder's own repository, without locks and without questions.

    Parameters
    ----------
    timeout_s : float or None
        Seconds after which it is given up; None: :data:`TIMEOUT_S`.

    Raises
    ------
    OSError
        When git cannot be started.
    subprocess.TimeoutExpired
        When it takes too long.
    """
    environment = {name: value for name, value in os.environ.items() if name not in REPOSITORY_VARIABLES}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    answer = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S if timeout_s is None else timeout_s,
    )
    return GitAnswer(
        code=answer.returncode,
        output=answer.stdout,
        errors=answer.stderr.decode("utf-8", errors="replace"),
    )


def _ask_git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git prints in a folder, None where it fails, is not there or takes too long."""
    try:
        answer = run_git(folder, *arguments)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.output if answer.code == 0 else None


def _parse_status(text: str) -> GitState:
    commit, dirty = None, False
    for line in text.splitlines():
        if line.startswith("# branch.oid "):
            oid = line.removeprefix("# branch.oid ").strip()
            commit = None if oid == "(initial)" else oid
        elif not line.startswith("#"):
            dirty = True
    return GitState(commit=commit, dirty=dirty)
