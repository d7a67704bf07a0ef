"""Where the trials of a search work: a temporary folder, removed also when the search was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_modelreg.store.lock import FolderLock

PREFIX = "modelreg-bisect-"

RUN = "run"
"""The run folder in it, which its session holds as long as it lives."""

_MIN_AGE_S = 60.0
"""A folder that was made just now may not be held yet."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a place for a run folder; what searches that were killed left is removed before."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's
            _remove_abandoned(left)
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        yield Path(name, RUN)


def _remove_abandoned(folder: Path) -> None:
    if folder.is_symlink() or time.time() - os.stat(folder).st_mtime < _MIN_AGE_S:
        return
    lock = FolderLock(folder / RUN)
    with suppress(FileNotFoundError):  # killed before it began
        if not lock.acquire(timeout_s=0):
            return
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()
