"""The files of a sample set's folder: which there are, and whether a row's file holds.

What belongs here: looking at the disk. What the table says is ``sample_table``'s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_modelreg.domain.errors import Fault
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.sample_table import SAMPLES_FILE, SampleRow, file_path_fault, where_in_table
from pytest_modelreg.store.substitute import describe_pointer, describe_unfetched

_NO_SAMPLES = (".*", "README*", "LICENSE*", "*.md")


@dataclass(frozen=True, kw_only=True)
class FolderFiles:
    """Files of a sample folder that are samples by their place and name.

    Parameters
    ----------
    files : tuple of str
        POSIX paths relative to the folder, in natural order.
    faults : tuple of Fault
        Files and folders that cannot be sampled: links that leave the folder, linked
        folders, names that cannot be written down.
    """

    files: tuple[str, ...]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, kw_only=True)
class ContentFaults:
    """How the rows of a table and the files of its folder differ.

    Parameters
    ----------
    missing, changed, extra : mapping of str to Fault
        By file; what `modelreg pin FOLDER --update` accepts.
    refused : tuple of Fault
        What it does not accept: paths through links that leave the folder, unreadable
        files.
    """

    missing: dict[str, Fault] = field(default_factory=dict)
    changed: dict[str, Fault] = field(default_factory=dict)
    extra: dict[str, Fault] = field(default_factory=dict)
    refused: tuple[Fault, ...] = ()

    @property
    def all_faults(self) -> tuple[Fault, ...]:
        """Everything that differs, rows before files that no row names."""
        return (*self.missing.values(), *self.changed.values(), *self.refused, *self.extra.values())


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key under which ``img2`` comes before ``img10``."""
    return [
        (0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"([0-9]+)", text)
        if part
    ]


def list_files(folder: Path) -> FolderFiles:
    """List what lies in a sample folder, sub-folders included.

    Hidden files and folders, ``README*``, ``LICENSE*``, ``*.md`` and ``samples.csv``
    itself are no samples.

    Raises
    ------
    OSError
        When a folder cannot be read.
    """
    root = _real_path(folder)
    files: list[str] = []
    faults: list[Fault] = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inner = Path(parent).relative_to(folder)
        for name in [name for name in folders if (Path(parent) / name).is_symlink()]:
            message = (
                "expected files or a folder, got a linked folder, which is not followed; put its files here"
            )
            faults.append(Fault(where=shown(Path(parent) / name), message=message))
        for name in names:
            file = (inner / name).as_posix()
            if file == SAMPLES_FILE or any(fnmatchcase(name, pattern) for pattern in _NO_SAMPLES):
                continue
            problem = file_path_fault(file) or _link_fault(root, folder, file)
            if problem is None and not (folder / file).is_file():
                problem = f"{file}: expected a regular file, got something else; remove it"
            if problem is None:
                files.append(file)
            else:
                faults.append(Fault(where=shown(folder), message=problem))
    return FolderFiles(
        files=tuple(sorted(files, key=lambda file: (natural_key(file), file))), faults=tuple(faults)
    )


def compare_rows(folder: Path, rows: Iterable[SampleRow], *, listed: Iterable[str]) -> ContentFaults:
    """Hold every row against its file and every file against the rows.

    Parameters
    ----------
    rows : iterable of SampleRow
        Rows with usable text.
    listed : iterable of str
        Every ``file`` cell of the table, so that a row with another fault does not
        make its file an extra one.

    Raises
    ------
    OSError
        When a folder cannot be read.
    """
    update = f"`modelreg pin {shown(folder)} --update`"
    root = _real_path(folder)
    found = ContentFaults()
    refused: list[Fault] = []
    for row in rows:
        file = row.sample.file
        where = where_in_table(folder, row.line)
        if (problem := _link_fault(root, folder, file)) is not None:
            refused.append(Fault(where=where, message=problem))
            continue
        if not (folder / file).is_file():  # a pipe would be waited for until the end of days
            got = describe_unfetched(folder / file) or f"none; restore it, or drop its row with {update}"
            message = f"{file}: expected the file, got {got}"
            found.missing[file] = Fault(where=where, message=message)
            continue
        try:
            actual = file_digest(folder / file)
            pointer = None if actual == row.sample.sha256 else _describe_pointer(folder / file)
        except OSError as error:
            refused.append(Fault(where=where, message=f"{file}: cannot be read: {error.strerror or error}"))
            continue
        if pointer is not None:
            refused.append(Fault(where=where, message=f"{file}: expected the sample, got {pointer}"))
        elif actual != row.sample.sha256:
            message = (
                f"{file}: bytes changed: expected sha256 {row.sample.sha256[:12]}, got {actual[:12]};"
                f" restore the file, or accept it with {update}"
            )
            found.changed[file] = Fault(where=where, message=message)
    inside = list_files(folder)
    known = set(listed)
    for file in inside.files:
        if file not in known:
            message = f"{file}: expected only listed files, got one more; remove it, or list it with {update}"
            found.extra[file] = Fault(where=where_in_table(folder), message=message)
    return ContentFaults(
        missing=found.missing, changed=found.changed, extra=found.extra, refused=(*refused, *inside.faults)
    )


def _describe_pointer(path: Path) -> str | None:
    with open(path, "rb") as stream:
        return describe_pointer(stream.read(32))


def _link_fault(root: Path, folder: Path, file: str) -> str | None:
    if not _may_lead_out(folder, file) or root in _real_path(folder / file).parents:
        return None
    return f"{file}: expected a file inside the sample folder, got a link that leaves it; copy the file here"


def _may_lead_out(folder: Path, file: str) -> bool:
    """Whether there is a link on the way to a file: resolving each would take as long as hashing it."""
    if os.name == "nt":  # where there are junctions, which only Python 3.12 knows from folders
        return True
    place = str(folder)
    for part in file.split("/"):
        place = os.path.join(place, part)
        if part == ".." or os.path.islink(place):
            return True
    return False


def _real_path(path: Path) -> Path:
    # Not Path.resolve, which raises on a link that leads to itself.
    return Path(os.path.realpath(path))


def _raise(error: OSError) -> None:
    raise error
