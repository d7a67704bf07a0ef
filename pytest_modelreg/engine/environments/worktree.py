"""Python code of another git revision: checked out beside the user's checkout, which stays as it is.

What belongs here: making such a worktree, leading folders into it, and removing it, also one that a
killed session left. Which commit a revision means is ``engine.change``'s.

A worktree is recognised as ours by the name of its folder, and as left behind by the lock on that
folder, which ends with the process that holds it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.domain.errors import EnvironmentUnavailable, UsageFault
from pytest_modelreg.engine.change import Repository, ask_git, find_commit, open_repository
from pytest_modelreg.fingerprint import GitAnswer, run_git
from pytest_modelreg.store.lock import FolderLock

LIMIT_S = 600.0
"""How long a checkout may take, in seconds: a large repository on a network disk."""

PREFIX = "modelreg-worktree-"

_QUIETLY = (
    # The user's hooks would run at every checkout, and a monitor would stay behind.
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    # Large files are samples and weights, which come from here: they need no download.
    *("-c", "filter.lfs.process=", "-c", "filter.lfs.smudge=", "-c", "filter.lfs.required=false"),
)


@dataclass(frozen=True, kw_only=True)
class Worktree:
    """A revision, checked out.

    Parameters
    ----------
    top : Path
        Its folder.
    repository : Path
        The folder of the user's checkout, links resolved.
    revision : str
        As it was written.
    commit : str
        Full hash.
    """

    top: Path
    repository: Path
    revision: str
    commit: str

    def lead(self, folders: tuple[str, ...]) -> tuple[str, ...]:
        """Return folders with those of the user's checkout led to the same place here.

        One that this revision does not have is left out; one outside the repository stays.

        Raises
        ------
        EnvironmentUnavailable
            When no folder leads here: nothing would come from the revision.
        """
        led: list[str] = []
        missing: list[str] = []
        n_here = 0
        for folder in folders:
            inside = _find_inside(folder, self.repository)
            if inside is None:
                led.append(folder)
            elif (self.top / inside).is_dir():
                led.append(str(self.top / inside))
                n_here += 1
            else:
                missing.append(inside.as_posix())
        if n_here:
            return tuple(led)
        where = f"revision {self.revision} ({self.commit[:7]})"
        if missing:
            raise EnvironmentUnavailable(
                f"{where}: expected at least one folder of python_path there, got none of "
                f"{', '.join(missing)}; choose a revision that has it"
            )
        raise EnvironmentUnavailable(
            f"{where}: expected a folder of python_path in the repository {self.repository}, got "
            f"{', '.join(folders) or 'none'}; nothing would come from the revision"
        )


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A temporary folder that holds a worktree, locked as long as it is used."""

    folder: Path
    repository: Path
    lock: FolderLock

    @property
    def tree(self) -> Path:
        # Its name is the worktree's name within the repository too: nobody else's.
        return self.folder / self.folder.name

    def remove(self) -> None:
        """Remove the worktree from disk and from the repository's list."""
        with suppress(OSError, subprocess.TimeoutExpired):  # the repository may be gone
            # Twice: git locks a worktree while it is made, and the session may have been killed then.
            command = (*_QUIETLY, "worktree", "remove", "--force", "--force", str(self.tree))
            run_git(self.repository, *command, timeout_s=LIMIT_S)
        self.lock.release()
        shutil.rmtree(self.folder, ignore_errors=True)


