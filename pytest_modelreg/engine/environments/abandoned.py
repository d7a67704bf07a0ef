"""What killed sessions left behind: worktrees in temporary folders, half-built environments in the cache.

What belongs here: finding it and removing it. Each is held by a lock that ends with the process that
made it, so that nothing that is in use is meant. To add a kind, call what finds it in
:func:`remove_abandoned`.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments.built_environment import RECORD_FILE
from pytest_modelreg.engine.environments.cache_folder import find_cache_folder
from pytest_modelreg.engine.environments.worktree import Worktrees
from pytest_modelreg.store.lock import FolderLock

_BUILD_NAME = re.compile(r"[0-9a-f]{8}(\.tmp)?")


def remove_abandoned(root: Path) -> None:
    """Remove what killed sessions left of a project's repository and in the user's cache."""
    Worktrees(say=lambda line: None).sweep(root)
    with suppress(EnvironmentUnavailable):  # there is no cache at all
        sweep_abandoned_builds(find_cache_folder())


def sweep_abandoned_builds(cache: Path) -> None:
    """Remove what killed builds left: builds that no record names, where nobody is building."""
    try:
        folders = list((cache / "environments").iterdir())
    except OSError:  # nothing was ever built
        return
    for folder in folders:
        lock = FolderLock(folder)
        with suppress(OSError):
            if _list_abandoned(folder) and lock.acquire(timeout_s=0):
                try:
                    for build in _list_abandoned(folder):  # as it is now that nobody changes it
                        shutil.rmtree(build, ignore_errors=True)
                finally:
                    lock.release()


def _list_abandoned(folder: Path) -> list[Path]:
    """Return the builds of a folder that its record does not name."""
    try:
        named = str(json.loads((folder / RECORD_FILE).read_bytes())["build"])
    except FileNotFoundError:
        named = ""
    except (ValueError, KeyError, TypeError):
        return []  # of another version of this package, or damaged: whoever needs it decides
    return [
        inside
        for inside in folder.iterdir()
        if _BUILD_NAME.fullmatch(inside.name) and inside.name != named and not inside.is_symlink()
    ]
