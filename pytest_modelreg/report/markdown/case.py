"""One case of a summary: its row in the table and its folded details, and how bad it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_modelreg.domain.verdict import WORST_FIRST, Verdict
from pytest_modelreg.report.markdown.text import code, code_block, html_code, prose, rest, table

MAX_SAMPLES = 10
MAX_LINES = 20
MAX_LINE_LENGTH = 500
MAX_CAUSES = 5
MAX_MESSAGE = 200

SEVERITY = WORST_FIRST[:5]
"""Verdicts that are listed, worst first."""

CASE_COLUMNS = ("case", "verdict", "what", "rel_l2", "worst sample", "expected → actual")

Record = Mapping[str, Any]
"""One case of the JSON report."""


def case_row(record: Record) -> list[str]:
    """Return the cells of :data:`CASE_COLUMNS`."""
    worst = next((sample for sample in record["samples"] if not sample["ok"]), None)
    largest = _largest(record)
    return [
        code(record["id"], in_table=True),
        record["verdict"],
        prose(_describe(record), limit=MAX_MESSAGE),
        "" if largest is None else _number(largest),
        "" if worst is None else code(worst["id"], in_table=True),
        "" if worst is None else _change(worst["expected"], worst["actual"]),
    ]


def render_details(record: Record, notes: Sequence[str]) -> list[str]:
    """Return a case folded: a reader opens what concerns them. Nothing where its row said all."""
    message = record["message"].splitlines()[:MAX_LINES]
    lines = []
    if len(message) > 1 or len(_describe(record)) > MAX_MESSAGE:
        lines = [*code_block([line[:MAX_LINE_LENGTH] for line in message]), ""]
    causes = record["causes"][:MAX_CAUSES]
    lines += [f"- cause: {code(cause['cause'])}: {prose(cause['summary'])}" for cause in causes]
    lines += [f"- note: {prose(note)}" for note in notes[:MAX_LINES]]
    lines += _failed_checks(record) + _drifted_samples(record)
    if not lines:
        return []
    head = f"<details><summary>{html_code(record['id'])}: {record['verdict']}</summary>"
    return [head, "", *lines, "", "</details>"]


def _describe(record: Record) -> str:
    """Return what became of a case; that it saw other inputs explains more than any number."""
    message: str = record["message"]
    return f"inputs differ; {message}" if record["inputs_identical"] is False else message


def _failed_checks(record: Record) -> list[str]:
    rows = [
        [
            code(check["output"], in_table=True),
            code(check["name"] + (f" [{check['tag']}]" if check["tag"] else ""), in_table=True),
            _number(_value(check, "value")),
            _number(_value(check, "limit")),
            prose(check["source"], limit=100),
        ]
        for check in record["checks"]
        if not check["ok"]
    ]
    if not rows:
        return []
    return [
        "",
        *table(["output", "check", "value", "limit", "limit from"], rows[:MAX_LINES]),
        *rest(len(rows) - MAX_LINES, "more check(s)"),
    ]


def _drifted_samples(record: Record) -> list[str]:
    bad = [sample for sample in record["samples"] if not sample["ok"]][:MAX_SAMPLES]
    if not bad:
        return []
    rows = [
        [
            code(sample["id"], in_table=True),
            _number(_value(sample, "rel_l2")),
            code(sample["expected"], in_table=True),
            code(sample["actual"], in_table=True),
        ]
        for sample in bad
    ]
    n_drifted = max(len(record["drifted_samples"]), len(bad))
    return [
        "",
        f"{n_drifted} of {record['n_samples']} samples drift, worst first:",
        "",
        *table(["sample", "rel_l2", "expected", "actual"], rows),
        *rest(n_drifted - len(bad), "more sample(s); the JSON report has all ids"),
    ]


def is_listed(record: Record) -> bool:
    """Whether a reader has to look at the case: a match is only counted, a recording listed apart."""
    return Verdict(record["verdict"]) in SEVERITY


def rank_badness(record: Record) -> tuple[int, float]:
    """Return the key by which listed cases are sorted, worst first."""
    largest = _largest(record)
    return SEVERITY.index(Verdict(record["verdict"])), -(largest if largest is not None else -1.0)


def _largest(record: Record) -> float | None:
    """Return the largest rel_l2 over a case's outputs; what is no number counts as infinite."""
    values = [_value(output, "rel_l2") for output in record["outputs"].values()]
    return max((math.inf if math.isnan(value) else value for value in values), default=None)


def _value(record: Record, key: str) -> float:
    """Return a number of a strict JSON record, non-finite ones from the reason beside them."""
    value = record[key]
    return float(record.get(f"{key}_reason", "nan") if value is None else value)


def _change(expected: str, actual: str) -> str:
    if not expected and not actual:
        return ""
    return f"{code(expected, in_table=True) or 'nothing'} → {code(actual, in_table=True) or 'nothing'}"


def _number(value: float) -> str:
    return f"{value:.3g}"
