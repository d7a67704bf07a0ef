"""Suite imports: a suite gets the modules of its own ``python_path``, nobody else does.

What belongs here: what happens to ``sys.path`` and ``sys.modules`` around a case.

Two suites that each have a ``pipeline.py`` are the accident prevented here. Modules of
the suite's path are taken out of ``sys.modules`` when the case is over, and kept for
the next case of the same path, so that variants do not import twice. A module that
somebody else imported under a name which the suite's path also holds is hidden; asking
for it is an error, because either answer could be the wrong one.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pytest_modelreg.domain.errors import ImportReferenceError
from pytest_modelreg.observe.fresh_source import FreshSourceFinder

# Hiding these would take away what this very process runs on. Our own package is passed
# over: a checkout of it in the suite's path is no reason to refuse the installed one.
_NEVER_HIDDEN = frozenset({"numpy", "torch"})
_PASSED_OVER = sys.stdlib_module_names | {"__main__", "pytest_modelreg"}


@dataclass(kw_only=True)
class SuiteModules:
    """What cases of one ``python_path`` share.

    Parameters
    ----------
    folders : tuple of str
        The path, absolute and without repetitions.
    modules : dict of str to module
        Kept from earlier cases, out of ``sys.modules`` while no case runs.
    added_folders : tuple of str
        What importing them added to ``sys.path``.
    settings : dict
        What importing them changed in the process; see ``state``.
    stamps : dict of str to (int, int)
        Their files' modification time (nanoseconds) and size (bytes); None: no such file.
    """

    folders: tuple[str, ...]
    modules: dict[str, ModuleType] = field(default_factory=dict)
    added_folders: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    stamps: dict[str, tuple[int, int] | None] = field(default_factory=dict)

    def keep(self, modules: dict[str, ModuleType]) -> None:
        """Keep modules for the next case, with the stamps of their files."""
        self.modules = modules
        files = {file for module in modules.values() if (file := _file_of(module)) is not None}
        self.stamps = {file: _stamp(file) for file in files}

    def forget_edited(self) -> None:
        """Forget all modules when the file of one was edited: one session may outlive an edit."""
        if any(_stamp(file) != stamp for file, stamp in self.stamps.items()):
            self._forget()

    def forget_displaced(self) -> None:
        """Forget all modules when somebody else has since imported the name of one.

        What was kept would otherwise win over the module that a first import meets, and a
        clash would be refused or not depending on which case ran first in this process.
        """
        for name, module in self.modules.items():
            other = module if "." in name else sys.modules.get(name, module)
            if other is not module and other is not _left_by_suites.get(name):
                self._forget()
                return

    def _forget(self) -> None:
        self.modules, self.stamps, self.settings, self.added_folders = {}, {}, {}, ()


_kept: dict[tuple[str, ...], SuiteModules] = {}
# Loaded by a suite and left in sys.modules, because a plain import finds the same file.
_left_by_suites: dict[str, ModuleType] = {}


@contextmanager
def suite_imports(python_path: Sequence[str]) -> Iterator[SuiteModules]:
    """Put a suite's folders in front of ``sys.path`` and keep its modules apart.

    Parameters
    ----------
    python_path : sequence of str
        Absolute folders, searched in this order.

    Raises
    ------
    ImportReferenceError
        The path holds a package that this process itself runs on, from another file;
        or, while the block runs, user code imports a name that both the path and
        somebody else's already imported module answer to.
    """
    folders = tuple(dict.fromkeys(os.path.abspath(folder) for folder in python_path))
    suite = _kept.setdefault(folders, SuiteModules(folders=folders))
    suite.forget_edited()
    suite.forget_displaced()
    path_before = list(sys.path)
    hidden, refusals = _hide_namesakes(_list_modules(folders))
    names_before = set(sys.modules)
    finders: list[Any] = [_NamesakeRefuser(refusals), FreshSourceFinder([*folders, *suite.added_folders])]
    sys.meta_path[:0] = finders
    sys.path[:0] = [*folders, *suite.added_folders]
    # A suite's files may be newer than what the import system has listed.
    importlib.invalidate_caches()
    sys.modules.update(suite.modules)
    try:
        yield suite
    finally:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in finders]
        known = {*path_before, *folders}
        suite.added_folders = tuple(folder for folder in sys.path if folder not in known)
        sys.path[:] = path_before
        suite.keep(_take_modules((*folders, *suite.added_folders), names_before))
        sys.modules.update(hidden)


def list_module_names(folder: str) -> dict[str, str]:
    """Return the modules directly in a folder: name -> file, packages by their ``__init__.py``."""
    found: dict[str, str] = {}
    try:
        entries = list(os.scandir(folder))
    except OSError:  # a folder of the path need not exist
        return found
    for entry in entries:
        if entry.name.endswith(".py"):
            found.setdefault(entry.name[:-3], entry.path)
        elif "." not in entry.name and entry.is_dir():
            package = os.path.join(entry.path, "__init__.py")
            if os.path.isfile(package):
                found[entry.name] = package  # a package wins over a module of its name
    return found


class _NamesakeRefuser:
    """First finder on ``sys.meta_path``: refuses names that two files answer to."""

    def __init__(self, refusals: Mapping[str, str]) -> None:
        self._refusals = refusals

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in self._refusals:
            raise ImportReferenceError(self._refusals[name])
        return None


def _list_modules(folders: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for folder in folders:
        for name, file in list_module_names(folder).items():
            found.setdefault(name, file)
    return found


def _hide_namesakes(own: Mapping[str, str]) -> tuple[dict[str, ModuleType], dict[str, str]]:
    """Take modules that are namesakes of the suite's out of ``sys.modules``.

    Returns
    -------
    tuple of dict
        The modules taken out, and by name what to say when one is imported.
    """
    namesakes: list[str] = []
    refusals: dict[str, str] = {}
    for name, file in own.items():
        module = sys.modules.get(name)
        if module is None or name in _PASSED_OVER:
            continue
        loaded = _file_of(module)
        if loaded is not None and os.path.realpath(loaded) == os.path.realpath(file):
            continue
        if name in _NEVER_HIDDEN:
            raise ImportReferenceError(_describe_namesake(name, file, module))
        namesakes.append(name)
        if _left_by_suites.get(name) is not module:
            refusals[name] = _describe_namesake(name, file, module)
    return _pop_with_submodules(namesakes), refusals


def _describe_namesake(name: str, file: str, module: ModuleType) -> str:
    elsewhere = _file_of(module) or ", ".join(map(str, getattr(module, "__path__", ["(no file)"])))
    return (
        f"module {name!r}: the suite's path holds {file}, but {name!r} is already imported from "
        f"{elsewhere}; rename one of the two, put it into a package, or run the suite in a pytest run "
        f"of its own"
    )


def _take_modules(folders: Sequence[str], names_before: set[str]) -> dict[str, ModuleType]:
    """Take what the suite imported from its path out of ``sys.modules``.

    A module stays when a plain import would find the same file: other code could have
    imported it too, and must not get a second copy of its classes.
    """
    roots = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
    tops = {name.partition(".")[0] for name in sys.modules if name not in names_before} - names_before
    fresh = [name for name in tops if name in sys.modules and _is_inside(sys.modules[name], roots)]
    left = {name for name in fresh if _is_found_plainly(name, sys.modules[name])}
    _left_by_suites.update((name, sys.modules[name]) for name in left)
    return _pop_with_submodules([name for name in fresh if name not in left])


def _pop_with_submodules(tops: Sequence[str]) -> dict[str, ModuleType]:
    wanted = set(tops)
    names = [name for name in sys.modules if name.partition(".")[0] in wanted] if wanted else []
    return {name: sys.modules.pop(name) for name in names}


def _is_inside(module: ModuleType, roots: tuple[str, ...]) -> bool:
    file = _file_of(module)
    places = [file] if file is not None else [str(place) for place in getattr(module, "__path__", [])]
    return any(os.path.realpath(place).startswith(roots) for place in places)


def _is_found_plainly(name: str, module: ModuleType) -> bool:
    """Whether the finders, asked now, would load the module from the same place."""
    # importlib.util.find_spec would answer from sys.modules.
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    spec = next((spec for finder in finders if (spec := finder.find_spec(name, None)) is not None), None)
    if spec is None:
        return False
    file = _file_of(module)
    if file is not None:
        return spec.origin is not None and os.path.realpath(spec.origin) == os.path.realpath(file)
    return set(spec.submodule_search_locations or ()) == set(getattr(module, "__path__", ()))


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _file_of(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    return os.path.abspath(file) if isinstance(file, str) else None
