"""All shards of a run as the one run that they are: its records, its verdict as a whole, its folder.

What belongs here: putting together. Nothing is judged again, and nothing of the shards is changed; of their
folders plain files are copied, by the names that cases have.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import GoldenError, RunFolderError, UsageFault
from pytest_modelreg.domain.verdict import WORST_FIRST, Verdict
from pytest_modelreg.engine.claims import (
    CLAIMS_FILE,
    SHARD_CLAIMS_FILE,
    read_claims,
    unite_claims,
    write_claims,
)
from pytest_modelreg.engine.orphans import describe_orphans
from pytest_modelreg.engine.sharding.part import Part
from pytest_modelreg.engine.sharding.union import ALL_SKIPPED
from pytest_modelreg.store import safe_component


@dataclass(frozen=True, kw_only=True)
class MergedRun:
    """What all shards found.

    Parameters
    ----------
    records : mapping of str to dict
        Of the report, by case id, in the order of collection.
    folders : mapping of str to Path
        By case id: the run folder of the shard that the record is from.
    problems, warnings : tuple of str
        What fails the run beside its cases, and what does not.
    expected : frozenset of str
        Ids of records that do not pass, as their tests say beforehand.
    commands, notes : mapping
        By case id.
    durations_s : mapping of str to float
        Seconds by case id, of all cases.
    """

    records: Mapping[str, dict[str, Any]]
    folders: Mapping[str, Path]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    expected: frozenset[str] = frozenset()
    commands: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    durations_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def has_errors(self) -> bool:
        """Whether a case could not run."""
        return Verdict.ERROR in self._unexpected

    @property
    def differs(self) -> bool:
        """Whether the run does not pass for another reason."""
        failed = (verdict for verdict in self._unexpected if verdict is not Verdict.SKIPPED)
        return bool(self.problems) or any(not verdict.passes for verdict in failed)

    @property
    def _unexpected(self) -> list[Verdict]:
        return [
            Verdict(record["verdict"]) for case, record in self.records.items() if case not in self.expected
        ]


def merge_parts(parts: Sequence[Part], *, is_strict: bool) -> MergedRun:
    """Return the run that all shards are together.

    Parameters
    ----------
    parts : sequence of Part
        A whole run, as :func:`~pytest_modelreg.engine.sharding.union.require_whole` says.
    is_strict : bool
        Whether orphans fail the run; they do also where the shards were strict.
    """
    ends = {end.id: end for part in parts for end in part.share.own_cases}
    chosen: dict[str, Part] = {}
    order = [record for case in parts[0].share.all_cases for record in ends[case].records]
    others = [record for part in parts for record in part.records]
    for record in dict.fromkeys([*order, *others]):
        holders = [part for part in parts if record in part.records]
        chosen[record] = min(holders, key=lambda part: _rank(part.records[record]))
    records = {record: part.records[record] for record, part in chosen.items()}
    problems = _unite(part.share.problems for part in parts)
    warnings = _unite(part.share.warnings for part in parts)
    told_less = problems if is_strict or any(part.share.is_strict for part in parts) else warnings
    told_less += describe_orphans(find_orphans(parts), Path())
    expected = frozenset(record for part in parts for record in part.share.expected)
    problems += _find_own_failures(parts, records, problems)
    verdicts = [Verdict(record["verdict"]) for record in records.values()]
    if not verdicts:
        problems.append("no case was run in any shard, so nothing was compared")
    elif all(verdict is Verdict.SKIPPED for verdict in verdicts):
        problems.append(ALL_SKIPPED)
    return MergedRun(
        records=records,
        folders={record: part.folder for record, part in chosen.items()},
        problems=tuple(problems),
        warnings=tuple(warnings),
        expected=expected,
        commands={name: part.share.commands.get(name, "") for name, part in chosen.items()},
        notes={name: part.share.notes.get(name, ()) for name, part in chosen.items()},
        durations_s={case: ends[case].duration_s for case in parts[0].share.all_cases},
    )


def find_orphans(parts: Sequence[Part]) -> list[Path]:
    """Return goldens that no case of any shard has; none where one of them cannot know."""
    told = [part.share.orphans for part in parts]
    if any(orphans is None for orphans in told):
        return []
    return sorted(map(Path, set.intersection(*(set(orphans or ()) for orphans in told))))


def write_merged(run: MergedRun, parts: Sequence[Part], folder: Path) -> None:
    """Put into a run's folder what the shards kept, all but the report.

    Raises
    ------
    UsageFault
        When a shard's folder holds anything but plain files and folders.
    RunFolderError
        When something cannot be copied.
    """
    try:
        for name, source in run.folders.items():
            case = source / safe_component(name)
            if case.is_dir() or case.is_symlink():
                _copy_plain(case, folder / case.name)
    except OSError as error:
        raise RunFolderError(f"{folder}: the merged run cannot be kept: {error.strerror or error}") from error
    claims = [part.folder / SHARD_CLAIMS_FILE for part in parts]
    if len(parts) == 1 and not claims[0].is_file():
        claims = [parts[0].folder / CLAIMS_FILE]
    if not all(path.is_file() and not path.is_symlink() for path in claims):
        return
    try:
        write_claims(folder, unite_claims([read_claims(path) for path in claims]))
    except GoldenError as error:
        raise UsageFault(str(error)) from error


def _copy_plain(source: Path, target: Path) -> None:
    """Copy files and folders; a link, a pipe or a device in a folder from elsewhere is no data."""
    mode = source.lstat().st_mode
    if stat.S_ISDIR(mode):
        target.mkdir()
        for entry in sorted(os.listdir(source)):
            _copy_plain(source / entry, target / entry)
    elif stat.S_ISREG(mode):
        shutil.copyfile(source, target, follow_symlinks=False)
    else:
        raise UsageFault(
            f"{source}: expected a plain file or folder in a run folder, got something else; get it again"
        )


def _find_own_failures(
    parts: Sequence[Part], records: Mapping[str, Mapping[str, Any]], problems: Collection[str]
) -> list[str]:
    """Return tests that failed by themselves, although everything that they checked passes."""
    found = []
    for part in parts:
        for end in part.share.own_cases:
            passes = all(Verdict(records[name]["verdict"]).passes for name in end.records)
            if (
                end.has_failed
                and passes
                and not any(name in text for name in end.records for text in problems)
            ):
                found.append(f"{end.id}: its test failed, although what it checked agrees: see its shard")
    return found


def _rank(record: Mapping[str, Any]) -> int:
    return WORST_FIRST.index(Verdict(record["verdict"]))


def _unite(told: Any) -> list[str]:
    return list(dict.fromkeys(text for texts in told for text in texts))
