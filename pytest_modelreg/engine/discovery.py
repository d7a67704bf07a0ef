"""Where suite files are: by name, below folders, each once.

What belongs here: which names are suite files and which folders are passed over.
pytest collects on its own; this is for looking before it does, and for commands.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_modelreg.domain.errors import UsageFault

SUITE_FILE = "modelreg.yaml"
"""The usual name; a prefix may stand in front: ``photos.modelreg.yaml``."""

PASSED_OVER = frozenset({"node_modules", "__pycache__"})
"""Folders that are not looked into, beside hidden ones and virtual environments."""


def is_suite_file(path: Path) -> bool:
    """Whether a path is named like a suite file."""
    name = path.name
    return name == SUITE_FILE or (name.endswith(f".{SUITE_FILE}") and not name.startswith("."))


def find_suites(paths: Sequence[Path], *, ignored: Callable[[Path], bool]) -> list[Path]:
    """Return the suite files among and below paths, absolute, sorted, each once.

    Hidden folders, virtual environments, ``node_modules`` and ``__pycache__`` are passed
    over unless named themselves. A folder is walked once, however many links lead to it.

    Parameters
    ----------
    paths : sequence of Path
        Files and folders; a file that is not named like a suite file is no suite.
    ignored : callable
        Asked of every suite file and folder; true passes it over.

    Raises
    ------
    UsageFault
        When a path does not exist.
    """
    roots = [Path(os.path.abspath(path)) for path in paths]
    absent = [str(path) for path in roots if not path.exists()]
    if absent:
        raise UsageFault(f"expected an existing file or folder, found none at {', '.join(absent)}")
    found: dict[str, Path] = {}
    walked: set[str] = set()
    plain = deque(path for path in roots if not path.is_symlink())
    links = deque(path for path in roots if path.is_symlink())
    while plain or links:
        # Links come last, so that a file is listed where it really is if that is among the paths.
        path = plain.popleft() if plain else links.popleft()
        real = os.path.realpath(path)
        if path.is_dir():
            if real not in walked and not ignored(path):
                walked.add(real)
                for child in _list_below(path):
                    (links if child.is_symlink() else plain).append(child)
        elif is_suite_file(path) and path.is_file() and real not in found and not ignored(path):
            found[real] = path
    return sorted(found.values())


def _list_below(folder: Path) -> list[Path]:
    """Return the suite files of a folder and the folders to look into."""
    try:
        with os.scandir(folder) as entries:
            children = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        # A folder that cannot be read holds no suite of ours: another user's cache, a mount that is gone.
        return []
    return [
        Path(entry.path)
        for entry in children
        # os.path.isdir, because entry.is_dir() raises at a link to itself.
        if (_is_looked_into(entry) if os.path.isdir(entry) else is_suite_file(Path(entry.path)))
    ]


def _is_looked_into(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or entry.name in PASSED_OVER:
        return False
    return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
