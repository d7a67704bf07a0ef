"""From a module's name to its file, as Python would find it, without importing anything.

What belongs here: the order in which places are looked at. A case's ``python_path`` comes first,
as it does when the case runs; what it does not hold is asked of the import system, whose finders
know packages that are installed in place from this repository.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import EXTENSION_SUFFIXES

# Our own package is what runs the suite, not what it tests.
_PASSED_OVER = frozenset({"__main__", "pytest_modelreg"})


@dataclass(frozen=True, kw_only=True)
class ModulePlace:
    """Where a module is.

    Parameters
    ----------
    file : str or None
        Absolute; None for a namespace package, for a module that is not the repository's, and
        for none at all.
    folders : tuple of str
        Where submodules are looked for; empty for a module that has none.
    passed : tuple of str
        Files that would be this module, in front of ``file``, and are not there: one that was
        deleted was imported in its place.
    is_known : bool
        Whether there is such a module anywhere.
    is_namespace : bool
        Whether it is folders alone, which give way to any other module of the name.
    """

    file: str | None = None
    folders: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    is_known: bool = True
    is_namespace: bool = False


_NONE = ModulePlace(is_known=False)


class FolderListings:
    """What is in folders, each read once."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}

    def list_names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder; none for one that is not there."""
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(os.listdir(folder))
            except OSError:  # a folder of the path need not exist
                self._names[folder] = frozenset()
        return self._names[folder]


class ModuleSearch:
    """Finds modules for one ``python_path``.

    Parameters
    ----------
    python_path : sequence of str
        Absolute folders, searched in this order.
    covers : callable
        Whether a path belongs to the repository and is followed.
    listings : FolderListings
        Shared by searches.
    """

    def __init__(
        self, python_path: Sequence[str], *, covers: Callable[[str], bool], listings: FolderListings
    ) -> None:
        self._path = tuple(dict.fromkeys(python_path))
        self._covers = covers
        self._listings = listings
        self._places: dict[str, ModulePlace] = {}

    def find(self, name: str) -> ModulePlace:
        """Return where a module is, by its dotted name."""
        if name not in self._places:
            self._places[name] = self._find(name)
        return self._places[name]

    def _find(self, name: str) -> ModulePlace:
        parent, _, last = name.rpartition(".")
        if parent:
            return self._look_in(self.find(parent).folders, last)
        if name in _PASSED_OVER:
            return ModulePlace()
        own = self._look_in(self._path, name)
        if own.is_known and not own.is_namespace:
            return own
        if name in sys.stdlib_module_names:
            return ModulePlace(passed=own.passed)
        # A folder without __init__.py gives way to a package that is installed: `datasets`, say.
        installed = self._ask_import_system(name)
        if installed.is_known and not installed.is_namespace:
            return replace(installed, passed=own.passed)
        folders = tuple(dict.fromkeys((*own.folders, *installed.folders)))
        is_known = own.is_known or installed.is_known
        return ModulePlace(folders=folders, passed=own.passed, is_known=is_known, is_namespace=True)

    def _look_in(self, folders: Sequence[str], name: str) -> ModulePlace:
        portions: list[str] = []
        passed: list[str] = []
        for folder in folders:
            names = self._listings.list_names(folder)
            inside = os.path.join(folder, name)
            package = os.path.join(inside, "__init__.py")
            if name in names and "__init__.py" in self._listings.list_names(inside):
                return self._place(package, (inside,), passed)
            passed.append(package)
            for suffix in (*EXTENSION_SUFFIXES, ".py"):
                if f"{name}{suffix}" in names:
                    return self._place(f"{inside}{suffix}", (), passed)
            passed.append(f"{inside}.py")
            if name in names and os.path.isdir(inside):
                portions.append(inside)
        return ModulePlace(
            folders=tuple(portions), passed=tuple(passed), is_known=bool(portions), is_namespace=True
        )

    def _place(self, file: str, folders: tuple[str, ...], passed: Sequence[str]) -> ModulePlace:
        return ModulePlace(
            file=file if self._covers(file) else None,
            folders=tuple(filter(self._covers, folders)),
            passed=tuple(passed),
        )

    def _ask_import_system(self, name: str) -> ModulePlace:
        try:
            spec = importlib.util.find_spec(name)  # of a top-level name: imports nothing
        except (ImportError, ValueError, AttributeError):  # a broken finder, a module without a spec
            return _NONE
        if spec is None:
            return _NONE
        folders = tuple(os.path.abspath(folder) for folder in spec.submodule_search_locations or ())
        if not spec.has_location or spec.origin is None:
            return ModulePlace(folders=tuple(filter(self._covers, folders)), is_namespace=True)
        return self._place(os.path.abspath(spec.origin), folders, ())
