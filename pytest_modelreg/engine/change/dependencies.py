"""Reasons in what is installed: requirement and lock files, and the dependencies in a project file.

What belongs here: which files say what is installed, and for which suites. A library's version
moves preprocessing as much as the code that calls it: a resize is the library's. A file counts for
suites and modules in its folder and below; those of another project in the repository do not. To
add a file, add its name to :data:`_FILES`; one of which only a part says so, to :data:`_PARTS`.
"""

from __future__ import annotations

import configparser
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from pytest_modelreg.engine.change.changed_files import Change, ChangedFiles
from pytest_modelreg.engine.suite import Suite

_FILES = (
    "*constraints*.txt",
    "*requirements*.in",
    "*requirements*.txt",
    ".python-version",
    "Pipfile",
    "Pipfile.lock",
    "conda*.yaml",
    "conda*.yml",
    "environment*.yaml",
    "environment*.yml",
    "pdm.lock",
    "pixi.lock",
    "pixi.toml",
    "poetry.lock",
    "pylock*.toml",
    "setup.py",
    "uv.lock",
)
_FOLDER = "requirements"
"""A folder of requirement files, which are then named after what they are for: ``test.txt``."""


class DependencyChanges:
    """Changed files that say what is installed, ready to be asked about by many suites.

    Parameters
    ----------
    changed : ChangedFiles
        All changes.
    read_before : callable
        Returns a file, by absolute path, as it was at the revision; None where there was none.
    """

    def __init__(self, changed: ChangedFiles, read_before: Callable[[str], bytes | None]) -> None:
        self._changed = changed
        self._read_before = read_before
        self._by_folder: dict[str, list[Change]] = {}
        for change in changed:
            folder, name = os.path.split(change.path)
            if self._says_what_is_installed(change, name, os.path.basename(folder)):
                owner = os.path.dirname(folder) if os.path.basename(folder) == _FOLDER else folder
                self._by_folder.setdefault(owner, []).append(change)

    def explain(self, suite: Suite) -> Iterator[str]:
        """Yield the files that changed what is installed for a suite."""
        places = {str(suite.root), *(folder for case in suite.cases for folder in case.template.python_path)}
        real_places = [os.path.join(self._changed.resolve(place), "") for place in places]
        for folder, changes in self._by_folder.items():
            if any(place.startswith(os.path.join(folder, "")) for place in real_places):
                for change in changes:
                    yield f"dependencies in {self._changed.show(change.path)} {change.what}"

    def _says_what_is_installed(self, change: Change, name: str, folder: str) -> bool:
        if any(fnmatchcase(name, pattern) for pattern in _FILES):
            return True
        if folder == _FOLDER and name.endswith((".txt", ".in")):
            return True
        read_part = _PARTS.get(name)
        return read_part is not None and self._differs(change, read_part)

    def _differs(self, change: Change, read_part: Callable[[bytes], Any]) -> bool:
        """Whether the part of a file changed that says what is installed; one that cannot be read did."""
        before = self._read_before(change.path)
        try:
            with open(change.path, "rb") as file:
                now = file.read()
        except OSError:  # deleted, or a folder of this name
            now = b""
        try:
            return bool(read_part(before or b"") != read_part(now))
        except ValueError:  # that of TOML, of configparser's and of text in another encoding
            return before != now


def _read_project_file(content: bytes) -> Any:
    """Return what a ``pyproject.toml`` says of dependencies, in any tool's form."""
    # pytest brings tomli where Python has no tomllib.
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document = toml.loads(content.decode("utf-8"))
    project, tools = _table(document.get("project")), _table(document.get("tool"))
    return {
        "project": {key: value for key, value in project.items() if _is_of_dependencies(key)},
        "groups": document.get("dependency-groups"),
        **{tool: _pick_dependencies(tools.get(tool)) for tool in ("poetry", "pdm", "pixi", "hatch", "uv")},
    }


def _pick_dependencies(value: Any) -> Any:
    """Return the parts of a tool's table that speak of dependencies, at any depth."""
    picked = {}
    for key, inner in _table(value).items():
        if _is_of_dependencies(key):
            picked[key] = inner
        elif (found := _pick_dependencies(inner)) != {}:
            picked[key] = found
    return picked


def _is_of_dependencies(key: str) -> bool:
    return key in {"requires-python", "sources", "index"} or "dependencies" in key or "constraint" in key


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_setup_file(content: bytes) -> Any:
    """Return what a ``setup.cfg`` says of dependencies."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(content.decode("utf-8"))
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    asked = ("install_requires", "python_requires")
    options = [parser.get("options", key, fallback=None) for key in asked]
    extras = "options.extras_require"
    return options, dict(parser.items(extras)) if parser.has_section(extras) else {}


_PARTS: Mapping[str, Callable[[bytes], Any]] = {
    "pyproject.toml": _read_project_file,
    "setup.cfg": _read_setup_file,
}
