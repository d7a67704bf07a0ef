"""What git has of a project's files: which it holds exactly as they are, and which differ from a commit.

What belongs here: questions asked once for the whole project, so that thousands of goldens cost one
process of git. Outside of git, or where git does not answer, nothing is known to be held.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pytest_modelreg.fingerprint import run_git
from pytest_modelreg.store import file_digest

_GOLDENS = "golden/"
"""Where goldens are by default: that they change says nothing of tests."""

_GOLDEN_FILE = "golden.json"
_MAX_ASKED = 2000  # names on one command line
_QUIETLY = ("-c", "core.fsmonitor=false", "-c", "diff.autoRefreshIndex=true")  # leave no daemon behind
_DIFF = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative")


@dataclass(frozen=True, kw_only=True)
class WorkingState:
    """How a project's tracked files stand to a commit.

    Parameters
    ----------
    commit : str or None
        None where git knows none.
    changed : dict of str to str
        As in :class:`~pytest_modelreg.engine.claims.Claims`.
    """

    commit: str | None
    changed: dict[str, str] = field(default_factory=dict)


def read_working_state(base: Path, commit: str | None = None) -> WorkingState:
    """Return how tracked files below a folder differ from a commit; None: from the one checked out."""
    if commit is None:
        head = _ask(base, "rev-parse", "--verify", "--quiet", "HEAD")
        commit = None if head is None else head.decode("ascii", "replace").strip()
    names = None if commit is None else _list(base, *_DIFF, commit, "--")
    if names is None:
        return WorkingState(commit=None)
    changed = {}
    for name in names:
        path = base / name
        if name.startswith(_GOLDENS) or (path.parent / _GOLDEN_FILE).exists():
            continue
        changed[name] = digest_file(path) or ""
    return WorkingState(commit=commit, changed=changed)


def digest_file(path: Path) -> str | None:
    """Return the sha256 of a file; None for one that is not there or cannot be read."""
    try:
        return file_digest(path) if path.is_file() else None
    except OSError:
        return None


def find_unheld(folders: Iterable[Path], root: Path) -> list[Path]:
    """Return those of some golden folders of which git does not have every file as it is now.

    Of what is removed from any other one, a commit has every byte.

    Parameters
    ----------
    root : Path
        The project's folder; what is not below it, or in a repository of its own, counts as not held.
    """
    held = _list(root, "ls-tree", "-r", "-z", "--name-only", "HEAD")
    changed = _list(root, *_DIFF, "HEAD", "--")
    if held is None or changed is None:
        return list(folders)
    safe = set(held) - set(changed)
    real_root = os.path.realpath(root)
    return [folder for folder in folders if not _is_held(folder, real_root, safe)]


def list_unkept(folder: Path) -> set[str]:
    """Return the files below a folder whose bytes git does not keep, relative to it.

    Of what git-lfs filters it keeps a pointer; what DVC tracks is ignored. Outside of git: none.
    """
    ignored = _list(folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    counted = _list(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if ignored is None or not counted:
        return set(ignored or ())
    arrays = [name for name in counted if name.endswith(".npy")][:_MAX_ASKED]
    answers = _list(folder, "check-attr", "-z", "filter", "--", *arrays) or []
    filters = zip(answers[::3], answers[2::3], strict=True)  # name, attribute, value
    return {*ignored, *(name for name, value in filters if value == "lfs")}


def _is_held(folder: Path, root: str, safe: set[str]) -> bool:
    place = os.path.relpath(os.path.realpath(folder), root).replace(os.sep, "/")
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
    except OSError:
        return False
    return all(f"{place}/{name}" in safe for name in names)


def _list(folder: Path, *arguments: str) -> list[str] | None:
    answer = _ask(folder, *arguments)
    return None if answer is None else [os.fsdecode(part) for part in answer.split(b"\0") if part]


def _ask(folder: Path, *arguments: str) -> bytes | None:
    try:
        answer = run_git(folder, *_QUIETLY, *arguments)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.output if answer.code == 0 else None
