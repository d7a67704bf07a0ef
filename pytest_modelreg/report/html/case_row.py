"""One case in the table that the page opens with, and how bad it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.verdict import WORST_FIRST, Verdict
from pytest_modelreg.report.html.detail import Detail
from pytest_modelreg.report.html.plots import write_number
from pytest_modelreg.report.html.sample_view import cut
from pytest_modelreg.report.strict_json import read_number

_ALARMING = frozenset(WORST_FIRST[:4])
"""Verdicts that somebody has to look at."""

Record = Mapping[str, Any]
"""One case of the JSON report."""


@dataclass(frozen=True, kw_only=True)
class CaseRow:
    """One case in the table that the page opens with.

    Parameters
    ----------
    lead : str
        The cause in a sentence, else what the run said.
    has_entry : bool
        Whether there is more of it below.
    """

    number: int
    id: str
    verdict: str
    is_expected: bool
    cause: str
    lead: str
    error: str
    drifted: str
    has_entry: bool


def rank_case(record: Record, expected: frozenset[str]) -> tuple[bool, int, float]:
    """Return the key by which cases are sorted, the worst first; what is expected to fail behind."""
    return record["id"] in expected, WORST_FIRST.index(Verdict(record["verdict"])), -_largest(record)


def is_alarming(record: Record) -> bool:
    """Whether somebody has to look at the case."""
    return Verdict(record["verdict"]) in _ALARMING


def view_row(record: Record, number: int, detail: Detail, *, is_expected: bool, has_entry: bool) -> CaseRow:
    """Return a case's line of the table."""
    causes = record["causes"]
    lead = str(causes[0]["summary"]) if causes else str(record["message"]).partition("\n")[0]
    n_drifted, largest = len(record["drifted_samples"]), _largest(record)
    return CaseRow(
        number=number,
        id=cut(str(record["id"]), detail.characters),
        verdict=Verdict(record["verdict"]).value,
        is_expected=is_expected,
        cause=str(causes[0]["cause"]) if causes else "",
        lead=cut(lead, detail.characters),
        error="" if largest < 0 else write_number(largest),
        drifted=f"{n_drifted} of {record['n_samples']}" if record["outputs"] or n_drifted else "",
        has_entry=has_entry,
    )


def _largest(record: Record) -> float:
    """Return the largest rel_l2 over outputs, infinite for what is no number; -1 without outputs."""
    values = [read_number(output, "rel_l2") for output in record["outputs"].values()]
    return max((math.inf if math.isnan(value) else value for value in values), default=-1.0)
