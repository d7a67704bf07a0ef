"""Checks applied to what was measured: a value against a limit, and the rows that failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.result import CheckResult
from pytest_modelreg.judge.applied import AppliedCheck
from pytest_modelreg.judge.checks import Check, Measured

MaskArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

ROUNDING = 1e-12
"""Room for the rounding of a mean of fractions, dimensionless."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """One applied check.

    Parameters
    ----------
    result : CheckResult
        Value, limit and whether it holds.
    summary : str
        How the rows' values became the output's, see ``Check``; ``function`` for a check of the
        suite's own, which knows no rows.
    failed : ndarray of bool, axes (pair,)
        Rows because of which it failed; all False where it holds.
    values : ndarray of float64, axes (pair,)
        The check's value of every row.
    """

    result: CheckResult
    summary: str
    failed: MaskArray
    values: FloatArray


def evaluate_check(
    applied: AppliedCheck, measured: Measured, *, path: str, tagged: Mapping[str, MaskArray]
) -> list[Evaluation]:
    """Evaluate a check over all rows, and over the rows of every tag that has a limit.

    Parameters
    ----------
    path : str
        Output path, for the results.
    tagged : mapping of str to ndarray of bool, axes (pair,)
        Rows by tag. A tag without a compared row yields nothing: its samples are not in the golden.

    Raises
    ------
    JudgeError
        If no row of a scope allows a decision, or no row of a tag holds a number to compare.
    """
    values = applied.check.measure(measured)
    scopes: list[tuple[str | None, float, MaskArray]] = []
    if applied.value is not None:
        scopes.append((None, applied.value, np.ones(len(values), dtype=np.bool_)))
    scopes += [(tag, limit, tagged[tag]) for tag, limit in applied.tags.items() if tagged[tag].any()]
    evaluate = _evaluate_set if applied.check.summary == "mean" else _evaluate_rows
    evaluations = []
    for tag, limit, scope in scopes:
        if tag is not None and is_all_non_finite(measured, scope):
            raise JudgeError(
                f"{path}: {applied.check.name}: tags: expected a finite number in the samples with tag "
                f"{tag!r}, got NaN or infinity on both sides in every element, so that nothing was compared; "
                "leave the tag out of the limit, or find out why the golden is not finite"
            )
        value, is_ok, failed = evaluate(applied.check, values, limit, scope, measured, path)
        result = CheckResult(
            name=applied.check.name,
            output=path,
            tag=tag,
            value=value,
            limit=limit,
            direction=applied.check.direction,
            ok=is_ok,
            source=applied.source,
        )
        evaluations.append(
            Evaluation(result=result, summary=applied.check.summary, failed=failed, values=values)
        )
    return evaluations


def is_all_non_finite(measured: Measured, scope: MaskArray) -> bool:
    """Whether the rows have elements, and all are NaN or infinite on both sides alike."""
    rows = measured.rows
    n_elements, n_excluded = int(rows.n_elements[scope].sum()), int(rows.n_excluded[scope].sum())
    return 0 < n_elements == n_excluded and not rows.n_one_sided[scope].any()


def _evaluate_rows(
    check: Check, values: FloatArray, limit: float, scope: MaskArray, measured: Measured, path: str
) -> tuple[float, bool, MaskArray]:
    """Hold every row against the limit; NaN never passes."""
    within = values <= limit if check.direction == "max" else values >= limit
    failed = scope & ~within
    chosen = values[scope]
    if check.summary == "total":
        value = float(chosen.sum())
    elif check.direction == "max":
        value = float(chosen.max(initial=check.at_best))
    else:
        value = float(chosen.min(initial=check.at_best))
    return value, not failed.any(), failed


def _evaluate_set(
    check: Check, values: FloatArray, limit: float, scope: MaskArray, measured: Measured, path: str
) -> tuple[float, bool, MaskArray]:
    """Hold the mean over decided rows against the limit; the rows that move it there are to blame."""
    decided = scope & ~np.isnan(values)
    if not decided.any():
        one_sided = scope & (measured.rows.n_one_sided > 0)
        if not one_sided.any():
            raise JudgeError(f"{path}: {check.name}: {_describe_undecided(check, measured, scope)}")
        return float("nan"), False, one_sided
    value = float(values[decided].mean())
    if check.direction == "max":
        is_ok, moving = value <= limit + ROUNDING, values > check.at_best
    else:
        is_ok, moving = value >= limit - ROUNDING, values < check.at_best
    return value, is_ok, np.zeros_like(scope) if is_ok else decided & moving


def _describe_undecided(check: Check, measured: Measured, scope: MaskArray) -> str:
    if measured.labels is not None and not (measured.labels[scope] >= 0).any():
        return (
            "expected a label of at least one sample that it looks at, got none; add labels to samples.csv, "
            f"or write `{check.name}: off`"
        )
    what = "vectors with neighbours" if check.reads == "neighbours" else "scores to decide on"
    return (
        f"expected {what}, got NaN in every compared row of both sides; "
        f"write `{check.name}: off` for it, or find out why the golden is NaN"
    )
