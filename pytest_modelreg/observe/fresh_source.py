"""A suite's own modules, compiled from their source at every import.

Python trusts a cached ``.pyc`` as long as the source's size and its modification time, in
whole seconds, are unchanged. An edit of equal length within a second of the last run, a
swapped constant in a script, goes unnoticed then, and the old code would be judged as if it
were the new. What a comparison says must be said of the source that is there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


def list_source_files(folders: Sequence[str]) -> list[str]:
    """Return the files of the modules below some folders that are imported now.

    Parameters
    ----------
    folders : sequence of str
        Absolute; packages installed below them are left out.
    """
    roots = tuple(os.path.join(folder, "") for folder in folders)
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return sorted(
        file
        for file in files
        if isinstance(file, str) and file.startswith(roots) and "site-packages" not in file
    )


class FreshSourceLoader(SourceFileLoader):
    """Loads a module from its source and nothing else; writes no bytecode either."""

    def get_code(self, fullname: str) -> CodeType | None:
        """Compile the source."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class FreshSourceFinder:
    """Finds modules as usual and has those below some folders compiled afresh.

    Parameters
    ----------
    folders : sequence of str
        Absolute. Packages installed below them (a virtual environment in the project)
        are left alone: nobody edits those between two runs.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = tuple(folders)
        self._roots = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
        self._is_own: dict[str, bool] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the folders, None for every other."""
        if not self._may_hold(name.partition(".")[0]):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        file = os.path.realpath(spec.origin)
        if not file.startswith(self._roots) or "site-packages" in file:
            return None
        spec.loader = FreshSourceLoader(spec.loader.name, spec.loader.path)
        spec.cached = None
        return spec

    def _may_hold(self, top: str) -> bool:
        """Whether a top-level name can be one of the folders', asked of the disk once a name."""
        if top not in self._is_own:
            places = [os.path.join(folder, top) for folder in self._folders]
            self._is_own[top] = any(os.path.isdir(place) or os.path.isfile(f"{place}.py") for place in places)
        return self._is_own[top]
