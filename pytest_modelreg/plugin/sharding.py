"""Which cases of a run are its own: a shard takes its part of them, and follows how they end.

What belongs here: hooks around ``--modelreg-shard``. Which case is in which shard is
``engine.sharding.assignment``'s. Only cases are parted: suites' and those of tests that ask for the fixture.
Any other test is pytest's own business, and runs in every shard unless ``-m modelreg`` leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.sharding.assignment import ShardedCase, assign_shards, describe_group
from pytest_modelreg.engine.sharding.durations import DURATIONS_FILE, read_durations
from pytest_modelreg.engine.sharding.share import CaseEnd
from pytest_modelreg.engine.values import VALUES_SUITE, values_golden
from pytest_modelreg.plugin.carrying import BLANK
from pytest_modelreg.plugin.collection import CaseItem
from pytest_modelreg.plugin.python_test import asks_for_fixture, find_test_id, list_golden_parts
from pytest_modelreg.plugin.state import RunState

PARTS = "modelreg_parts"
"""Under this name an xdist worker tells its controller which cases there are, and which it kept."""

CASE = "modelreg_case"
"""Under this name a report carries the id of its case."""

ONLY_CASES = "modelreg"
"""With this for ``-m`` a selection leaves out nothing but tests that are no cases."""


@dataclass
class Parts:
    """What a process collected: builtin values, the same in every worker.

    Parameters
    ----------
    all_cases, own_cases : list of str
        Case ids in the order of collection.
    n_by_design : int
        How many tests were taken out that no merge misses: cases of other shards, and tests that are none.
    left_out : list of str
        Golden folders, below ``golden/py``, of tests that are no cases as far as is known before they run,
        and were taken out: what they might have checked is theirs still.
    """

    all_cases: list[str]
    own_cases: list[str]
    n_by_design: int = 0
    left_out: list[str] | None = None


class ShardSelection:
    """Takes the cases of other shards out; registered in every process, before what looks at all tests."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._plain: list[pytest.Item] = []
        self.parts = Parts([], [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the cases of this shard and every test that is none; what ``-k`` leaves comes after it.

        Raises
        ------
        pytest.UsageError
            When the durations file is faulty.
        """
        found = [(item, find_sharded_case(item)) for item in items]
        cases = {case.id: case for _, case in found if case is not None}
        own = self._choose(list(cases.values()))
        self._plain = [item for item, case in found if case is None]
        removed = [item for item, case in found if case is not None and case.id not in own]
        self.parts = Parts(list(cases), [name for name in cases if name in own], n_by_design=len(removed))
        if removed:
            config.hook.pytest_deselected(items=removed)
            items[:] = [item for item, case in found if case is None or case.id in own]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which tests that are no cases were left out where that was all that was asked for."""
        plain, self._plain = self._plain, []
        if session.config.option.markexpr.strip() != ONLY_CASES:
            return
        kept = set(session.items)
        left_out = [item for item in plain if item not in kept]
        self.parts.n_by_design += len(left_out)
        places = {values_golden(self._state.base / "golden", list_golden_parts(item)) for item in left_out}
        root = self._state.base / "golden" / VALUES_SUITE
        self.parts.left_out = sorted(place.relative_to(root).as_posix() for place in places if place.is_dir())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand them to the controller, before xdist sends what a worker has to say."""
        output: dict[str, Any] = getattr(session.config, "workeroutput", {})
        output[PARTS] = vars(self.parts)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        """Put the id of its case on a report."""
        report = yield
        if BLANK in item.stash:
            setattr(report, CASE, item.stash[BLANK].id)
        return report

    def _choose(self, cases: list[ShardedCase]) -> set[str]:
        shard = self._state.options.shard
        if shard is None:
            return {case.id for case in cases}
        numbers = assign_shards(cases, shard.of, read_project_durations(self._state))
        return {case for case, number in numbers.items() if number == shard.number}


class ShardCourse(ShardSelection):
    """The same in the main process, with workers or without, and how the cases ended."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._ends: dict[str, dict[str, Any]] = {}

    def pytest_sessionstart(self) -> None:
        """Look for faults where a usage error does not look like a crash.

        Raises
        ------
        pytest.UsageError
            When the durations file is faulty.
        """
        if self._state.options.shard is not None:
            read_project_durations(self._state)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Take over what a worker collected; all of them collect the same."""
        told = (getattr(node, "workeroutput", None) or {}).get(PARTS)
        if told is not None and len(told["all_cases"]) >= len(self.parts.all_cases):
            self.parts = Parts(**told)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over how long a test took, and whether pytest shows it as failed."""
        case = getattr(report, CASE, None)
        if case is None:
            return
        if report.when == "setup":  # also of a rerun: what the last run said is void
            self._ends[case] = {}
        end = self._ends.setdefault(case, {})
        end["duration_s"] = end.get("duration_s", 0.0) + report.duration
        end["has_failed"] = end.get("has_failed", False) or report.failed
        if carried := getattr(report, "modelreg", None):
            end["records"] = tuple(entry["record"]["id"] for entry in carried)

    @property
    def is_empty_by_design(self) -> bool:
        """Whether the shard has no case because others have them all."""
        is_shard = self._state.options.shard is not None
        return is_shard and bool(self.parts.all_cases) and not self.parts.own_cases

    def find_missing(self, cases: Iterable[str], records: Mapping[str, object]) -> list[str]:
        """Return those of the cases of all suites that should have a record in this run and have none."""
        missing = [case for case in cases if case not in records]
        if self._state.options.shard is None:
            return missing
        others = set(self.parts.all_cases).difference(self.parts.own_cases)
        return [case for case in missing if case not in others]

    def list_ends(self) -> tuple[CaseEnd, ...]:
        """Return how the cases of this run ended, also those that never ran."""
        return tuple(CaseEnd(id=case, **self._ends.get(case, {})) for case in self.parts.own_cases)


def find_sharded_case(item: pytest.Item) -> ShardedCase | None:
    """Return what an item is to a shard; None for a test that is no case.

    Tests of one file have its fixtures in common.
    """
    if isinstance(item, CaseItem):
        return ShardedCase(id=item.case.id, group=describe_group(item.case))
    if asks_for_fixture(item):
        test = find_test_id(item)
        return ShardedCase(id=case_id(VALUES_SUITE, test), group=test.partition("::")[0])
    return None


def read_project_durations(state: RunState) -> dict[str, float] | None:
    """Return what the project's durations file says; None without one.

    Raises
    ------
    pytest.UsageError
        When it is faulty.
    """
    try:
        return read_durations(state.base / DURATIONS_FILE)
    except UsageFault as error:
        raise pytest.UsageError(str(error)) from error
