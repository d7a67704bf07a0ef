"""How a case that could not run is put into words: message first, then where in user code."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

from pytest_modelreg.domain.errors import CaseError, ModelRegError

_PACKAGE = Path(__file__).resolve().parent.parent
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_MAX_FRAMES = 6


def describe_failure(error: ModelRegError) -> str:
    """Return the error's message, followed by the user's own frames when their code raised."""
    lines = str(error).splitlines() or [type(error).__name__]
    if isinstance(error, CaseError) and error.__cause__ is not None:
        lines += _user_frames(error.__cause__)
    return "\n".join(lines)


def describe_crash(error: BaseException) -> str:
    """Return the text for an exception nobody foresaw: a fault of this package, or of a plug-in of it."""
    frames = "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
    return (
        f"unexpected {type(error).__name__}: {error}\n"
        "This is a fault of pytest-modelreg or of an extension of it, not of your model. "
        "Please report it with:\n"
        f"{frames}"
    )


def _is_internal(path: Path) -> bool:
    """Whether a file is ours or the standard library's: nothing a user would look into."""
    if path.is_relative_to(_PACKAGE):
        return True
    return path.is_relative_to(_STANDARD_LIBRARY) and "site-packages" not in path.parts


def _user_frames(cause: BaseException) -> list[str]:
    """Return the innermost frames of user code that led to ``cause``, outermost first."""
    frames = [
        frame
        for frame in traceback.extract_tb(cause.__traceback__)
        if not frame.filename.startswith("<") and not _is_internal(Path(frame.filename))
    ]
    if all("site-packages" in Path(frame.filename).parts for frame in frames):
        return []  # a decoder or a framework complained of a file: the message says which
    lines = []
    for frame in frames[-_MAX_FRAMES:]:
        lines.append(f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}')
        if frame.line:
            lines.append(f"    {frame.line}")
    if lines:
        lines.append(f"{type(cause).__name__}: {cause}")
    return lines
