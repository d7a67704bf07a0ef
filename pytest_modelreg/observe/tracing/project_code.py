"""The project's code behind a case: digests of its files, and which of them serve the model or its inputs.

What belongs here: following imports among the modules that a case has imported. Where a module is, Python
has found already; from a package, the name's own module is followed, so that a package that gathers its
parts does not make every part serve everything.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_modelreg.domain.project_code import INPUT_SIDE, MODEL_SIDE, ProjectReads, SourceFile
from pytest_modelreg.observe.fresh_source import list_source_files
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.python_source import STAR, Import, Source, read_source
from pytest_modelreg.observe.tracing.opened_case import OpenedCase
from pytest_modelreg.observe.tracing.project_reads import NamingFile, read_data_files, read_variables

_SIDE_OF = {
    "model": MODEL_SIDE,
    "transform": MODEL_SIDE,
    "collate": MODEL_SIDE,  # inputs are compared before they are collated
    "forward": MODEL_SIDE,
    "preprocess": INPUT_SIDE,
    "loader": INPUT_SIDE,
}


@dataclass(frozen=True, kw_only=True)
class ProjectCode:
    """What the project's code is, and what else it reads."""

    sources: tuple[SourceFile, ...]
    reads: ProjectReads


def read_project(case: OpenedCase) -> ProjectCode:
    """Return the project's files and variables that a case uses, as far as its imported code shows."""
    files = _list_modules(case.folders)
    sources = {name: read_source(file) for name, file in files.items()}
    names_by_side = {
        side: _follow(starts & files.keys(), sources) for side, starts in _list_starts(case).items()
    }
    naming: list[NamingFile] = []
    for name, file in files.items():
        shown = _shorten(Path(file), case.folders)
        if shown is not None:
            sides = tuple(side for side, names in names_by_side.items() if name in names)
            naming.append(NamingFile(path=Path(file), shown=shown, source=sources[name], sides=sides))
    return ProjectCode(
        sources=tuple(
            SourceFile(
                file=each.shown, sha256=hashlib.sha256(each.path.read_bytes()).hexdigest(), sides=each.sides
            )
            for each in sorted(naming, key=lambda each: each.shown)
        ),
        reads=ProjectReads(data_files=read_data_files(naming, case.spec), variables=read_variables(naming)),
    )


def _list_modules(folders: Iterable[str]) -> dict[str, str]:
    """Return the project's imported modules: name -> file."""
    own = {file for file in list_source_files(list(folders)) if Path(file).is_file()}
    modules = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    return {name: file for name, file in modules if file in own}


def _shorten(path: Path, folders: Iterable[str]) -> str | None:
    root = next((folder for folder in folders if path.is_relative_to(folder)), None)
    return None if root is None else path.relative_to(root).as_posix()


def _list_starts(case: OpenedCase) -> dict[str, set[str]]:
    """Return the modules at which each side begins: its references', and the model's own classes'."""
    starts: dict[str, set[str]] = {MODEL_SIDE: set(), INPUT_SIDE: set()}
    for role, found in case.found.items():
        reference = getattr(case.spec, role, None)
        side = starts[_SIDE_OF[role]]
        if isinstance(reference, str):
            side.add(reference.partition(":")[0])
        for part in found if isinstance(found, (list, tuple)) else (found,):
            side.update(_list_homes(part))
    if case.spec.runtime.transform is not None:
        starts[MODEL_SIDE].add(case.spec.runtime.transform.partition(":")[0])
    for part in case.preprocess.parts:
        starts[INPUT_SIDE].update(_list_homes(part))
    starts[MODEL_SIDE].update(_list_homes(case.subject.model))
    return starts


def _list_homes(value: Any) -> set[str]:
    """Return the modules that an object and the modules inside it are made of."""
    parts = list(value.modules()) if is_module(value) else [value]
    homes = {getattr(part, "__module__", None) for part in parts}
    homes |= {type(part).__module__ for part in parts}
    return {home for home in homes if isinstance(home, str)}


def _follow(starts: Iterable[str], sources: Mapping[str, Source]) -> set[str]:
    """Return modules, what they import, and the packages that hold them."""
    reached: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        for statement in sources[name].imports:
            waiting += [target for target in _list_targets(statement, name) if target in sources]
    for name in list(reached):
        parts = name.split(".")
        reached.update(".".join(parts[:length]) for length in range(1, len(parts)))
    return reached


def _list_targets(statement: Import, importer: str) -> Iterator[str]:
    base = _resolve(statement, sys.modules.get(importer), importer)
    if not statement.names:
        yield base
        return
    holder = sys.modules.get(base)
    for name in statement.names:
        inside = f"{base}.{name}"
        home = getattr(getattr(holder, name, None), "__module__", None)
        if inside in sys.modules:
            yield inside
        elif name != STAR and isinstance(home, str) and home.partition(".")[0] == base.partition(".")[0]:
            yield home
        else:
            yield base


def _resolve(statement: Import, module: ModuleType | None, importer: str) -> str:
    if not statement.level:
        return statement.module
    is_package = hasattr(module, "__path__")
    parts = importer.split(".") if is_package else importer.split(".")[:-1]
    kept = parts[: len(parts) - statement.level + 1]
    return ".".join([*kept, *filter(None, [statement.module])])
