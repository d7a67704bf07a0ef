"""The Python code of a suite: every file behind its references, and who needs it.

What belongs here: which references a suite has and the union of their closures. A new kind of
reference is one more line in :func:`list_suite_references`; its role is what messages call it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.engine.change.changed_files import ChangedFiles
from pytest_modelreg.engine.change.imports import CodeFile, ImportGraph, SourceShelf
from pytest_modelreg.engine.change.module_search import FolderListings
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.observe.references import list_references
from pytest_modelreg.runtimes.option import is_reference

_MAX_REFERENCES = 2
_ROLES = ("preprocess", "loader", "collate", "model", "forward", "transform", "runtime", "check")


@dataclass(kw_only=True)
class Use:
    """Who needs a file: roles and references, in the order of the suite."""

    roles: set[str] = field(default_factory=set)
    references: dict[str, None] = field(default_factory=dict)

    def merge(self, other: Use) -> None:
        """Add who needs another file."""
        self.roles |= other.roles
        self.references.update(other.references)

    def describe_roles(self) -> str:
        """Return the roles: ``preprocess and model code``."""
        return f"{' and '.join(sorted(self.roles, key=_ROLES.index))} code"

    def describe_references(self) -> str:
        """Return the first of the references, and how many there are beyond."""
        return name_some(self.references, _MAX_REFERENCES)


@dataclass(frozen=True, kw_only=True)
class SuiteCode:
    """The code of a suite within the repository.

    Parameters
    ----------
    python_path : tuple of str
        Absolute folders of its modules.
    files : dict of str to CodeFile
        By path.
    uses : dict of str to Use
        By path, of ``files`` and of files that are not there and would be imported if they were.
    unknown : dict of str to (str, Use)
        By name, modules that are nowhere to be found: a file that imports it, and for whom.
    """

    python_path: tuple[str, ...]
    files: dict[str, CodeFile] = field(default_factory=dict)
    uses: dict[str, Use] = field(default_factory=dict)
    unknown: dict[str, tuple[str, Use]] = field(default_factory=dict)


class CodeReader:
    """Gathers the code of suites that share files, reading each file and folder once."""

    def __init__(self, changed: ChangedFiles) -> None:
        self._changed = changed
        self._graphs: dict[tuple[str, ...], ImportGraph] = {}
        self._shelf = SourceShelf()
        self.listings = FolderListings()

    def read(self, suite: Suite) -> SuiteCode:
        """Return the code of a suite."""
        python_path = tuple(
            dict.fromkeys(folder for case in suite.cases for folder in case.template.python_path)
        )
        code = SuiteCode(python_path=python_path)
        graph = self._open_graph(python_path)
        for role, reference in list_suite_references(suite):
            closure = graph.follow(reference.partition(":")[0])
            code.files.update((file.path, file) for file in closure.files)
            for path in [*(file.path for file in closure.files), *closure.absent]:
                _add(code.uses.setdefault(path, Use()), role, reference)
            for name, importer in closure.unknown.items():
                _, use = code.unknown.setdefault(name, (importer, Use()))
                _add(use, role, reference)
        return code

    def _open_graph(self, python_path: Sequence[str]) -> ImportGraph:
        key = tuple(python_path)
        if key not in self._graphs:
            self._graphs[key] = ImportGraph(
                key, covers=self._covers, listings=self.listings, shelf=self._shelf
            )
        return self._graphs[key]

    def _covers(self, path: str) -> bool:
        return self._changed.covers(self._changed.resolve(path))


def list_suite_references(suite: Suite) -> list[tuple[str, str]]:
    """Return the ``module:attr`` references of all cases with their roles, each pair once."""
    found: dict[tuple[str, str], None] = {}
    for case in suite.cases:
        # The model's too where a runtime brings its own: asking which do would load them.
        found.update(dict.fromkeys(list_references(case.template, needs_model=True).items()))
        found.update(dict.fromkeys(("check", function) for function in case.functions))
        texts = list_texts(case.template.runtime.options)
        found.update(dict.fromkeys(("runtime", text) for text in texts if is_reference(text)))
    return sorted(found, key=lambda pair: _ROLES.index(pair[0]))


def list_texts(value: Any) -> Iterator[str]:
    """Yield every text in nested values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from list_texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from list_texts(inner)


def _add(use: Use, role: str, reference: str) -> None:
    use.roles.add(role)
    use.references[reference] = None
