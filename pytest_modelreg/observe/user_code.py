"""Errors of user code, told so that the user finds the place.

What belongs here: turning an exception that left the user's model, preprocess or
loader into one of our errors, with the original's type, message, file and line.
"""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_modelreg.domain.errors import CaseError

_OWN_FOLDER = str(Path(__file__).resolve().parents[1])
_LIBRARY_FOLDERS = tuple(
    path for key in ("stdlib", "platstdlib") if (path := sysconfig.get_paths().get(key)) is not None
)
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_MESSAGE_LIMIT = 2000


@contextmanager
def attributed(kind: type[CaseError], what: str, hint: str = "") -> Iterator[None]:
    """Re-raise what user code raises as an error of ours that says where it came from.

    Errors that are ours already pass through. ``SystemExit`` is user code's too: an
    ``exit()`` in a model file must not end the test session.

    Parameters
    ----------
    kind : type of CaseError
        Which of our errors to raise.
    what : str
        Beginning of the message: what was being done, with what.
    hint : str
        End of the message: what to do next.
    """
    try:
        yield
    except CaseError:
        raise
    except (Exception, SystemExit) as error:  # user code
        raise kind(f"{what} raised {describe_error(error)}{'; ' + hint if hint else ''}") from error


def describe_error(error: BaseException) -> str:
    """Return ``Type: message (at file:line)`` with the line in the user's own code."""
    text = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg} (at {error.filename}:{error.lineno})"
    if len(text) > _MESSAGE_LIMIT:
        text = f"{text[:_MESSAGE_LIMIT]} ... ({len(text)} characters)"
    place = locate_error(error)
    return f"{type(error).__name__}: {text}{f' (at {place})' if place else ''}"


def locate_error(error: BaseException) -> str | None:
    """Return ``file:line`` of the innermost frame in the user's code.

    Frames of installed packages, of the standard library and of this package are passed
    over; None when nothing else is left.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not is_library(frame.filename):
            return f"{frame.filename}:{frame.lineno}"
    return None


def is_library(filename: str) -> bool:
    """Whether a file is of an installed package, of the standard library or of this package."""
    if filename.startswith(("<", _OWN_FOLDER)):
        return True
    if any(part in _PACKAGE_FOLDERS for part in Path(filename).parts):
        return True
    return filename.startswith(_LIBRARY_FOLDERS)
