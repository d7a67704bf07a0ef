"""Goldens on disk, read: where they are, what they say, whether their bytes are whole.

What belongs here: reading. The one writer is ``golden_writer``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.store.array_file import RESTORE, describe_foreign, file_in
from pytest_modelreg.store.codec import decode_golden
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.golden_root import GOLDEN_FILE, require_inside
from pytest_modelreg.store.naming import safe_component, shown
from pytest_modelreg.store.observation_store import observed_files
from pytest_modelreg.store.obstacle import describe_obstacle
from pytest_modelreg.store.substitute import describe_pointer, describe_unfetched
from pytest_modelreg.store.summary_table import SUMMARY_FILE

ATTRIBUTES_FILE = ".gitattributes"
# In every golden folder and not above it: the folder above may be the user's own.
ATTRIBUTES = b"*.npy binary\n*.json -text\n*.csv -text\n"
_REWRITE = "`modelreg regen` writes it again, or restore it from version control"


def golden_folder(golden_root: Path, suite: str, variant: str) -> Path:
    """Return the folder of a case's golden; names are made safe, ordinary ones unchanged."""
    return golden_root / safe_component(suite) / safe_component(variant)


def read_golden(folder: Path, *, golden_root: Path | None = None) -> Golden | None:
    """Read a golden's record; the arrays stay on disk.

    Parameters
    ----------
    golden_root : pathlib.Path or None
        Above the folder; no link below it may lead out. None: two folders up, where the
        root of a suite's goldens is.

    Returns
    -------
    Golden or None
        None when the folder holds no ``golden.json``.

    Raises
    ------
    GoldenError
        When it cannot be read, is damaged or lies behind a link that leaves the golden
        root; one line with the path.
    GoldenFormatError
        When it was written by a newer release.
    """
    require_inside(folder, golden_root or folder.parent.parent)
    data = read_golden_bytes(folder)
    if data is None:
        stand_in = describe_unfetched(folder / GOLDEN_FILE)
        if stand_in is not None:
            raise GoldenError(f"{shown(folder / GOLDEN_FILE)}: expected the golden, got {stand_in}")
        return None
    return decode_golden(data, folder / GOLDEN_FILE)


def golden_sha256(folder: Path) -> str | None:
    """Return the sha256 of ``golden.json``, 64 hex digits; None when there is none."""
    data = read_golden_bytes(folder)
    return None if data is None else hashlib.sha256(data).hexdigest()


def read_golden_bytes(folder: Path) -> bytes | None:
    """Return the bytes of ``golden.json``; None when there is none."""
    path = folder / GOLDEN_FILE
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        obstacle = describe_obstacle(folder)
        reason = f"{error.strerror or error}; give read access, or {RESTORE}"
        if obstacle is not None:
            reason = f"{obstacle} or name another golden folder in the suite file"
        raise GoldenError(f"{shown(path)}: cannot be read: {reason}") from error


def verify_files(folder: Path, golden: Golden) -> None:
    """Hold every file that a golden names against its digest, the summary included.

    Parameters
    ----------
    golden : Golden
        As :func:`read_golden` returned it for this folder; ``golden.json`` is not read again.

    Raises
    ------
    GoldenError
        Every missing or changed file, one a line.
    """
    faults = [fault for file in recorded_files(golden) if (fault := _file_fault(folder, file))]
    summary = golden.summary
    if summary is not None and (fault := _file_fault(folder, summary)):
        # A kill between the commit and the last rename leaves the table under its
        # content name: the golden is whole then.
        pending = ArrayFile(file=pending_summary(summary.sha256), sha256=summary.sha256)
        if _file_fault(folder, pending):
            faults.append(fault)
    if faults:
        raise GoldenError("\n".join(faults))


def find_attributes_fault(folder: Path) -> str | None:
    """Say how the ``.gitattributes`` beside a golden differs from what was written; None when not.

    Without it git may convert line ends, and the golden is damaged on the next machine only.
    """
    path = folder / ATTRIBUTES_FILE
    try:
        data = b"" if path.is_symlink() else path.read_bytes()
    except FileNotFoundError:
        return f"{shown(path)}: expected the file that keeps line ends as they are, got none; {_REWRITE}"
    except OSError as error:
        return f"{shown(path)}: cannot be read: {error.strerror or error}; {_REWRITE}"
    if data == ATTRIBUTES:
        return None
    lines = ", ".join(ATTRIBUTES.decode().splitlines())
    return f"{shown(path)}: expected the lines {lines}, got other bytes; {_REWRITE}"


def recorded_files(golden: Golden) -> list[ArrayFile]:
    """Return every array file that a golden names, in a stable order without repetitions."""
    return observed_files(golden.observation)


def pending_summary(sha256: str) -> str:
    """Return the name under which a summary waits for the commit."""
    stem, suffix = SUMMARY_FILE.split(".")
    return f"{stem}.{sha256[:12]}.{suffix}"


def _file_fault(folder: Path, file: ArrayFile) -> str | None:
    """Say how a file differs from its record, None when it does not."""
    path = file_in(folder, file.file, named_by=folder / GOLDEN_FILE)
    try:
        actual = file_digest(path)
        if actual == file.sha256:
            return None
        with open(path, "rb") as stream:
            start = stream.read(32)
    except OSError as error:
        expected = f"{shown(path)}: expected the file that golden.json names"
        if isinstance(error, FileNotFoundError) and (stand_in := describe_unfetched(path)) is not None:
            return f"{expected}, got {stand_in}"
        return f"{expected}: {error.strerror or error}; {RESTORE}"
    if (pointer := describe_pointer(start)) is not None:
        return f"{shown(path)}: expected the file that golden.json names, got {pointer}"
    what = actual[:12] if start else describe_foreign(start)
    return f"{shown(path)}: bytes changed: expected sha256 {file.sha256[:12]}, got {what}; {RESTORE}"
