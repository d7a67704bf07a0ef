"""Reasons in a suite's Python code: a file changed that it imports, or may import.

What belongs here: what a changed ``.py`` file means for a suite. Where the text of a file does not
say what it imports, the answer is the careful one, and says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from pytest_modelreg.engine.change.changed_files import Change, ChangedFiles, Reason, shorten
from pytest_modelreg.engine.change.suite_code import SuiteCode, Use
from pytest_modelreg.observe.python_source import Reach

_MAX_FILES = 5


class CodeChanges:
    """Changed Python files, ready to be asked about by many suites."""

    def __init__(self, changed: ChangedFiles) -> None:
        self._changed = changed
        self._by_name: dict[str, list[Change]] = {}
        self._importable: list[Change] = []
        for change in filter(_is_code, changed):
            inside = os.path.relpath(change.path, changed.top)
            for name in set(inside.removesuffix(".py").split(os.sep)):
                self._by_name.setdefault(name, []).append(change)
            if not _is_test(change) and changed.covers(change.path):
                self._importable.append(change)

    def explain(self, code: SuiteCode) -> Iterator[str]:
        """Yield why the code of a suite may not do what it did."""
        found: dict[str, Reason] = {}
        imported: dict[str, tuple[Change, Use]] = {}
        for path, use in code.uses.items():
            change = self._changed.find(path)
            if change is not None:
                imported.setdefault(change.path, (change, Use()))[1].merge(use)
        for change, use in imported.values():
            found[change.path] = partial(self._describe_imported, change, use)
        self._add_unknown(found, code)
        self._add_reached(found, code)
        yield from shorten([*found.values()], "more files of its code changed", limit=_MAX_FILES)
        for path, file in code.files.items():
            if file.source.fault:
                use = code.uses[path]
                yield (
                    f"{use.describe_roles()} cannot be parsed: {self._changed.show(path)} "
                    f"({file.source.fault}), so that what it imports is not known ({_imported_by(use)})"
                )

    def _add_unknown(self, found: dict[str, Reason], code: SuiteCode) -> None:
        """Add files named like a module that is imported and not on the path."""
        for name, (importer, use) in code.unknown.items():
            by = self._changed.show(importer) if importer else "the suite file"
            why = f"{by} imports {name}, which python_path does not hold"
            for change in self._by_name.get(name, ()):
                found.setdefault(change.path, partial(self._describe_possible, change, use, why))

    def _add_reached(self, found: dict[str, Reason], code: SuiteCode) -> None:
        """Add files that code imports, perhaps, without naming them."""
        path_roots = tuple(os.path.join(self._changed.resolve(folder), "") for folder in code.python_path)
        for path, file in code.files.items():
            if file.source.reach is Reach.NOWHERE:
                continue
            anywhere = file.source.reach is Reach.REPOSITORY
            why = f"{self._changed.show(path)} does not say what it imports: {file.source.reach_reason}"
            for change in self._importable:
                if anywhere or change.path.startswith(path_roots):
                    reason = partial(self._describe_possible, change, code.uses[path], why)
                    found.setdefault(change.path, reason)

    def _describe_imported(self, change: Change, use: Use) -> str:
        why = f"{_whole(change)}{_imported_by(use)}"
        return f"{use.describe_roles()} {change.what}: {self._changed.show(change.path)} ({why})"

    def _describe_possible(self, change: Change, use: Use, why: str) -> str:
        shown = self._changed.show(change.path)
        return f"{use.describe_roles()} may import {shown}, {change.what} ({_whole(change)}{why})"


def _whole(change: Change) -> str:
    return "a repository of its own; " if change.is_folder else ""


def _is_code(change: Change) -> bool:
    return change.is_folder or change.path.endswith(".py")


def _is_test(change: Change) -> bool:
    name = os.path.basename(change.path)
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")


def _imported_by(use: Use) -> str:
    return f"imported by {use.describe_references()}"
