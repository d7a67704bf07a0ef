"""What a run leaves for the merge, in the report of its folder: what it should have run, and what it did.

What belongs here: :class:`RunShare`, written and read back. Whether several of them make one whole run is
``union``'s. To let the merge know one more thing, add it to the class, to the writing and to the reading
function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.engine.sharding.assignment import digest_cases
from pytest_modelreg.engine.sharding.shard import Shard, is_possible
from pytest_modelreg.store.json_object import JsonObject

SHARE = "share"
"""Under this key the report in a run folder holds it."""


@dataclass(frozen=True, kw_only=True)
class CaseEnd:
    """How a case of a run ended.

    Parameters
    ----------
    records : tuple of str
        Ids of its records in the report: its own, or one a check of a Python test.
    duration_s : float
        Of its test as pytest measures it, setup and teardown included.
    has_failed : bool
        Whether pytest shows it as failed.
    """

    id: str
    records: tuple[str, ...] = ()
    duration_s: float = 0.0
    has_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class RunShare:
    """What a run had to do and how it ended.

    Parameters
    ----------
    shard : Shard
        1/1 for a run without shards.
    version : str
        Of pytest-modelreg.
    files : mapping of str to str
        sha256 by suite file and by what pins its samples, relative to the project; empty for one that cannot
        be read.
    durations : str
        sha256 of the durations file; empty without one.
    is_strict : bool
        Whether warnings fail the run.
    obstacles : tuple of str
        What kept cases of its own from running, in words.
    all_cases : tuple of str
        Ids of all cases of the whole run, in the order of collection.
    own_cases : tuple of CaseEnd
        Those of this shard.
    orphans : tuple of str or None
        Golden folders, relative to the project, that no case of this run claims; None where the run cannot
        say so.
    problems, warnings : tuple of str
        What it told of itself.
    expected : tuple of str
        Ids of records that do not pass, as their tests say beforehand.
    commands : mapping of str to str
        Commands that accept what was seen, by the id of a record.
    notes : mapping of str to tuple of str
        By the id of a record.
    """

    shard: Shard
    version: str
    files: Mapping[str, str] = field(default_factory=dict)
    durations: str = ""
    is_strict: bool = False
    obstacles: tuple[str, ...] = ()
    all_cases: tuple[str, ...] = ()
    own_cases: tuple[CaseEnd, ...] = ()
    orphans: tuple[str, ...] | None = None
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def share_fields(share: RunShare) -> dict[str, Any]:
    """Return a share as builtin values."""
    return {
        "shard": {"number": share.shard.number, "of": share.shard.of},
        "version": share.version,
        "files": dict(share.files),
        "durations": share.durations,
        "strict": share.is_strict,
        "obstacles": list(share.obstacles),
        "all": list(share.all_cases),
        "own": [
            {
                "id": end.id,
                "records": list(end.records),
                "duration_s": round(end.duration_s, 3),
                "failed": end.has_failed,
            }
            for end in share.own_cases
        ],
        "orphans": None if share.orphans is None else list(share.orphans),
        "problems": list(share.problems),
        "warnings": list(share.warnings),
        "expected": list(share.expected),
        "commands": {case: command for case, command in share.commands.items() if command},
        "notes": {case: list(notes) for case, notes in share.notes.items() if notes},
    }


def shard_record(share: RunShare) -> dict[str, Any]:
    """Return what a report says of its shard: which one, all case ids with a digest over them, its own."""
    return {
        "number": share.shard.number,
        "of": share.shard.of,
        "digest": digest_cases(share.all_cases),
        "all": list(share.all_cases),
        "own": [end.id for end in share.own_cases],
    }


def read_share(report: Mapping[str, Any], path: Path) -> RunShare | None:
    """Return what a run's report says for the merge; None where it is of a release that said nothing.

    Parameters
    ----------
    path : Path
        Where the report comes from, for messages.

    Raises
    ------
    GoldenError
        When it is damaged.
    """
    if SHARE not in report:
        return None
    fields = JsonObject(report[SHARE], path, SHARE)
    place = fields.object("shard")
    number, of = place.integer("number"), place.integer("of")
    if not is_possible(number, of):
        raise GoldenError(f"{path}: {SHARE}.shard: expected a shard of some, got {number}/{of}")
    commands, notes = fields.object("commands"), fields.object("notes")
    files = fields.object("files")
    return RunShare(
        shard=Shard(number=number, of=of),
        version=fields.text("version"),
        files={name: files.text(name) for name in fields.mapping("files")},
        durations=fields.text("durations"),
        is_strict=fields.boolean("strict"),
        obstacles=fields.texts("obstacles"),
        all_cases=fields.texts("all"),
        own_cases=tuple(
            CaseEnd(
                id=end.text("id"),
                records=end.texts("records"),
                duration_s=end.number("duration_s"),
                has_failed=end.boolean("failed"),
            )
            for end in fields.records("own")
        ),
        orphans=fields.optional("orphans", fields.texts),
        problems=fields.texts("problems"),
        warnings=fields.texts("warnings"),
        expected=fields.texts("expected"),
        commands={name: commands.text(name) for name in fields.mapping("commands")},
        notes={name: notes.texts(name) for name in fields.mapping("notes")},
    )
