"""A case that was judged again, in one line: what it was, what it is, and by which number.

What belongs here: the words for ``modelreg rejudge``. The numbers are the result's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.result import CaseResult, CheckResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report.document import RunFacts, case_record, report_document
from pytest_modelreg.report.environment import fingerprint_record
from pytest_modelreg.report.table import printable


def render_rejudged(before: Verdict, result: CaseResult) -> str:
    """Return ``toy[v2]: drift -> match: logits rel_l2 0.0121 <= 0.05 (limit from --checks.rel_l2)``."""
    return printable(f"{result.id}: {before.value} -> {result.verdict.value}: {describe_decision(result)}")


def rejudged_document(
    results: Iterable[CaseResult],
    report: Mapping[str, Any],
    *,
    run_id: str,
    fingerprint: Fingerprint | None,
    is_partial: bool,
) -> dict[str, Any]:
    """Return the report of a run with these verdicts in the place of its own.

    Parameters
    ----------
    report : mapping
        The run's own report, for what is true of the run as a whole; empty where there is none.
    run_id : str
        The run's id, where its report does not have it.
    fingerprint : Fingerprint or None
        The environment that observed, where the report does not have it.
    is_partial : bool
        Whether cases of the run were left out.
    """
    observed = {} if fingerprint is None else fingerprint_record(fingerprint)
    facts = RunFacts(
        id=run_id, started="", duration_s=0.0, git_commit=None, git_dirty=None, partial=is_partial
    )
    document = report_document(facts, observed, map(case_record, results))
    run, environment = report.get("run"), report.get("environment")
    if isinstance(run, dict):
        document["run"] |= {**run, "partial": is_partial or run.get("partial") is True}
    if isinstance(environment, dict):
        document["environment"] = environment
    return document


def describe_decision(result: CaseResult) -> str:
    """Return the value and the limit that decide: of a drift what is furthest beyond, else what is nearest.

    Where no check failed (another shape, another sample set) it is the case's own message.
    """
    failed = [check for check in result.checks if not check.ok]
    if result.verdict is Verdict.MATCH and result.checks:
        nearest = max(result.checks, key=measure_use)
        among = f", of {len(result.checks)} checks the nearest to its limit" if len(result.checks) > 1 else ""
        return f"{_compare(nearest)}{among}"
    if not failed:
        return result.message
    worst = max(failed, key=measure_use)
    more = f", and {_count(len(failed) - 1, 'more check')} beyond" if len(failed) > 1 else ""
    drifted = f" in {len(result.drifted_samples)} of {_count(result.n_samples, 'sample')}"
    return f"{_compare(worst)}{drifted if result.drifted_samples else ''}{more}"


def measure_use(check: CheckResult) -> float:
    """Return how much of what a limit allows is used, dimensionless: beyond 1 for a check that failed.

    Notes
    -----
    For an upper limit value / limit. For a lower limit of at most 1 (a share, a cosine) what is missing to
    1 on either side, ``(1 - value) / (1 - limit)``; for any other limit / value. NaN uses all there is.
    """
    value, limit = check.value, check.limit
    if math.isnan(value):
        return math.inf
    if check.direction == "max":
        used, allowed = value, limit
    elif value <= 1 and limit <= 1:
        used, allowed = 1 - value, 1 - limit
    else:
        used, allowed = limit, value
    if used <= 0:
        return 0.0
    return used / allowed if allowed > 0 else math.inf


def _compare(check: CheckResult) -> str:
    relation = {("max", True): "<=", ("max", False): ">", ("min", True): ">=", ("min", False): "<"}
    name = check.name if check.tag is None else f"{check.name}[{check.tag}]"
    value, limit = f"{check.value:.3g}", f"{check.limit:g}"
    if value == limit and check.value != check.limit:
        value = repr(float(check.value))  # rounded, it would stand beside its own limit
    sign = relation[check.direction, check.ok]
    return f"{check.output} {name} {value} {sign} {limit} (limit from {check.source})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
