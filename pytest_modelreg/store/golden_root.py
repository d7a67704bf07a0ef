"""The folder above all goldens of a suite or project: what is below it, and what may be.

What belongs here: questions about places, answered without opening a golden. A golden root
may itself be a link, to another disk for example; below it no link leads out, because a
regeneration would then replace files that belong to something else.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.obstacle import describe_obstacle

GOLDEN_FILE = "golden.json"
"""The one commit point of a golden folder."""

RECORDS = frozenset({GOLDEN_FILE, f"{GOLDEN_FILE}.dvc", "observation.json"})
"""What says what the arrays beside it are: without one of these they are nobody's."""

ARRAY_NAME = re.compile(r"(outputs|trace)\..+\.[0-9a-f]{12}\.npy")
"""Names of arrays in a golden folder."""


@dataclass(frozen=True, kw_only=True)
class GoldenTree:
    """What there is below a golden root.

    Parameters
    ----------
    folders : tuple of pathlib.Path
        Every folder with a ``golden.json``, sorted.
    faults : tuple of str
        Links that lead out, names that some file systems take for one, folders that cannot
        be read: a line each.
    remains : tuple of pathlib.Path
        Folders that hold arrays of a golden and no ``golden.json``, sorted.
    """

    folders: tuple[Path, ...]
    faults: tuple[str, ...]
    remains: tuple[Path, ...] = ()


def list_golden_folders(golden_root: Path) -> list[Path]:
    """Return every folder at or below a golden root that holds a ``golden.json``, sorted.

    Links below the root are not entered, and hidden folders are passed over: no golden lies
    in either. A root that does not exist has none, and what cannot be read holds none.
    """
    return [Path(folder) for folder in sorted(walk_goldens(golden_root))]


def walk_goldens(golden_root: Path, *, passed_over: str = "") -> Iterator[str]:
    """Yield the same folders as text and in no order, which takes a fraction of the time.

    Parameters
    ----------
    passed_over : str
        A folder below the root that is not looked into.
    """
    waiting = [str(golden_root)]
    while waiting:
        folder = waiting.pop()
        if folder == passed_over:
            continue
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == GOLDEN_FILE:
                    yield folder
                elif not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def survey_goldens(place: Path, *, golden_root: Path | None = None) -> GoldenTree:
    """Return the golden folders at and below a place, and what is wrong with places there.

    Parameters
    ----------
    place : pathlib.Path
        A golden root or a folder below one.
    golden_root : pathlib.Path or None
        The root that links must not leave; ``place`` itself by default.
    """
    golden_root = golden_root or place
    found: list[str] = []
    faults: list[str] = []
    remains: list[str] = []
    waiting = [str(place)]
    while waiting:
        folder = waiting.pop()
        has_arrays = has_record = False
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    has_record |= entry.name in RECORDS
                    if entry.name == GOLDEN_FILE:
                        found.append(folder)
                    elif ARRAY_NAME.fullmatch(entry.name):
                        has_arrays = True
                    elif entry.name.startswith("."):
                        continue
                    elif entry.is_symlink():
                        if os.path.isdir(entry.path):  # what a linked file comes to, its record says
                            faults += _find_link_faults(Path(entry.path), golden_root)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:
            continue  # removed meanwhile, or a root that was never made
        except NotADirectoryError:
            faults.append(f"{shown(Path(folder))}: {describe_obstacle(Path(folder))}")
        except OSError as error:
            faults.append(
                f"{shown(Path(folder))}: cannot be read: {error.strerror or error}; give read access"
            )
        if has_arrays and not has_record:
            remains.append(folder)
    faults += _find_name_faults(found, str(place))
    return GoldenTree(
        folders=tuple(Path(folder) for folder in sorted(found)),
        faults=tuple(sorted(faults)),
        remains=tuple(Path(folder) for folder in sorted(remains)),
    )


def require_inside(folder: Path, golden_root: Path) -> None:
    """Hold a golden folder against its root.

    Raises
    ------
    GoldenError
        When a link below the root leads out of it.
    """
    for place in _places_below(golden_root, folder):
        if place.is_symlink():
            for fault in _find_link_faults(place, golden_root):
                raise GoldenError(fault)


def require_own_name(folder: Path, golden_root: Path) -> None:
    """Keep goldens apart whose folders are one where a file system ignores case or Unicode form.

    Asked before a golden is written, also where the file system tells them apart: goldens
    are shared between systems.

    Raises
    ------
    GoldenError
        When there is another golden under such a name; both are named.
    """
    for place in _places_below(golden_root, folder):
        for other in _list_namesakes(place):
            if list_golden_folders(other):
                raise GoldenError(
                    f"{_describe_clash(place.parent, (other.name, place.name))}; rename one of the two,"
                    f" or remove {shown(other)} where no case has it any more"
                )


def fold_name(name: str) -> str:
    """Return a folder name as file systems compare it that ignore case and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _places_below(golden_root: Path, folder: Path) -> list[Path]:
    """Return the folder and those above it up to the root, the root left out."""
    return [place for place in (folder, *folder.parents) if golden_root in place.parents]


def _list_namesakes(place: Path) -> Iterator[Path]:
    try:
        names = os.listdir(place.parent)
    except OSError:  # not there yet, or not to be listed: writing says what is wrong
        return
    # Some file systems list a name in a Unicode form of their own: that one is the place itself.
    respelt = place.name not in names and place.exists()
    for name in sorted(names):
        is_place = name == place.name or (respelt and _looks_alike(name, place.name))
        if not is_place and fold_name(name) == fold_name(place.name):
            yield place.parent / name


def _find_name_faults(folders: Iterable[str], place: str) -> Iterator[str]:
    """Yield the clashes among golden folders and the folders above them, each once."""
    places: set[str] = set()
    for folder in folders:
        while folder not in places and len(folder) > len(place):
            places.add(folder)
            folder = os.path.dirname(folder)
    first: dict[tuple[str, str], str] = {}
    for parent, name in map(os.path.split, sorted(places)):
        other = first.setdefault((parent, fold_name(name)), name)
        if other != name:
            yield f"{_describe_clash(Path(parent), (other, name))}; rename one of the two"


def _describe_clash(folder: Path, names: tuple[str, str]) -> str:
    first, second = (ascii(name) if _looks_alike(*names) else repr(name) for name in names)
    return (
        f"{shown(folder)}: expected names that every file system tells apart, got {first} and {second},"
        " which differ only in upper and lower case or Unicode form"
    )


def _looks_alike(name: str, other: str) -> bool:
    """Whether two names differ in their code points alone: a message has to show those."""
    return unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other)


def _find_link_faults(link: Path, golden_root: Path) -> Iterator[str]:
    root, target = os.path.realpath(golden_root), os.path.realpath(link)
    if target != root and not target.startswith(root.rstrip(os.sep) + os.sep):
        yield (
            f"{shown(link)}: expected a place inside {shown(golden_root)}, got a link that leaves it;"
            " copy what it leads to here, or link the golden folder as a whole"
        )
