"""One process at a time in a folder, without leaving anything behind.

What belongs here: locking and its differences between systems. On POSIX the folder's
own descriptor is locked, so there is no lock file to leave behind or to commit by
accident. Where that is not possible (Windows, some network file systems) a file in the
temporary folder, named by the folder's digest, stands for it. Either lock ends with
the process that holds it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.naming import shown

_POLL_S = 0.05
_BUSY = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})

if sys.platform == "win32":
    import msvcrt

    _SHARES = 1024

    def _lock_bytes(descriptor: int, start: int, length: int) -> bool:
        os.lseek(descriptor, start, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, length)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True

    def _try_lock(descriptor: int, shared: bool) -> bool:
        # There are only exclusive byte ranges: a share is one byte out of the whole.
        if not shared:
            return _lock_bytes(descriptor, 0, _SHARES)
        first = os.getpid() % _SHARES
        return any(_lock_bytes(descriptor, (first + step) % _SHARES, 1) for step in range(_SHARES))

    def _open_folder(folder: Path) -> int:
        return _open_stand_in(folder)
else:
    import fcntl

    def _try_lock(descriptor: int, shared: bool) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True

    def _open_folder(folder: Path) -> int:
        return os.open(folder, os.O_RDONLY)


def _open_stand_in(folder: Path) -> int:
    """Open the file in the temporary folder that stands for a folder that cannot be locked."""
    name = hashlib.sha256(os.fsencode(os.path.normcase(folder.resolve()))).hexdigest()[:32]
    return os.open(Path(tempfile.gettempdir()) / f"modelreg-{name}.lock", os.O_RDWR | os.O_CREAT, 0o666)


class FolderLock:
    """A lock on a folder, held until :meth:`release` or the end of the process.

    Parameters
    ----------
    folder : pathlib.Path
        Existing folder.
    shared : bool
        Whether others may hold it shared at the same time.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self._folder = folder
        self._shared = shared
        self._descriptor: int | None = None

    def acquire(self, *, timeout_s: float) -> bool:
        """Take the lock; return False when it is still busy after ``timeout_s`` seconds.

        Raises
        ------
        OSError
            When the folder does not exist or cannot be opened.
        """
        deadline = time.monotonic() + timeout_s
        descriptor = _open_folder(self._folder)
        try:
            try:
                taken = _try_lock(descriptor, self._shared)
            except OSError:  # this file system locks no directories
                os.close(descriptor)
                descriptor = _open_stand_in(self._folder)
                taken = _try_lock(descriptor, self._shared)
            while not taken and time.monotonic() < deadline:
                time.sleep(_POLL_S)
                taken = _try_lock(descriptor, self._shared)
            if taken:
                self._descriptor, descriptor = descriptor, -1
            return taken
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)  # closing ends either kind of lock
            self._descriptor = None


@contextmanager
def locked(folder: Path, *, timeout_s: float = 60.0) -> Iterator[None]:
    """Hold a folder exclusively for the length of a ``with`` block.

    Parameters
    ----------
    folder : pathlib.Path
        Existing folder.
    timeout_s : float
        How long to wait for another process, seconds.

    Raises
    ------
    GoldenError
        When another process holds the folder all that time.
    OSError
        When the folder does not exist or cannot be opened.
    """
    lock = FolderLock(folder)
    if not lock.acquire(timeout_s=timeout_s):
        raise GoldenError(
            f"{shown(folder)}: expected to be the only process that writes here, but another one has held"
            f" the folder for {timeout_s:g} s; wait until the other one ends, then run this one again"
        )
    try:
        yield
    finally:
        lock.release()
