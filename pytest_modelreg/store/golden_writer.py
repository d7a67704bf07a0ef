"""The one writer of golden folders: old or new, whole, whatever happens in between.

What belongs here: the order of the steps. It is

1. arrays under temporary names, digest held against the record, synced, renamed to
   their content names: the old golden does not name them;
2. the summary under its content name;
3. ``.gitattributes``;
4. ``golden.json.tmp``, synced, then renamed over ``golden.json``: the commit;
5. the summary renamed to ``summary.csv``; a kill before this leaves it readable under
   its content name, which ``verify_files`` accepts and the next regeneration tidies;
6. files of ours that ``golden.json`` does not name are swept, also after a failure:
   ``golden_sweep``.

A new kind of file goes into step 1 and its name into ``golden_sweep``. What is learnt of a golden later
(:func:`write_noise_floor`) is step 4 alone.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.domain.golden import Calibration, Golden
from pytest_modelreg.store.array_file import file_in
from pytest_modelreg.store.codec import encode_golden, encode_recalibrated
from pytest_modelreg.store.durable_file import copy_synced, sync_folder, write_synced
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.golden_root import ARRAY_NAME, GOLDEN_FILE, require_inside, require_own_name
from pytest_modelreg.store.golden_store import (
    ATTRIBUTES,
    ATTRIBUTES_FILE,
    find_attributes_fault,
    pending_summary,
    read_golden,
    read_golden_bytes,
    recorded_files,
)
from pytest_modelreg.store.golden_sweep import TEMPORARY, sweep
from pytest_modelreg.store.lock import locked
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.obstacle import describe_obstacle
from pytest_modelreg.store.summary_table import SUMMARY_FILE, render_summary, summary_file


def write_golden(
    folder: Path,
    golden: Golden,
    source: Path,
    summary: Sequence[Sequence[str]],
    *,
    golden_root: Path | None = None,
) -> Path:
    """Write a golden in one step: a crash at any point leaves the old one or the new one.

    Parameters
    ----------
    folder : pathlib.Path
        The case's golden folder; created when absent.
    golden : Golden
        What to write, its ``summary`` left out of account: that is the table given
        here. Writing equal content again changes no byte but ``accepted``.
    source : pathlib.Path
        Folder with the observation's arrays; files that the golden folder already
        holds are not looked for there.
    summary : sequence of rows of str
        Header first; becomes ``summary.csv``.
    golden_root : pathlib.Path or None
        Above the folder; no link below it may lead out, and no name below it may be taken
        for another. None: two folders up, where the root of a suite's goldens is.

    Returns
    -------
    pathlib.Path
        ``golden.json``.

    Raises
    ------
    GoldenError
        When the folder cannot be written, an array differs from its recorded digest,
        another process holds the folder, a link leads it out of the golden root, or there
        is a golden whose folder differs only in upper and lower case or Unicode form.
    GoldenFormatError
        When a newer release wrote the golden that is there.
    """
    root = golden_root or folder.parent.parent
    require_inside(folder, root)
    require_own_name(folder, root)
    with _faults_named(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            _refuse_namesake(folder, golden)
            try:
                _write_under_lock(folder, golden, source, summary)
            finally:
                sweep(folder)
    return folder / GOLDEN_FILE


def write_noise_floor(
    folder: Path,
    noise_floor: Mapping[str, float],
    calibration: Calibration,
    *,
    measured_on: str,
    golden_root: Path | None = None,
) -> None:
    """Give a golden another noise floor: ``golden.json`` alone is replaced, in one step.

    Parameters
    ----------
    folder : pathlib.Path
        The golden's folder.
    noise_floor : mapping of str to float
        By output path, dimensionless.
    calibration : Calibration
        Where it comes from.
    measured_on : str
        sha256 of the ``golden.json`` that was there when it was measured.
    golden_root : pathlib.Path or None
        As for :func:`write_golden`.

    Raises
    ------
    GoldenError
        When the golden was replaced or removed since, or cannot be written.
    """
    require_inside(folder, golden_root or folder.parent.parent)
    with _faults_named(folder), locked(folder):
        data = read_golden_bytes(folder)
        if data is None or hashlib.sha256(data).hexdigest() != measured_on:
            raise GoldenError(
                f"{shown(folder / GOLDEN_FILE)}: expected the golden that the noise floor was measured "
                "beside, got another one: it was replaced meanwhile; calibrate again"
            )
        new = encode_recalibrated(data, folder / GOLDEN_FILE, noise_floor, calibration)
        _place_bytes(folder / GOLDEN_FILE, new)
        sync_folder(folder)


def restore_attributes(folder: Path, *, golden_root: Path | None = None) -> bool:
    """Give a golden the file again that keeps its line ends; nothing else of it is touched.

    Returns
    -------
    bool
        Whether it was not there as it was written.

    Raises
    ------
    GoldenError
        When it cannot be written, another process holds the folder or a link leads it out of the root.
    """
    if read_golden_bytes(folder) is None or find_attributes_fault(folder) is None:
        return False
    require_inside(folder, golden_root or folder.parent.parent)
    with _faults_named(folder), locked(folder):
        _place_bytes(folder / ATTRIBUTES_FILE, ATTRIBUTES)
        sync_folder(folder)
    return True


def _write_under_lock(folder: Path, golden: Golden, source: Path, summary: Sequence[Sequence[str]]) -> None:
    for file in recorded_files(golden):
        _place_array(folder, file, source)
    table = summary_file(summary)
    waiting = folder / pending_summary(table.sha256)
    table_is_there = _holds(folder / SUMMARY_FILE, table.sha256)
    if not table_is_there:
        _place_bytes(waiting, render_summary(summary))
    if find_attributes_fault(folder) is not None:
        _place_bytes(folder / ATTRIBUTES_FILE, ATTRIBUTES)
    data = encode_golden(replace(golden, summary=table))
    sync_folder(folder)  # what golden.json will name is there before it names it
    _place_bytes(folder / GOLDEN_FILE, data)
    sync_folder(folder)
    if not table_is_there:
        os.replace(waiting, folder / SUMMARY_FILE)
        sync_folder(folder)


def _place_array(folder: Path, file: ArrayFile, source: Path) -> None:
    target = file_in(folder, file.file)
    if not ARRAY_NAME.fullmatch(file.file) or file.sha256[:12] not in file.file:
        raise GoldenError(
            f"{file.file}: expected a name like outputs.<path>.{file.sha256[:12]}.npy that carries the"
            " file's digest; observe the case again"
        )
    if _holds(target, file.sha256):
        return
    temporary = target.with_name(target.name + TEMPORARY)
    origin = file_in(source, file.file)
    actual = copy_synced(origin, temporary)
    if actual != file.sha256:
        raise GoldenError(
            f"{shown(origin)}: bytes changed since they were recorded: expected sha256 {file.sha256[:12]},"
            f" got {actual[:12]}; observe the case again"
        )
    os.replace(temporary, target)


def _place_bytes(target: Path, data: bytes) -> None:
    temporary = target.with_name(target.name + TEMPORARY)
    write_synced(temporary, data)
    os.replace(temporary, target)


def _holds(path: Path, sha256: str) -> bool:
    return path.is_file() and not path.is_symlink() and file_digest(path) == sha256


def _refuse_namesake(folder: Path, golden: Golden) -> None:
    """Keep two cases apart that a file system gives one folder, because it ignores case."""
    try:
        held = read_golden(folder)
    except GoldenFormatError:  # never replaced by a release that cannot read it
        raise
    except GoldenError:  # a damaged golden is what a regeneration is there to replace
        return
    if held is None:
        return
    old, new = held.observation, golden.observation
    old_name, new_name = case_id(old.suite, old.variant), case_id(new.suite, new.variant)
    if old_name != new_name and old_name.casefold() == new_name.casefold():
        raise GoldenError(
            f"{shown(folder)}: expected the golden of {new_name}, got the one of {old_name}: the names differ"
            " only in upper and lower case, which this file system ignores; rename one of the two"
        )


@contextmanager
def _faults_named(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f" ({shown(Path(error.filename))})" if isinstance(error.filename, str) else ""
        reason = f"{error.strerror or error}{where}; nothing is half written: free space or give write access"
        raise GoldenError(
            f"{shown(folder)}: the golden cannot be written: {describe_obstacle(folder) or reason},"
            " then regenerate again"
        ) from error
