"""How outcomes travel from the test that produced them to the report.

What belongs here: builtin values on pytest's own reports, so that they cross from an
xdist worker, and properties that JUnit readers see.
"""

from __future__ import annotations

from typing import Any

import pytest

from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.report import case_record, fingerprint_record, junit_properties

OUTCOMES = pytest.StashKey[dict[str, Outcome]]()
"""On an item: its outcomes by check name; a suite's case has one, under the empty name."""


class CaseFailed(Exception):
    """Raised where a verdict does not pass; carries the result to the report."""

    def __init__(self, result: CaseResult) -> None:
        self.result = result
        super().__init__(result.message)


class OutcomeCarrier:
    """Puts an item's outcomes on the report of its call."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Add records and properties."""
        report = yield
        outcomes = item.stash.get(OUTCOMES, None)
        if call.when == "call" and outcomes:
            report.modelreg = [_carry(outcome) for outcome in outcomes.values()]
            for name, outcome in outcomes.items():
                report.user_properties += junit_properties(
                    outcome.result, environment=_digest(outcome), check=name
                )
        return report


def _carry(outcome: Outcome) -> dict[str, Any]:
    observation = outcome.observation
    return {
        "record": case_record(outcome.result),
        "notes": list(outcome.result.notes),
        "environment": None if observation is None else fingerprint_record(observation.fingerprint),
    }


def _digest(outcome: Outcome) -> str:
    return "" if outcome.observation is None else outcome.observation.fingerprint.digest
