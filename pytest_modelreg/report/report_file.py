"""Writing a report: whole or not at all, readable to whom the user's umask allows."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

from pytest_modelreg.domain.errors import UsageFault


def write_report(text: str, path: Path) -> None:
    """Write a report, a file atomically, so that a reader never sees half of one.

    Links are followed and stay. A device or a pipe is written to and never replaced. A
    lone surrogate (of a file name that has no UTF-8) is written as its JSON escape.

    Raises
    ------
    UsageFault
        When the file cannot be written, naming it.
    """
    data = text.encode("utf-8", errors="backslashreplace")
    try:
        if _is_special(path):
            _write_in_place(data, path)
        else:
            _replace(data, Path(os.path.realpath(path)))
    except OSError as error:
        reason = "nobody reads this pipe" if error.errno == errno.ENXIO else error.strerror
        raise UsageFault(
            f"{path}: the report cannot be written here ({reason}); name another file"
        ) from error


def require_writable(path: Path) -> None:
    """Make the folder of a report that is to come, and see that a file can be made there.

    Raises
    ------
    UsageFault
        When it cannot, naming the place.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not _is_special(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=target.parent):
                pass
    except OSError as error:
        raise UsageFault(
            f"{path}: expected a place for a report file, got one where none can be written "
            f"({error.strerror}); name another file"
        ) from error


def _is_special(path: Path) -> bool:
    """Whether there is something that is neither a file nor a folder, where links lead."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _write_in_place(data: bytes, path: Path) -> None:
    # Without the flag, opening a pipe would wait for a reader that may never come.
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "wb") as stream:
        if hasattr(os, "set_blocking"):
            os.set_blocking(handle, True)
        stream.write(data)


def _replace(data: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return the process's umask; ``mkstemp`` ignores it and would leave the file private."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
