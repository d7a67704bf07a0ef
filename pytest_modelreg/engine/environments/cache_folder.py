"""Where built environments are kept between sessions: in the user's cache, never in a project."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pytest_modelreg.domain.errors import EnvironmentUnavailable

CACHE_VARIABLE = "MODELREG_CACHE"
"""Variable that names another folder."""

_NAME = "pytest-modelreg"


def find_cache_folder(variables: Mapping[str, str] = os.environ, *, platform: str = sys.platform) -> Path:
    """Return the folder in which this package keeps what can be made again; it need not exist.

    ``MODELREG_CACHE`` if set, else ``pytest-modelreg`` in the user's cache: ``XDG_CACHE_HOME`` or
    ``~/.cache``, ``~/Library/Caches`` on macOS, ``LOCALAPPDATA`` on Windows.

    Raises
    ------
    EnvironmentUnavailable
        When ``MODELREG_CACHE`` is a relative path, or there is no home folder.
    """
    named = variables.get(CACHE_VARIABLE)
    if named:
        folder = Path(os.path.expanduser(named))
        if not folder.is_absolute():
            raise EnvironmentUnavailable(
                f"{CACHE_VARIABLE}: expected the absolute path of a folder, got {named}, which would be "
                "another one in every working directory"
            )
        return folder
    if platform == "win32" and variables.get("LOCALAPPDATA"):
        return Path(variables["LOCALAPPDATA"], _NAME, "Cache")
    given = variables.get("XDG_CACHE_HOME", "")
    if platform != "darwin" and os.path.isabs(given):  # a relative one is to be ignored, says its standard
        return Path(given, _NAME)
    try:
        home = Path.home()
    except RuntimeError as error:
        raise EnvironmentUnavailable(
            f"expected a home folder to keep environments in, got none; set {CACHE_VARIABLE} to a folder"
        ) from error
    return home / ("Library/Caches" if platform == "darwin" else ".cache") / _NAME


def make_folder(folder: Path) -> None:
    """Make a folder below the cache.

    Raises
    ------
    EnvironmentUnavailable
        When it cannot be made or written; it names the variable that names another one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refuse_folder(folder, error) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise refuse_folder(folder, None)


def refuse_folder(folder: Path, error: OSError | None) -> EnvironmentUnavailable:
    """Return the error for a folder of the cache that cannot be used."""
    reason = "no permission to write" if error is None else error.strerror or str(error)
    return EnvironmentUnavailable(
        f"expected a folder to keep environments in, got {folder}: {reason}; set {CACHE_VARIABLE} to one "
        "that can be written"
    )
