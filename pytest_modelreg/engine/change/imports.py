"""What a reference imports, and what that imports: the closure of its code within a repository.

What belongs here: following imports from file to file. Each file is parsed once, and each module's
own imports are resolved once for a ``python_path``, however many suites and references reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pytest_modelreg.engine.change.module_search import FolderListings, ModulePlace, ModuleSearch
from pytest_modelreg.observe.python_source import STAR, Import, Source, read_source


@dataclass(frozen=True, kw_only=True)
class CodeFile:
    """A file of the closure.

    Parameters
    ----------
    module : str
        Its dotted name.
    path : str
        Absolute, as it was found.
    source : Source
        What it says; empty for a compiled module.
    """

    module: str
    path: str
    source: Source


@dataclass(frozen=True, kw_only=True)
class Closure:
    """The code behind a reference, as far as it is in the repository.

    Parameters
    ----------
    files : tuple of CodeFile
        The reference's own module first.
    absent : mapping of str to str
        Files that are not there and would be imported if they were, with the module's name.
    unknown : mapping of str to str
        Top-level modules that are nowhere to be found, with a file that imports them.
    """

    files: tuple[CodeFile, ...] = ()
    absent: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


class SourceShelf:
    """Python files that were read, each once."""

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {}

    def read(self, path: str) -> Source:
        """Return what a file says."""
        if path not in self._sources:
            self._sources[path] = read_source(path) if path.endswith(".py") else Source()
        return self._sources[path]


class ImportGraph:
    """Who imports whom, for one ``python_path``.

    Parameters
    ----------
    python_path : sequence of str
        Absolute folders.
    covers : callable
        Whether a file is followed.
    listings, shelf
        Shared by the graphs of a command.
    """

    def __init__(
        self,
        python_path: Sequence[str],
        *,
        covers: Callable[[str], bool],
        listings: FolderListings,
        shelf: SourceShelf,
    ) -> None:
        self._search = ModuleSearch(python_path, covers=covers, listings=listings)
        self._shelf = shelf
        self._imported: dict[str, tuple[str, ...]] = {}
        self._closures: dict[str, Closure] = {}

    def follow(self, module: str) -> Closure:
        """Return everything that importing a module may import."""
        if module not in self._closures:
            self._closures[module] = self._follow(module)
        return self._closures[module]

    def _follow(self, module: str) -> Closure:
        # The module itself first, then the packages around it, as messages name what is nearest.
        order = dict.fromkeys(reversed(list(_with_parents(module))), "")
        waiting = list(reversed(order))
        files: list[CodeFile] = []
        absent: dict[str, str] = {}
        unknown: dict[str, str] = {}
        while waiting:
            name = waiting.pop()
            place = self._search.find(name)
            for path in place.passed:
                absent.setdefault(path, name)
            if not place.is_known and "." not in name:
                unknown.setdefault(name, order[name])
            if place.file is not None:
                files.append(CodeFile(module=name, path=place.file, source=self._shelf.read(place.file)))
                fresh = [imported for imported in self._list_imported(name, place) if imported not in order]
                order.update(dict.fromkeys(fresh, place.file))
                waiting += reversed(fresh)
        return Closure(files=tuple(files), absent=absent, unknown=unknown)

    def _list_imported(self, name: str, place: ModulePlace) -> tuple[str, ...]:
        if name not in self._imported:
            found: dict[str, None] = {}
            for statement in self._shelf.read(place.file or "").imports:
                for target in self._list_targets(statement, name, is_package=bool(place.folders)):
                    found.update(dict.fromkeys(_with_parents(target)))
            self._imported[name] = tuple(found)
        return self._imported[name]

    def _list_targets(self, statement: Import, importer: str, *, is_package: bool) -> Iterator[str]:
        base = statement.module
        if statement.level:
            package = importer.split(".") if is_package else importer.split(".")[:-1]
            kept = package[: len(package) - statement.level + 1]
            if not kept:
                return  # beyond the top: Python refuses it too
            base = ".".join([*kept, *filter(None, [base])])
        if not base:
            return
        yield base
        place = self._search.find(base)
        if not place.folders:
            return  # a module's names are no modules
        names = list(statement.names)
        if STAR in names:
            names = list(self._shelf.read(place.file).exported) if place.file is not None else []
        for name in names:
            if name.isidentifier():
                yield f"{base}.{name}"


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts) + 1))
