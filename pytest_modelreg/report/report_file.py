"""Writing a report: whole or not at all, readable to whom the user's umask allows."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pytest_modelreg.domain.errors import UsageFault


def write_report(text: str, path: Path) -> None:
    """Write a report atomically, so that a reader never sees half of one.

    A lone surrogate (of a file name that has no UTF-8) is written as its JSON escape.

    Raises
    ------
    UsageFault
        When the file cannot be written, naming it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
                stream.write(text)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageFault(
            f"{path}: the report cannot be written here ({error.strerror}); name another file"
        ) from error


def _umask() -> int:
    """Return the process's umask; ``mkstemp`` ignores it and would leave the file private."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
