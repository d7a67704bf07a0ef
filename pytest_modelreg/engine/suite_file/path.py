"""Values of a suite file that name something on disk.

What belongs here: turning a path as written (relative to the suite file, or absolute)
into an absolute one and refusing what is not there, so that a forgotten file is one
more fault in the list instead of an error halfway through a run. The suite's folder
comes as validation context ``root``. Nothing is imported and no weights are opened.
"""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from pytest_modelreg.engine.suite_file.value import expect
from pytest_modelreg.observe import CHECKPOINT_SUFFIXES
from pytest_modelreg.runtimes import is_inside, list_package_folders
from pytest_modelreg.store import OPENERS, is_row_file

MAX_LABELS_BYTES = 16 * 1024 * 1024
"""Largest labels file, in bytes."""


def root_of(info: ValidationInfo) -> Path:
    """Return the suite's folder."""
    root = (info.context or {}).get("root")
    if not isinstance(root, Path):
        raise TypeError("a suite is validated with its folder as context: {'root': Path}")
    return root


def place_path(value: str, root: Path) -> Path:
    """Return a path of a suite file as an absolute one, without asking the disk."""
    if not value.strip() or "\0" in value:
        raise expect("a path")
    return Path(os.path.abspath(root / value))


def check_checkpoint(path: Path, written: str, *, below: str = "") -> None:
    """Raise unless a file of a known suffix is there."""
    if path.suffix.lower() not in CHECKPOINT_SUFFIXES:
        raise expect(f"a file of {' '.join(CHECKPOINT_SUFFIXES)}", got=repr(written), below=below)
    if _is_file(path):
        return
    if any(mark in written for mark in "*?["):
        remark = "the golden is recorded from one; a variant's checkpoint may be a pattern"
        raise expect("one existing file", got=f"the pattern {written!r}", remark=remark, below=below)
    raise expect("an existing file", got=f"{written!r}, which is not there", below=below)


def find_checkpoints(pattern: str, root: Path) -> list[Path]:
    """Return the files that a pattern stands for, in natural order, at least one."""
    place_path(pattern, root)
    return _match(pattern, root, pattern)


def find_packaged_files(package: str, file: str) -> list[Path]:
    """Return a file, or the files of a pattern, inside an installed package, without importing it.

    The package is not imported.
    """
    if not package.isidentifier():
        raise expect("the import name of a top-level package", got=repr(package), below="package")
    if not is_inside(file):
        raise expect("a path inside the package", got=repr(file), below="path")
    folders = list_package_folders(package)
    if folders is None:
        raise expect(
            "an installed package",
            got=f"{package!r}, which is not installed",
            remark="install the package that provides it",
            below="package",
        )
    if not folders:
        raise expect("a package with files", got=f"{package!r}, a single module", below="package")
    found = next((folder / file for folder in folders if _is_file(folder / file)), folders[0] / file)
    if not _is_file(found) and any(mark in file for mark in "*?["):
        return _match(file, folders[0], file)
    check_checkpoint(found, file, below="path")
    return [found]


def _match(pattern: str, folder: Path, written: str) -> list[Path]:
    """Return the files that match, ``epoch-9`` before ``epoch-10``; raise where there is none."""
    names = glob.glob(pattern, root_dir=folder, recursive=True)
    found = [Path(os.path.abspath(folder / name)) for name in names]
    files = [path for path in found if path.suffix.lower() in CHECKPOINT_SUFFIXES and _is_file(path)]
    if not files:
        got = f"the pattern {written!r}, which matches {'none' if not found else 'other files only'}"
        raise expect(f"at least one file of {' '.join(CHECKPOINT_SUFFIXES)}", got=got, below="path")
    return sorted(files, key=lambda path: natural_key(path.as_posix()))


def natural_key(text: str) -> list[tuple[int, int | str]]:
    """Return a key by which numbers inside names sort by value."""
    parts = re.split(r"(\d+)", text)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long for the file system, a null byte
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _locate_folder(value: str, info: ValidationInfo) -> str:
    path = place_path(value, root_of(info))
    if not _is_folder(path):
        got = "a file" if _is_file(path) else "which is not there"
        raise expect("an existing folder", got=f"{value!r}, {got}")
    return str(path)


def _locate_golden(value: str, info: ValidationInfo) -> str:
    path = place_path(value, root_of(info))
    if _is_file(path):
        raise expect("a folder, which is made when it is not there", got=f"{value!r}, a file")
    return str(path)


def _read_labels(value: object, info: ValidationInfo) -> tuple[str, ...]:
    if isinstance(value, list) and value and all(isinstance(name, str) and name.strip() for name in value):
        return tuple(value)
    if not isinstance(value, str):
        raise expect("a file with one label a line, or a list of labels")
    path = place_path(value, root_of(info))
    if not _is_file(path):
        raise expect("an existing file with one label a line", got=f"{value!r}, which is not there")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_LABELS_BYTES + 1)
        if len(content) > MAX_LABELS_BYTES:
            raise expect(f"labels of at most {MAX_LABELS_BYTES} bytes", got=f"{value!r}, which is larger")
        text = content.decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise expect("a readable file of labels", got=f"{value!r}: {reason}") from error
    except UnicodeDecodeError as error:
        raise expect("labels in UTF-8", got=f"{value!r} with other bytes") from error
    labels = [line.strip() for line in text.rstrip().split("\n")]
    if "" in labels:
        # Skipping an empty line would shift the name of every class behind it.
        where = "an empty file" if labels == [""] else f"an empty line {labels.index('') + 1}"
        raise expect("one label a line", got=f"{where} in {value!r}")
    return tuple(labels)


def _locate_row_file(value: str, info: ValidationInfo) -> str:
    path = place_path(value, root_of(info))
    if not is_row_file(path):
        raise expect(
            f"a file with a row a sample ({' '.join(OPENERS)})",
            remark="a folder with a file a sample is named by `folder`",
        )
    if not _is_file(path):
        raise expect(
            "an existing file", got=f"{value!r}, {'a folder' if _is_folder(path) else 'which is not there'}"
        )
    return str(path)


ExistingFolder = Annotated[str, AfterValidator(_locate_folder), Field(json_schema_extra={"minLength": 1})]
RowFilePath = Annotated[str, AfterValidator(_locate_row_file), Field(json_schema_extra={"minLength": 1})]
GoldenFolder = Annotated[str, AfterValidator(_locate_golden), Field(json_schema_extra={"minLength": 1})]
Labels = Annotated[tuple[str, ...], BeforeValidator(_read_labels, json_schema_input_type=str | list[str])]
