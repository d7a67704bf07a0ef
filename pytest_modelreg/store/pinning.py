"""Writing ``samples.csv``: the first time freely, afterwards only on request.

What belongs here: how files become rows. A changed sample is never accepted silently:
without ``update`` an existing table is verified, not rewritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path, PurePosixPath

from pytest_modelreg.domain.errors import Fault, SampleSetError, UsageFault
from pytest_modelreg.domain.sample import Sample
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.sample_files import compare_rows, list_files
from pytest_modelreg.store.sample_table import (
    COLUMNS,
    SAMPLES_FILE,
    parse_table,
    render_table,
    where_in_table,
)


@dataclass(frozen=True, kw_only=True)
class PinReport:
    """What pinning did.

    Parameters
    ----------
    added, removed, changed : tuple of str
        Ids of rows that are new, whose file is gone, whose bytes are newly accepted.
    n_samples : int
        Rows now.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    n_samples: int


def pin(folder: Path, *, check: bool = False, update: bool = False) -> PinReport:
    """Write a folder's ``samples.csv``, or verify the one that is there.

    Parameters
    ----------
    check : bool
        Write nothing: the table must exist and fit.
    update : bool
        Accept added, removed and changed files. Ids, labels, tags, order and columns
        of rows whose file still exists are kept; new rows come last.

    Returns
    -------
    PinReport
        Nothing added, removed or changed when the table was verified only; then its
        bytes are as before.

    Raises
    ------
    SampleSetError
        Every fault at once: of the table's text, of files that cannot be pinned, and,
        without ``update``, of files that differ from the table.
    UsageFault
        With ``check`` and ``update`` together.
    """
    if check and update:
        raise UsageFault("expected `--check` (writes nothing) or `--update` (accepts the files), got both")
    try:
        if (folder / SAMPLES_FILE).exists() or check:
            return _verify_or_update(folder, update=update)
        return _write_first(folder)
    except OSError as error:
        where = shown(Path(error.filename)) if isinstance(error.filename, str) else shown(folder)
        raise SampleSetError([Fault(where=where, message=error.strerror or str(error))]) from error


def _write_first(folder: Path) -> PinReport:
    inside = list_files(folder)
    faults = list(inside.faults)
    if not inside.files:
        faults.append(
            Fault(where=shown(folder), message="expected files to pin, got none; put the samples here")
        )
    if faults:
        raise SampleSetError(faults)
    samples = _new_samples(folder, inside.files, [])
    replace_atomically(folder / SAMPLES_FILE, render_table(COLUMNS, samples))
    return PinReport(added=tuple(sample.id for sample in samples), n_samples=len(samples))


def _verify_or_update(folder: Path, *, update: bool) -> PinReport:
    table = parse_table(folder)
    content = compare_rows(folder, table.rows, listed=table.files)
    faults = [*table.text_faults, *content.refused] if update else [*table.faults, *content.all_faults]
    if faults:
        raise SampleSetError(faults)
    rows = [row.sample for row in table.rows]
    if not (content.missing or content.changed or content.extra):
        if not rows:
            raise SampleSetError(table.faults)
        return PinReport(n_samples=len(rows))
    kept = [
        replace(sample, sha256=file_digest(folder / sample.file))
        if sample.file in content.changed
        else sample
        for sample in rows
        if sample.file not in content.missing
    ]
    added = _new_samples(folder, tuple(content.extra), kept)
    if not (samples := [*kept, *added]):
        raise SampleSetError(
            [Fault(where=where_in_table(folder), message="expected at least one file, got none")]
        )
    replace_atomically(folder / SAMPLES_FILE, render_table(table.columns, samples))
    return PinReport(
        added=tuple(sample.id for sample in added),
        removed=tuple(sample.id for sample in rows if sample.file in content.missing),
        changed=tuple(sample.id for sample in rows if sample.file in content.changed),
        n_samples=len(samples),
    )


def _new_samples(folder: Path, files: Sequence[str], kept: Sequence[Sample]) -> list[Sample]:
    """Return a sample for each file, its id the shortest name that is nobody else's."""
    everything = [*(sample.file for sample in kept), *files]
    stems = Counter(PurePosixPath(file).stem for file in everything)
    trunks = Counter(_trunk(file) for file in everything)
    taken = {sample.id for sample in kept}
    samples = []
    for file in files:
        stem = PurePosixPath(file).stem
        wishes = [stem] * (stems[stem] == 1) + [_trunk(file)] * (trunks[_trunk(file)] == 1) + [file]
        # A kept row may have any id by hand, also the whole path of another file.
        numbered = (f"{file}-{number}" for number in count(2))
        chosen = next(wish for wish in chain(wishes, numbered) if wish not in taken and wish.strip())
        taken.add(chosen)
        samples.append(Sample(id=chosen, file=file, sha256=file_digest(folder / file)))
    return samples


def _trunk(file: str) -> str:
    return str(PurePosixPath(file).with_suffix(""))