class Worktrees:
    """The worktrees of a session, one a commit.

    Parameters
    ----------
    say : callable
        Takes lines on what is worth knowing.
    """

    def __init__(self, *, say: Callable[[str], None]) -> None:
        self._say = say
        self._places: dict[tuple[Path, str], _Place] = {}
        self._swept: set[Path] = set()

    def check_out(self, root: Path, revision: str) -> Worktree:
        """Return a revision of the repository around a folder, checked out now unless it is there.

        Raises
        ------
        EnvironmentUnavailable
            Without git or a repository, for a revision that is unknown, or when git cannot check
            it out.
        """
        try:
            repository = open_repository(root, option="revision")
            commit = find_commit(repository, revision, option="revision")
            self._sweep(repository)
        except UsageFault as error:
            raise EnvironmentUnavailable(str(error)) from error
        key = (repository.top, commit)
        if key not in self._places:
            self._places[key] = self._add(repository, revision, commit)
        return Worktree(
            top=self._places[key].tree, repository=repository.top, revision=revision, commit=commit
        )

    def sweep(self, root: Path) -> None:
        """Remove what killed sessions left of the repository around a folder, if there is one."""
        with suppress(UsageFault):
            self._sweep(open_repository(root, option="revision"))

    def close(self) -> None:
        """Remove every worktree of this session; harmless twice."""
        while self._places:
            self._places.popitem()[1].remove()

    def _add(self, repository: Repository, revision: str, commit: str) -> _Place:
        where = f"revision {revision} ({commit[:7]})"
        try:
            folder = Path(tempfile.mkdtemp(prefix=_prefix_here())).resolve()
            lock = FolderLock(folder)
            lock.acquire(timeout_s=0)
        except OSError as error:
            raise EnvironmentUnavailable(
                f"{where}: expected a temporary folder to check it out in, got: {error}; TMPDIR names another"
            ) from error
        place = _Place(folder=folder, repository=repository.top, lock=lock)
        command = (*_QUIETLY, "worktree", "add", "--quiet", "--detach", str(place.tree), commit)
        try:
            answer = run_git(repository.top, *command, timeout_s=LIMIT_S)
            _require(answer, f"{where}: expected git to check it out beside {repository.top}")
        except subprocess.TimeoutExpired as error:
            place.remove()
            raise EnvironmentUnavailable(
                f"{where}: expected git to check it out within {LIMIT_S:.0f} s, and it did not"
            ) from error
        except BaseException:
            place.remove()
            raise
        if (place.tree / ".gitmodules").exists():
            self._say(f"{where} has submodules, which are not checked out: code in them is missing there")
        return place

    def _sweep(self, repository: Repository) -> None:
        """Remove worktrees of ours whose session was killed."""
        if repository.top in self._swept:
            return
        self._swept.add(repository.top)
        for tree in _list_worktrees(repository.top):
            # In a container, or on another machine with the same disk, a temporary folder that is
            # not here may be in use there.
            if not tree.name.startswith(_prefix_here()) or tree.parent.name != tree.name:
                continue
            lock = FolderLock(tree.parent)
            try:
                is_left = lock.acquire(timeout_s=0)
            except FileNotFoundError:  # the temporary folder was emptied, and git still lists it
                is_left = True
            except OSError:
                continue
            if is_left:
                _Place(folder=tree.parent, repository=repository.top, lock=lock).remove()


def _prefix_here() -> str:
    """Return how the names of this machine's worktrees begin; its own name is nobody's business."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:6]
    return f"{PREFIX}{machine}-"


def _list_worktrees(top: Path) -> Iterator[Path]:
    answer = ask_git(top, "worktree", "list", "--porcelain")
    for line in answer.output.splitlines():
        if line.startswith(b"worktree "):
            yield Path(os.fsdecode(line.removeprefix(b"worktree ")))


def _find_inside(folder: str, top: Path) -> Path | None:
    """Return a folder relative to another one, links resolved; None when it is outside."""
    with suppress(ValueError):
        return Path(os.path.realpath(folder)).relative_to(top)
    return None


def _require(answer: GitAnswer, expected: str) -> None:
    if answer.code == 0:
        return
    lines = [line.rstrip() for line in answer.errors.splitlines() if line.strip()][-5:]
    tail = "".join(f"\n  {line}" for line in lines) or f" exit code {answer.code}"
    raise EnvironmentUnavailable(f"{expected}, got:{tail}")
