"""What a run tells the merge: the facts of its recorder, as ``engine.sharding.share`` keeps them.

What belongs here: gathering them at the end of a run, in the main process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import pytest

from pytest_modelreg import __version__
from pytest_modelreg.engine.sharding.durations import DURATIONS_FILE
from pytest_modelreg.engine.sharding.shard import Shard
from pytest_modelreg.engine.sharding.share import RunShare
from pytest_modelreg.engine.tracked_files import digest_file
from pytest_modelreg.plugin.completeness import Completeness
from pytest_modelreg.plugin.sharding import ONLY_CASES, ShardCourse
from pytest_modelreg.plugin.state import RunState
from pytest_modelreg.store.sample_table import SAMPLES_FILE

if TYPE_CHECKING:
    from pytest_modelreg.plugin.recorder import Recorder

WHOLE = Shard(number=1, of=1)
"""What a run without shards is."""


def list_own_obstacles(
    state: RunState,
    completeness: Completeness,
    shards: ShardCourse,
    session: pytest.Session,
    records: Mapping[str, object],
) -> list[str]:
    """Return what kept cases from running beside the shard, in words.

    In a shard ``-m modelreg`` is none: it takes out tests that are no cases, which would run in all of them.
    """
    cases = [case.id for suite in state.suites.values() for case in suite.cases]
    missing = shards.find_missing(cases, records)
    if state.options.shard is None:
        return completeness.list_obstacles(session, missing=missing)
    only_cases = session.config.option.markexpr.strip() == ONLY_CASES
    return completeness.list_obstacles(
        session,
        missing=missing,
        n_by_design=shards.parts.n_by_design,
        harmless={"-m"} if only_cases else (),
    )


def describe_share(
    recorder: Recorder, *, obstacles: Sequence[str], orphans: Sequence[str] | None
) -> RunShare:
    """Return what a run had to do and how it ended."""
    state, shards = recorder.state, recorder.shards
    options = state.options
    durations = digest_file(state.base / DURATIONS_FILE) if options.shard is not None else None
    return RunShare(
        shard=options.shard or WHOLE,
        version=__version__,
        files={_show(path, state): digest_file(path) or "" for path in _list_inputs(state)},
        durations=durations or "",
        is_strict=options.strict,
        obstacles=tuple(obstacles),
        all_cases=tuple(shards.parts.all_cases),
        own_cases=shards.list_ends(),
        orphans=None if orphans is None else tuple(orphans),
        problems=tuple(recorder.problems),
        warnings=tuple(recorder.warnings),
        expected=tuple(recorder.expected),
        commands=recorder.commands,
        notes={case: tuple(notes) for case, notes in recorder.notes.items()},
    )


def _show(path: os.PathLike[str], state: RunState) -> str:
    try:
        return PurePath(os.path.relpath(path, state.base)).as_posix()
    except ValueError:  # another drive on Windows
        return PurePath(path).as_posix()


def _list_inputs(state: RunState) -> list[Path]:
    """Return what says which cases there are and on which samples: suite files, and pins of samples."""
    tables = [
        suite.samples.place / SAMPLES_FILE if suite.samples.rows is None else suite.samples.place
        for suite in state.suites.values()
    ]
    return sorted({*state.suites, *tables})
