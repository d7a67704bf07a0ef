"""What a run says as a whole, once every test is over: what it left out, what nobody has, what was compared.

What belongs here: judging a recorder's run at its end. A shard says nothing of what the other shards have;
what it knows it leaves for ``modelreg merge``, which says it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.claims import SHARD_CLAIMS_FILE
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.engine.orphans import list_places
from pytest_modelreg.engine.sharding.share import RunShare
from pytest_modelreg.engine.sharding.union import ALL_SKIPPED
from pytest_modelreg.engine.values_orphans import has_values_goldens
from pytest_modelreg.plugin.options import is_selected_by_ini
from pytest_modelreg.plugin.share import describe_share, list_own_obstacles

if TYPE_CHECKING:
    from pytest_modelreg.plugin.recorder import Recorder


def judge_run(recorder: Recorder, session: pytest.Session) -> RunShare:
    """Add what is to be said of the run as a whole to its recorder; return what the merge needs."""
    obstacles = list_own_obstacles(
        recorder.state, recorder.completeness, recorder.shards, session, recorder.records
    )
    shard = recorder.state.options.shard
    recorder.obstacles = [*([f"shard {shard}"] if shard else []), *obstacles]
    orphans = None
    if was_run(session) and (recorder.records or shard or has_values_goldens(recorder.state.base)):
        if shard is not None and not obstacles:
            orphans = _find_unclaimed(recorder, session.config)
        elif not obstacles:
            recorder.told_less.extend(recorder.claimed.list_orphans(session.config))
        recorder.warnings += recorder.claimed.list_excess()
    _check_cases(recorder, session)
    return describe_share(recorder, obstacles=obstacles, orphans=orphans)


def was_run(session: pytest.Session) -> bool:
    """Whether tests were to be run, and not only listed or refused."""
    return not session.config.option.collectonly and session.exitstatus != pytest.ExitCode.USAGE_ERROR


def _find_unclaimed(recorder: Recorder, config: pytest.Config) -> list[str] | None:
    """Return the goldens that no case of this shard has; what none of the shards has is an orphan."""
    left_out = recorder.shards.parts.left_out or ()
    try:
        found = recorder.claimed.find_orphans(config, left_out=left_out, claims_file=SHARD_CLAIMS_FILE)
    except ModelRegError as error:
        recorder.told_less.append(str(error))
        return None
    return None if found is None else list_places(found, recorder.state.base, n_listed=None)


def _check_cases(recorder: Recorder, session: pytest.Session) -> None:
    """Say what was swallowed, what was not the same each time, and whether anything was compared."""
    recorder.problems += recorder.list_swallowed()
    reruns = ((record["id"], recorder.endings.describe_rerun(record)) for record in recorder.records.values())
    recorder.told_less.extend(f"{case}: {rerun}" for case, rerun in reruns if rerun is not None)
    if session.config.option.collectonly or session.exitstatus in (
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.INTERNAL_ERROR,
        pytest.ExitCode.USAGE_ERROR,
    ):
        return  # the run was stopped for another reason, which is already on the screen
    options, parts = recorder.state.options, recorder.shards.parts
    verdicts = recorder.verdicts
    if recorder.shards.is_empty_by_design and not verdicts:
        recorder.remarks.append(
            f"shard {options.shard} has none of the {len(parts.all_cases)} cases, so it compared nothing, by "
            "design; modelreg merge sees that the others did"
        )
    elif not verdicts:
        if is_selected_by_ini(session.config) and not options.strict:
            return  # a project that always compares may still run one test file of it
        recorder.told_less.append(f"no case was run, so nothing was compared: {_explain_absence(recorder)}")
    elif all(verdict is Verdict.SKIPPED for verdict in verdicts):
        if options.shard is None:
            recorder.problems.append(ALL_SKIPPED)
        else:
            recorder.remarks.append(f"{ALL_SKIPPED}; modelreg merge fails where that is so of all shards")


def _explain_absence(recorder: Recorder) -> str:
    state = recorder.state
    if state.suites or recorder.completeness.asking:
        return "all cases and tests with the fixture were deselected"
    found = [os.path.relpath(path) for path in find_suites([state.base], ignored=lambda path: False)]
    if found:
        return (
            f"the arguments (or testpaths) leave out {', '.join(found[:3])}; "
            "name it as an argument or add it to testpaths"
        )
    return "there is no modelreg.yaml or *.modelreg.yaml below the arguments; `modelreg init` writes one"
