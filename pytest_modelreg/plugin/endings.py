"""How tests ended, against what they recorded: swallowed drifts, reruns, lost tests.

What belongs here: what only a test's reports and its records tell together. A record is in
the report whatever its test does; that a test makes light of it is a problem of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.plugin.carrying import carry
from pytest_modelreg.plugin.values import NOT_RECORDED, blank_record

LOST = (
    "the process that ran it ended without an answer (a crash in native code, an exit, or out of memory); "
    "run it alone, without -n, to see its last words"
)


@dataclass
class Ending:
    """How the last run of a test ended, by node id.

    Parameters
    ----------
    is_told : bool
        Whether pytest shows that the test did not pass: a phase failed, or it was expected to.
    was_expected : bool
        Whether it failed as its ``xfail`` said.
    """

    is_told: bool = False
    was_skipped: bool = False
    was_expected: bool = False


@dataclass
class Endings:
    """Follows the reports of all tests in the main process."""

    _endings: dict[str, Ending] = field(default_factory=dict)
    _before_rerun: dict[str, str] = field(default_factory=dict)
    _lost: list[str] = field(default_factory=list)

    def note(self, report: pytest.TestReport, carried: Iterable[Mapping[str, Any]]) -> None:
        """Take a report over, with the records that its test has so far."""
        if report.when == "setup":
            self._endings[report.nodeid] = Ending()
        ending = self._endings.setdefault(report.nodeid, Ending())
        ending.was_expected |= report.skipped and hasattr(report, "wasxfail")
        ending.is_told |= report.failed or ending.was_expected
        ending.was_skipped |= report.skipped
        if str(report.outcome) == "rerun":  # of pytest-rerunfailures
            for found in carried:
                record = found["record"]
                if record["verdict"] in (Verdict.DRIFT.value, Verdict.STALE.value):
                    self._before_rerun[record["id"]] = record["verdict"]

    def note_lost(self, nodeid: str) -> None:
        """Note a test that was running when its worker died."""
        self._lost.append(nodeid)

    def list_lost(self, asking: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """Return a record by node id for the lost ones among the tests that ask for the fixture.

        Parameters
        ----------
        asking : mapping of str to str
            Their ids in reports, by node id.
        """
        found = {}
        for nodeid in self._lost:
            for asked, test_id in asking.items():
                if nodeid == asked or nodeid.startswith(f"{asked}@"):  # xdist appends the group
                    found[nodeid] = carry(replace(blank_record(test_id), message=LOST), None)
        return found

    def list_expected(self, carried: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[str]:
        """Return the ids of cases that do not pass in tests that were expected to fail."""
        return [
            entry["record"]["id"]
            for nodeid, found in carried.items()
            if nodeid in self._endings and self._endings[nodeid].was_expected
            for entry in found
            if not Verdict(entry["record"]["verdict"]).passes
        ]

    def list_swallowed(self, carried: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[str]:
        """Return a problem for every record that does not pass although its test does."""
        problems = []
        for nodeid, found in carried.items():
            ending = self._endings.get(nodeid)
            if ending is None or ending.is_told:
                continue
            for record in (entry["record"] for entry in found):
                verdict = Verdict(record["verdict"])
                if verdict.passes or verdict is Verdict.SKIPPED:
                    continue
                if NOT_RECORDED in record["message"]:
                    problems.append(
                        f"{record['id']} was not recorded: its test was skipped after the check; "
                        "skip before it"
                    )
                    continue
                how = "was skipped" if ending.was_skipped else "passed"
                problems.append(
                    f"{verdict.value} of {record['id']} was swallowed by its test, which {how}: "
                    "let what modelreg.check raises through"
                )
        return problems

    def describe_rerun(self, record: Mapping[str, Any]) -> str | None:
        """Return a note on a case that passed, but only when it was run again."""
        before = self._before_rerun.get(record["id"])
        if before is None or record["verdict"] != Verdict.MATCH.value:
            return None
        return f"it was {before} before a rerun matched: what it computes is not the same each time"
