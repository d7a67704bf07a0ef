"""A Python test as this plugin sees it: its id, where its goldens are, what clashes, how it is run alone."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePath

import pytest

from pytest_modelreg.plugin.base import guess_base
from pytest_modelreg.plugin.state import RUN_STATE
from pytest_modelreg.store import safe_component

FIXTURE = "modelreg"


def asks_for_fixture(item: pytest.Item) -> bool:
    """Whether a test is known to ask for the fixture; one may still do so while it runs."""
    return FIXTURE in getattr(item, "fixturenames", ())


def find_node_id(item: pytest.Item) -> str:
    """Return the node id as pytest collected it: xdist appends the groups of a test to its own."""
    return item.nodeid if item.parent is None else f"{item.parent.nodeid}::{item.name}"


def find_test_id(item: pytest.Item) -> str:
    """Return the node id with its file relative to the run's base, whatever pytest's root folder is."""
    base = item.config.stash[RUN_STATE].base
    file = _find_file(item)
    if file is None or base == item.config.rootpath:
        return find_node_id(item)
    return _show(file.path, base) + find_node_id(item).removeprefix(file.nodeid)


def list_golden_parts(item: pytest.Item) -> list[str]:
    """Return module, classes and test as parts of a golden's path.

    A file outside of the run's base has parts as well, ``..`` written as ``up``, so that
    two files of one name in two such folders are two.
    """
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return [_name_module(item.path, item.config.stash[RUN_STATE].base), *classes, item.name]


def find_clashes(items: Sequence[pytest.Item]) -> dict[str, str]:
    """Return by id of a test the id of another one whose goldens would be in the same folder.

    Folders that differ in case alone are one on some file systems, and a project's
    goldens travel. A test that may ask for the fixture while it runs clashes with any other.
    """
    by_folder: dict[str, dict[str, bool]] = {}
    fold = cache(safe_component)  # of module and classes, which thousands of tests have in common
    for item in items:
        *above, test = list_golden_parts(item)
        folder = "/".join((*map(fold, above), safe_component(test))).casefold()
        by_folder.setdefault(folder, {})[find_test_id(item)] = asks_for_fixture(item)
    clashes = {}
    for tests in by_folder.values():
        for test, asks in tests.items():
            others = [other for other, also in tests.items() if other != test and (also or not asks)]
            if others:
                clashes[test] = others[0]
    return clashes


def describe_clash(test: str, other: str, folder: str) -> str:
    """Return why two tests cannot both be judged, and what to do."""
    if test.casefold() == other.casefold():
        why = "differ only in upper and lower case, which some file systems take for one name"
    else:
        why = f"map to one golden folder, {folder}"
    return f"tests {test} and {other} {why}; rename one"


def describe_repetition(one: str, other: str) -> str:
    """Return why two checks of one test cannot both be judged, and what to do."""
    if one == other:
        return (
            f"check name {one!r} was used twice in one test; give each check a name of its own, "
            'e.g. name=f"step-{i}"'
        )
    return (
        f"check names {one!r} and {other!r} of one test differ only in upper and lower case, "
        "which some file systems take for one name; rename one"
    )


def describe_command(item: pytest.Item, *arguments: str) -> str:
    """Return the command that runs a test alone, to be typed where pytest was started."""
    config = item.config
    base, start = config.stash[RUN_STATE].base, Path(config.invocation_params.dir)
    file = _find_file(item)
    test = find_node_id(item)
    given = []
    if file is not None:
        test = _show(file.path, start) + test.removeprefix(file.nodeid)
    if config.option.rootdir:
        given.append(f"--rootdir={config.option.rootdir}")
    elif config.inipath is None and file is not None and guess_base([file.path], start) != base:
        given.append(f"--rootdir={_show(base, start)}")  # alone, this file would have another base
    if config.option.inifilename:
        given += ["-c", str(config.option.inifilename)]
    if not isinstance(item, pytest.Function):  # a doctest is found only where it is asked for
        given += ["--doctest-modules"] if getattr(config.option, "doctestmodules", False) else []
        given += [f"--doctest-glob={glob}" for glob in getattr(config.option, "doctestglob", None) or ()]
    return shlex.join(["pytest", "--modelreg", *given, test, *arguments])


@cache
def _name_module(path: Path, base: Path) -> str:
    try:
        file = PurePath(os.path.relpath(path, base))
    except ValueError:  # another drive on Windows
        file = PurePath(*path.parts[1:])
    return ".".join("up" if part == ".." else part for part in file.with_suffix("").parts)


def _find_file(item: pytest.Item) -> pytest.File | None:
    return next((node for node in reversed(item.listchain()) if isinstance(node, pytest.File)), None)


def _show(path: Path, start: Path) -> str:
    try:
        return PurePath(os.path.relpath(path, start)).as_posix()
    except ValueError:  # another drive on Windows
        return path.as_posix()
