"""The folder of a case: a process's own while the case is in progress, then in the run's folder.

What belongs here: how the one becomes the other. Several processes may run the same case
into one run folder; what people find there is always one case's files, whole.
"""

from __future__ import annotations

import errno
import shutil
from contextlib import suppress
from pathlib import Path

from pytest_modelreg.domain.errors import RunFolderError
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.obstacle import describe_obstacle

WORK_PREFIX = ".work-"
"""How the folders begin that processes work in, inside a run folder."""

CASES = "cases"
"""The folder of cases in progress, inside a process's own."""

_MAX_RENAMES = 20


def is_in_progress(folder: Path) -> bool:
    """Whether this is the folder of a case that was not kept or dropped yet."""
    return _kept_place(folder) is not None and folder.is_dir()


def keep_case_folder(folder: Path) -> Path:
    """Move the folder of a case in progress into its run's folder, in the place of one before it.

    Parameters
    ----------
    folder : pathlib.Path
        As :meth:`RunFolder.case_folder` returned it.

    Returns
    -------
    pathlib.Path
        Where it is now: ``<run>/<case id>``.

    Raises
    ------
    RunFolderError
        When it cannot be moved; it is then where it was.
    """
    place = _kept_place(folder)
    if place is None:
        return folder
    try:
        for attempt in range(_MAX_RENAMES):
            _remove_kept(place, trash=folder.with_name(f".replaced-{attempt}"))
            with suppress(FileExistsError):
                return _rename(folder, place)
    except OSError as error:
        raise refuse_folder(place, "folder of the case", error) from error
    raise RunFolderError(f"{shown(place)}: expected a place for the case, got one that others keep writing")


def drop_case_folder(folder: Path) -> None:
    """Remove the folder of a case in progress, and what an earlier try of the case left of it."""
    place = _kept_place(folder)
    shutil.rmtree(folder, ignore_errors=True)
    if place is not None:
        with suppress(OSError):
            _remove_kept(place, trash=folder.with_name(".replaced"))


def _kept_place(folder: Path) -> Path | None:
    """Return where the folder of a case in progress belongs; None for a folder that is none."""
    work = folder.parent.parent
    return work.parent / folder.name if work.name.startswith(WORK_PREFIX) else None


def _remove_kept(place: Path, *, trash: Path) -> None:
    """Remove a kept folder; renamed first, so that nobody sees half of one."""
    with suppress(FileNotFoundError):
        place.rename(trash)
    shutil.rmtree(trash, ignore_errors=True)


def _rename(folder: Path, place: Path) -> Path:
    try:
        return folder.rename(place)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # another process was faster
            raise FileExistsError(error.errno, error.strerror, str(place)) from error
        raise


def refuse_folder(folder: Path, what: str, error: OSError) -> RunFolderError:
    """Return the error for a folder of a run that cannot be made."""
    reason = describe_obstacle(folder) or f"{error.strerror or error}; free space or give write access"
    return RunFolderError(f"{shown(folder)}: the {what} cannot be made: {reason}")
