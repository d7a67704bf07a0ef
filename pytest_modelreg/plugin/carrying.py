"""How outcomes travel from the test that produced them to the report.

What belongs here: builtin values on pytest's own reports, so that they cross from an
xdist worker, and properties that JUnit readers see.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.report import PROPERTY_PREFIX, case_record, fingerprint_record, junit_properties

OUTCOMES = pytest.StashKey[dict[str, Outcome]]()
"""On an item: its outcomes by check name; a suite's case has one, under the empty name."""

CARRIED = pytest.StashKey[tuple[CaseResult, ...]]()
"""On an item: what its last report carried, so that the report of its teardown repeats nothing."""

BLANK = pytest.StashKey[CaseResult]()
"""On an item that is a case: the record that it fills in when it ends before anything was observed."""


class CaseFailed(Exception):
    """Raised where a verdict does not pass; carries the result to the report."""

    def __init__(self, result: CaseResult) -> None:
        self.result = result
        super().__init__(result.message)


class OutcomeCarrier:
    """Puts an item's outcomes on the report of the phase that brought them, or says why it has none."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Add records and properties."""
        report = yield
        outcomes = item.stash.get(OUTCOMES, None)
        properties: list[tuple[str, object]] = []
        results = tuple(outcome.result for outcome in (outcomes or {}).values())
        seen = item.stash.get(CARRIED, ()) if call.when == "teardown" else ()
        item.stash[CARRIED] = results or seen
        if outcomes and list(map(id, results)) != list(map(id, seen)):
            report.modelreg = [carry(outcome.result, outcome.observation) for outcome in outcomes.values()]
            for name, outcome in outcomes.items():
                properties += junit_properties(outcome.result, environment=_digest(outcome), check=name)
        elif not outcomes and not seen and not report.passed and BLANK in item.stash:
            result = _explain_absence(item.stash[BLANK], report, call)
            item.stash[CARRIED] = (result,)
            report.modelreg = [carry(result, None)]
            properties += junit_properties(result, environment="")
        if call.when == "setup" and BLANK in item.stash:
            report.modelreg_test = item.stash[BLANK].variant  # should its worker die, the controller knows
        if properties:
            _set_properties(item, report, properties)
        return report


def carry(result: CaseResult, observation: Observation | None) -> dict[str, Any]:
    """Return a case as builtin values, which xdist can send."""
    return {
        "record": case_record(result),
        "notes": list(result.notes),
        "command": result.command,
        "environment": None if observation is None else fingerprint_record(observation.fingerprint),
    }


def _explain_absence(blank: CaseResult, report: pytest.TestReport, call: pytest.CallInfo[None]) -> CaseResult:
    """Return the record of a case that was skipped, or that failed before anything was observed."""
    if report.skipped:
        # pytest keeps the reason as the last of (file, line, reason); an expected failure has its own.
        longrepr = report.longrepr[2] if isinstance(report.longrepr, tuple) else "expected to fail"
        reason = str(getattr(report, "wasxfail", "") or longrepr).removeprefix("Skipped: ")
        return replace(blank, verdict=Verdict.SKIPPED, message=f"skipped: {_first_line(reason)}")
    cause = "" if call.excinfo is None else _first_line(call.excinfo.exconly())
    phases = {"setup": "its setup failed", "teardown": "its teardown failed"}
    ended = phases.get(call.when, "it ended before anything was observed")
    return replace(blank, verdict=Verdict.ERROR, message=f"{ended}: {cause}")


def _set_properties(
    item: pytest.Item, report: pytest.TestReport, properties: list[tuple[str, object]]
) -> None:
    """Put properties on the item too: JUnit takes those of the last report of a test, its teardown's.

    What an earlier run of the same item left there (a rerun) is void.
    """
    others = [found for found in item.user_properties if not found[0].startswith(PROPERTY_PREFIX)]
    item.user_properties[:] = [*others, *properties]
    report.user_properties = list(item.user_properties)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _digest(outcome: Outcome) -> str:
    return "" if outcome.observation is None else outcome.observation.fingerprint.digest
