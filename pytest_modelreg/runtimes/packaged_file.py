"""Files that a suite names: its own, or those which an installed package ships.

What belongs here: from what an option says to a path. A package is looked up and not imported: suites are
read while they are only collected, and importing would run code of the model's distribution.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def list_package_folders(package: str) -> tuple[Path, ...] | None:
    """Return the folders of an installed top-level package; empty for a single module, None where it is not.

    Parameters
    ----------
    package : str
        Its import name.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # a broken finder, or __main__, which has no spec
        spec = None
    if spec is None:
        return None
    return tuple(Path(folder) for folder in spec.submodule_search_locations or ())


def is_inside(file: str) -> bool:
    """Return whether a path, as written, stays below the folder that it is relative to."""
    return not (os.path.isabs(file) or ".." in Path(file).parts or "\0" in file)


def place_file(value: Any, root: Path) -> Path:
    """Return the path that an option means: a path relative to the suite, or ``{package: NAME, path: FILE}``.

    Only for values that ``option.check_file`` accepts.
    """
    if not isinstance(value, Mapping):
        return root / str(value)
    folders = list_package_folders(str(value["package"])) or (root,)
    places = [folder / str(value["path"]) for folder in folders]
    return next((place for place in places if place.is_file()), places[0])
