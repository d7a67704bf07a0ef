"""A case in words for a terminal: the cause first, then the evidence, then what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pytest_modelreg.domain.result import CaseResult, CheckResult, OutputMeasures
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report.explanation import render_values
from pytest_modelreg.report.table import printable, render_table

MAX_CAUSES = 3
MAX_SAMPLES = 10
MAX_DETAILS = 60
MAX_ELEMENTS = 8
MAX_STRUCTURE = 20
MAX_ENVIRONMENT = 12


def render_case(result: CaseResult, *, verbose: bool = False) -> str:
    """Return the text that a case is reported with, below a heading that names it.

    Parameters
    ----------
    verbose : bool
        List every sample and environment change instead of the first few.
    """
    lines = [f"{result.verdict.value}: {result.message}"]
    lines += _details(result, verbose=verbose)
    lines += _causes(result, verbose=verbose)
    lines += [_indent(note) for note in result.notes]
    lines += _environment(result, verbose=verbose)
    lines += _structure(result)
    lines += _samples(result, verbose=verbose)
    for path, measures in result.outputs.items():
        checks = [check for check in result.checks if check.output == path]
        if result.verdict is not Verdict.MATCH and (
            measures.n_one_sided or any(not check.ok for check in checks)
        ):
            lines += _output(path, measures, checks, verbose=verbose)
    lines += _command(result)
    return "\n".join(printable(line) for line in lines)


def _details(result: CaseResult, *, verbose: bool) -> list[str]:
    lines = result.details.splitlines()
    shown = lines if verbose else lines[:MAX_DETAILS]
    return [_indent(line) for line in shown] + _rest(
        len(lines) - len(shown), "more line(s); -v shows them", 2
    )


def _causes(result: CaseResult, *, verbose: bool) -> list[str]:
    shown = result.causes if verbose else result.causes[:MAX_CAUSES]
    lines = []
    for finding in shown:
        lines.append(_indent(f"cause: {finding.cause.value}: {finding.summary}"))
        if verbose and finding.evidence:
            lines += [_indent(line, 4) for line in render_values(finding.evidence)]
    hidden = len(result.causes) - len(shown)
    return lines + _rest(hidden, "less likely cause(s); -v or `modelreg explain` lists them", 2)


def _environment(result: CaseResult, *, verbose: bool) -> list[str]:
    changes = result.environment_changes
    if not changes or result.verdict is Verdict.MATCH:
        return []
    shown = changes if verbose else changes[:MAX_ENVIRONMENT]
    rows = [[change.key, _fact(change.expected), _fact(change.actual)] for change in shown]
    lines = [_indent("the environment differs from the golden's:")]
    lines += render_table(["fact", "expected", "actual"], rows, indent=4)
    return lines + _rest(len(changes) - len(shown), "more fact(s); -v lists them")


def _structure(result: CaseResult) -> list[str]:
    if not result.structure:
        return []
    shown = result.structure[:MAX_STRUCTURE]
    lines = ["", _indent("structure:")] + [_indent(str(finding), 4) for finding in shown]
    return lines + _rest(len(result.structure) - len(shown), "structural difference(s)")


def _output(path: str, measures: OutputMeasures, checks: list[CheckResult], *, verbose: bool) -> list[str]:
    total, bad = measures.n_total, measures.n_mismatched
    share = f"{bad} / {total} ({100 * bad / total:.1f} %)" if total else "0 of 0"
    shape = ", ".join("ragged" if axis < 0 else str(axis) for axis in measures.shape)
    relative = "not defined (no expected value is finite and not zero)"
    if measures.max_rel is not None:
        relative = _number(measures.max_rel)
    lines = [
        "",
        _indent(
            f"output {path}: {measures.dtype} ({shape}), {share} elements beyond their share of the limit"
        ),
        _indent(
            f"error: max {_number(measures.max_abs)}, mean {_number(measures.mean_abs)}, "
            f"rms {_number(measures.rms_abs)}, largest relative {relative}",
            4,
        ),
    ]
    if measures.n_one_sided:
        lines.append(
            _indent(
                f"not finite on one side only: {measures.n_one_sided} element(s) "
                f"(NaN: expected {measures.nan_expected}, got {measures.nan_actual}; "
                f"infinite: expected {measures.inf_expected}, got {measures.inf_actual})",
                4,
            )
        )
    rows = [
        [
            "ok" if check.ok else "FAIL",
            check.name + (f" [{check.tag}]" if check.tag else ""),
            _number(check.value),
            ("at most " if check.direction == "max" else "at least ") + _number(check.limit),
            check.source,
        ]
        for check in sorted(checks, key=lambda check: check.ok)
    ]
    lines += render_table(["", "check", "value", "limit", "limit from"], rows, indent=4)
    return lines + _elements(measures, verbose=verbose)


def _elements(measures: OutputMeasures, *, verbose: bool) -> list[str]:
    if not measures.worst:
        return []
    rows = [
        [
            element.sample,
            "[" + ", ".join(map(str, element.index)) + "]",
            _value(element.expected),
            _value(element.actual),
        ]
        for element in (measures.worst if verbose else measures.worst[:MAX_ELEMENTS])
    ]
    hidden = measures.n_mismatched - len(rows)
    title = f"the {len(rows)} worst elements" if hidden > 0 else "elements"
    lines = [
        _indent(f"{title}:", 4),
        *render_table(["sample", "index", "expected", "actual"], rows, indent=4),
    ]
    return lines + _rest(hidden, "more element(s) beyond their share, not listed", indent=4)


def _samples(result: CaseResult, *, verbose: bool) -> list[str]:
    bad = [sample for sample in result.samples if not sample.ok]
    if not bad or result.verdict is Verdict.MATCH:
        return []
    shown = bad if verbose else bad[:MAX_SAMPLES]
    rows = [
        [sample.id, _number(sample.rel_l2), sample.expected, sample.actual, sample.note] for sample in shown
    ]
    lines = ["", _indent(f"{len(bad)} of {result.n_samples} samples drift, worst first:")]
    lines += render_table(["sample", "rel_l2", "expected", "actual", ""], rows, indent=4, is_last_whole=True)
    return lines + _rest(
        len(bad) - len(shown), "more sample(s); -v lists them, the JSON report has all ids", 4
    )


def _command(result: CaseResult) -> list[str]:
    if not result.command:
        return []
    if result.verdict is Verdict.MISSING:
        return ["", _indent(f"to record it: {result.command}")]
    lead = "if this difference is intended" if result.advice else "if this change is intended"
    lines = [f"{lead}, {result.advice}:", result.command] if result.advice else [f"{lead}: {result.command}"]
    return ["", *map(_indent, lines)]


def _rest(hidden: int, what: str, indent: int = 4) -> list[str]:
    return [_indent(f"... {hidden} {what}", indent)] if hidden > 0 else []


def _indent(line: str, width: int = 2) -> str:
    return " " * width + line if line else ""


def _fact(value: object) -> str:
    return "none" if value is None else str(value)


def _number(value: float) -> str:
    """Return a number short enough for a table: counts whole, the rest to three digits."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.3g}"


def _value(value: object) -> str:
    """Return an element's value with enough digits to see a difference in the last ones."""
    if isinstance(value, float):
        return f"{value:.9g}"
    return str(value)


def summary_counts(verdicts: Iterable[Verdict]) -> str:
    """Return ``3 match, 1 drift`` in the order of the vocabulary, without zeros."""
    seen = list(verdicts)
    return ", ".join(f"{seen.count(verdict)} {verdict.value}" for verdict in Verdict if verdict in seen)
