"""Reasons in files that a suite's code may read: a table beside a module, a configuration.

What belongs here: guessing what code opens, which its text says only in part. A changed file that
is no Python counts for a suite when it lies in a package of its code (in a folder of the package, up
to the next package inside), or when its name stands as text in a file of its code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial

from pytest_modelreg.engine.change.changed_files import Change, ChangedFiles, Reason, shorten
from pytest_modelreg.engine.change.module_search import FolderListings
from pytest_modelreg.engine.change.suite_code import SuiteCode
from pytest_modelreg.engine.discovery import SUITE_FILE

_MAX_FILES = 3
_NOT_READ = (".*", "*.md", "*.rst", "*.pyi", "py.typed", "README*", "LICENSE*", SUITE_FILE, f"*.{SUITE_FILE}")


class DataChanges:
    """Changed files that are no Python, ready to be asked about by many suites.

    Parameters
    ----------
    changed : ChangedFiles
        All changes.
    taken : iterable of str
        Folders and files of sample sets and goldens, links resolved: what is in them is no code's.
    listings : FolderListings
        Shared with the search for modules.
    """

    def __init__(self, changed: ChangedFiles, *, taken: Iterable[str], listings: FolderListings) -> None:
        self._changed = changed
        self._listings = listings
        taken = frozenset(taken)
        taken_roots = tuple(os.path.join(place, "") for place in taken)
        self._by_name: dict[str, list[Change]] = {}
        self._by_folder: dict[str, list[Change]] = {}
        for change in changed:
            is_taken = change.path in taken or change.path.startswith(taken_roots)
            if change.is_folder or change.path.endswith(".py") or is_taken:
                continue
            folder, name = os.path.split(change.path)
            self._by_name.setdefault(name, []).append(change)
            if not any(fnmatchcase(name, pattern) for pattern in _NOT_READ):
                self._by_folder.setdefault(folder, []).append(change)

    def explain(self, code: SuiteCode) -> Iterator[str]:
        """Yield which changed files a suite's code may read."""
        found: dict[str, Reason] = {}
        packages: dict[str, str] = {}
        for path, file in code.files.items():
            for name in file.source.file_names & self._by_name.keys():
                for change in self._by_name[name]:
                    if self._is_near(change, path):
                        reason = partial(self._describe, change, code, path, "which names it")
                        found.setdefault(change.path, reason)
            if "." in file.module or os.path.basename(path) == "__init__.py":
                packages.setdefault(os.path.dirname(self._changed.resolve(path)), path)
        nearest: dict[str, str | None] = {}
        for folder, changes in self._by_folder.items():
            package = self._find_package(folder, packages, nearest)
            if package is not None:
                for change in changes:
                    reason = partial(
                        self._describe, change, code, packages[package], "whose package holds it"
                    )
                    found.setdefault(change.path, reason)
        yield from shorten([*found.values()], "more files changed that its code may read", limit=_MAX_FILES)

    def _describe(self, change: Change, code: SuiteCode, path: str, why: str) -> str:
        use = code.uses[path]
        return (
            f"{self._changed.show(change.path)} {change.what} "
            f"(may be read by {use.describe_roles()}: {self._changed.show(path)}, {why})"
        )

    def _is_near(self, change: Change, path: str) -> bool:
        """Whether a file is in the project, or below the folder of a module that is elsewhere."""
        folders = (self._changed.root, os.path.dirname(self._changed.resolve(path)))
        return change.path.startswith(tuple(os.path.join(folder, "") for folder in folders))

    def _find_package(
        self, folder: str, packages: dict[str, str], nearest: dict[str, str | None]
    ) -> str | None:
        """Return the folder of the code's package that a folder is part of."""
        if folder not in nearest:
            if folder in packages:
                nearest[folder] = folder
            elif "__init__.py" in self._listings.list_names(folder) or folder == self._changed.top:
                nearest[folder] = None
            else:
                nearest[folder] = self._find_package(os.path.dirname(folder), packages, nearest)
        return nearest[folder]
