"""``.modelreg/runs/``: what a run leaves for people and for CI to keep, bounded.

What belongs here: where a run's files go and when they go away. The folder ignores
itself in git, so that nobody commits it.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from pytest_modelreg.domain.errors import RunFolderError
from pytest_modelreg.store.case_folder import CASES, WORK_PREFIX, refuse_folder
from pytest_modelreg.store.lock import FolderLock
from pytest_modelreg.store.naming import safe_component, shown
from pytest_modelreg.store.obstacle import describe_obstacle

KEPT_RUNS = 10
"""How many runs stay on disk, this one included."""

_RUN_NAME = re.compile(r"\d{8}T\d{6}-\d{6}Z")
_WORK_NAME = re.compile(re.escape(WORK_PREFIX) + r"\d+-[0-9a-f]{8}")
_LOCK_WAIT_S = 10.0


class RunFolder:
    """The folder of one run, marked as in use until :meth:`close` or the process ends.

    Several processes of one run (xdist workers) may hold the same folder; the mark
    keeps another run's retention from deleting it.

    Attributes
    ----------
    followed_killed : bool
        Whether what a killed run was working in was found, and removed, when this one was made: it
        may have left more, elsewhere.
    """

    followed_killed = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Process ids repeat between containers that share a folder.
        self._work_name = f"{WORK_PREFIX}{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._lock = FolderLock(folder, shared=True)

    @classmethod
    def create(cls, base: Path, run_id: str) -> RunFolder:
        """Make ``<base>/runs/<run id>/``, delete runs beyond the last ten and what killed ones worked in.

        Parameters
        ----------
        base : pathlib.Path
            The project's ``.modelreg`` folder; gets a ``.gitignore`` of its own.
        run_id : str
            A UTC timestamp to the microsecond (``20260131T120000-000000Z``), so that names
            sort by age; runs of other names are never deleted.

        Raises
        ------
        RunFolderError
            When the folder cannot be made.
        """
        runs = base / "runs"
        run = cls.at(runs / safe_component(run_id))
        ignore = base / ".gitignore"
        if not ignore.exists():
            with suppress(OSError):  # a second worker may be writing the same bytes
                ignore.write_bytes(b"*\n")
        _delete_old_runs(runs, run.folder.name)
        run.followed_killed |= _sweep_runs(runs)
        return run

    @classmethod
    def at(cls, folder: Path) -> RunFolder:
        """Use a folder that the user chose; nothing beside it is touched, and inside only what is dead.

        Raises
        ------
        RunFolderError
            When the folder cannot be made.
        """
        run = cls(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            run.followed_killed = _remove_abandoned_work(folder)
            taken = run._lock.acquire(timeout_s=_LOCK_WAIT_S)
        except OSError as error:
            raise refuse_folder(folder, "run folder", error) from error
        if not taken:
            raise RunFolderError(
                f"{shown(folder)}: expected a free run folder, got one that is being deleted; run again"
            )
        return run

    @property
    def work_folder(self) -> Path:
        """Where this process may keep what it needs during the run; whoever makes it removes it."""
        return self.folder / self._work_name

    def case_folder(self, case_id: str) -> Path:
        """Return the folder of a case in progress, made empty.

        It is this process's own, inside :attr:`work_folder`: other processes may run the same
        case at the same time. What is kept of it is moved to where people look for it by
        :func:`~pytest_modelreg.store.case_folder.keep_case_folder`.

        Raises
        ------
        RunFolderError
            When the folder cannot be made.
        """
        folder = self.work_folder / CASES / safe_component(case_id)
        try:
            if folder.exists():  # left by an earlier try of the case
                shutil.rmtree(folder)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refuse_folder(folder, "folder of the case", error) from error
        return folder

    def close(self) -> None:
        """Give up the mark; the folder stays."""
        self._lock.release()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def require_possible(folder: Path) -> None:
    """Say without making anything whether a run can have this folder.

    Raises
    ------
    RunFolderError
        When it cannot, naming the place.
    """
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    if describe_obstacle(folder) is not None or not os.access(nearest, os.W_OK | os.X_OK):
        denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise refuse_folder(folder, "run folder", denied)


def _delete_old_runs(runs: Path, own: str) -> None:
    """Delete runs beyond the last :data:`KEPT_RUNS`, oldest names first.

    Only what is named like a run is touched: a downloaded run folder that somebody
    put here under another name stays. Entries may vanish while another run does the
    same.
    """
    with suppress(OSError):
        names = sorted(
            entry.name
            for entry in runs.iterdir()
            if _RUN_NAME.fullmatch(entry.name) and not entry.is_symlink()
        )
        for name in names[:-KEPT_RUNS]:
            if name < own:
                _delete_unused(runs / name)


def _delete_unused(folder: Path) -> None:
    lock = FolderLock(folder)
    with suppress(OSError):
        if lock.acquire(timeout_s=0.0):
            try:
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                lock.release()


def _sweep_runs(runs: Path) -> bool:
    """Remove what killed runs worked in: gigabytes that would stay until ten runs have followed."""
    try:
        names = [name for name in os.listdir(runs) if _RUN_NAME.fullmatch(name)]
    except OSError:
        return False
    return sum(_remove_abandoned_work(runs / name) for name in names) > 0


def _remove_abandoned_work(folder: Path) -> bool:
    """Remove what processes of a run worked in, unless one of them lives; return whether there was any.

    Each of them holds the run's folder as long as it lives, whatever has become of its id since.
    """
    with suppress(OSError):
        left = [name for name in os.listdir(folder) if _WORK_NAME.fullmatch(name)]
        lock = FolderLock(folder)
        if left and not folder.is_symlink() and lock.acquire(timeout_s=0.0):
            try:
                for name in left:
                    shutil.rmtree(folder / name, ignore_errors=True)
            finally:
                lock.release()
            return True
    return False
