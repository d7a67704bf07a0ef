"""Goldens that nobody claims any more: what a whole run can say, and only a whole one.

What belongs here: which goldens of Python tests a run claimed, gathered from every process, and
the verdict on the rest. A run that left anything out has none: what it did not run, it cannot miss.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import GoldenError, ModelRegError
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.engine.golden_budget import list_excess
from pytest_modelreg.engine.orphans import (
    Claims,
    describe_orphans,
    find_suite_orphans,
    find_values_orphans,
    write_claims,
)
from pytest_modelreg.engine.suite_loading import load_suites
from pytest_modelreg.engine.values import VALUES_SUITE, values_golden
from pytest_modelreg.plugin.carrying import OUTCOMES
from pytest_modelreg.plugin.conclusion import COURSE, Course
from pytest_modelreg.plugin.python_test import asks_for_fixture, list_golden_parts
from pytest_modelreg.plugin.state import RunState
from pytest_modelreg.plugin.values import CHECKER

CLAIM = "modelreg_claim"
"""Under this name a test's report carries what it claims, as builtin values."""


class ClaimCarrier:
    """Puts on the last report of a test which goldens are its own; registered in every process."""

    def __init__(self, state: RunState) -> None:
        self._base = state.base

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Say it once the test is over, whatever became of it."""
        report = yield
        if call.when == "teardown" and (asks_for_fixture(item) or CHECKER in item.stash):
            course = item.stash.get(COURSE, Course())
            outcomes = item.stash.get(OUTCOMES, None) or {}
            if outcomes and not course.has_failed and set(course.outcomes.values()) == {"passed"}:
                goldens = [outcome.place.golden for outcome in outcomes.values()]
                claim = {"checked": [_shorten(golden, self._base) for golden in goldens]}
            else:
                # A test that was skipped or failed may check more than it came to.
                folder = values_golden(Path(), list_golden_parts(item))
                claim = {"kept": [folder.relative_to(VALUES_SUITE).as_posix()]}
            setattr(report, CLAIM, claim)
        return report


class ClaimedGoldens:
    """Gathers the claims in the main process and judges what is left over."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._checked: set[str] = set()
        self._kept: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over what a test claims."""
        claim: dict[str, list[str]] = getattr(report, CLAIM, {})
        self._checked.update(claim.get("checked", ()))
        self._kept.update(claim.get("kept", ()))

    def list_orphans(self, config: pytest.Config) -> list[str]:
        """Return what to say of goldens without a case, after a run that left nothing out.

        Keeps what the run claimed, for the command that prunes.
        """
        if not _covers(config, self._state.base):
            return []
        claims = Claims(checked=frozenset(self._checked), kept=frozenset(self._kept))
        base = self._state.base
        try:
            suites = load_suites(find_suites([base], ignored=lambda path: False), rootdir=base)
            orphans = [*find_suite_orphans(suites), *find_values_orphans(base / "golden", claims)]
            if self._state.made_run_folder is not None:
                write_claims(self._state.made_run_folder, claims)
        except GoldenError as error:
            return [str(error)]
        except ModelRegError:
            return []  # a faulty suite file claims nobody knows what
        return describe_orphans(orphans, base)

    def list_excess(self) -> list[str]:
        """Return a warning for every suite of the run whose goldens are above its budget."""
        return list_excess(self._state.suites.values())


def _covers(config: pytest.Config, base: Path) -> bool:
    """Whether the run was asked for the whole project, not for some files or folders of it."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        return True
    start = config.invocation_params.dir
    asked = [(start / str(argument)).resolve() for argument in config.args]
    return any(base.resolve().is_relative_to(path) for path in asked)


def _shorten(golden: Path, base: Path) -> str:
    return golden.relative_to(base / "golden" / VALUES_SUITE).as_posix()
