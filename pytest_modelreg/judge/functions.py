"""Checks of the suite's own: a function of both sides' values that returns one number.

What belongs here: what such a function is handed, and what its number is held against. It knows no
rows, so no sample is blamed when one fails.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import Rows
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.result import CheckResult
from pytest_modelreg.domain.sample import Sample
from pytest_modelreg.judge.applied import AppliedFunction, OutputPlan
from pytest_modelreg.judge.checks import Measured
from pytest_modelreg.judge.evaluation import Evaluation, is_all_non_finite
from pytest_modelreg.judge.pairing import PairedOutput
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.store import open_output

Array = npt.NDArray[Any]
IndexArray = npt.NDArray[np.int64]
MaskArray = npt.NDArray[np.bool_]
Values = Array | list[Array]

CALL = "fn(expected, actual, samples)"


def evaluate_functions(
    request: JudgeRequest,
    paired: PairedOutput,
    plan: OutputPlan,
    measured: Measured,
    tagged: Mapping[str, MaskArray],
) -> list[Evaluation]:
    """Call every function once over all rows, and once over the rows of every tag that has a limit.

    Parameters
    ----------
    tagged : mapping of str to ndarray of bool, axes (pair,)
        Rows by tag. A tag without a compared row yields nothing: its samples are not in the golden.

    Raises
    ------
    JudgeError
        If a function raises, returns what is no number, or has nothing to compare.

    Notes
    -----
    Handed to it are read-only copies of both sides, axes (sample, ...), bfloat16 and float8 as float32,
    lists of arrays where rows differ in shape, and a tuple of :class:`Sample` in the same order. For
    ``max_change`` the value is |fn(expected, actual, samples) - fn(expected, expected, samples)|, which
    is 0 for equal bytes without calling anything.
    """
    everything = np.ones(len(paired.pairs), dtype=np.bool_)
    evaluations = []
    for applied in plan.functions:
        scopes: list[tuple[str | None, float, MaskArray]] = []
        if applied.value is not None:
            scopes.append((None, applied.value, everything))
        scopes += [(tag, limit, tagged[tag]) for tag, limit in applied.tags.items() if tagged[tag].any()]
        for tag, limit, scope in scopes:
            if tag is not None and is_all_non_finite(measured, scope):
                raise JudgeError(
                    f"{paired.path}: {applied.reference}: tags: expected a finite number in the samples with "
                    f"tag {tag!r}, got NaN or infinity on both sides in every element, so that nothing was "
                    "compared; leave the tag out of the limit, or find out why the golden is not finite"
                )
            value = _call_bound(request, paired, applied, scope)
            direction = "min" if applied.bound == "min" else "max"
            result = CheckResult(
                name=applied.reference,
                output=paired.path,
                tag=tag,
                value=value,
                limit=limit,
                direction=direction,
                # Of NaN, neither comparison holds.
                ok=value >= limit if direction == "min" else value <= limit,
                source=applied.source,
            )
            evaluations.append(
                Evaluation(
                    result=result,
                    summary="function",
                    failed=np.zeros_like(everything),
                    values=np.full(len(everything), value),
                )
            )
    return evaluations


def _call_bound(
    request: JudgeRequest, paired: PairedOutput, applied: AppliedFunction, scope: MaskArray
) -> float:
    if applied.bound == "max_change" and paired.stored is None:
        return 0.0
    rows = np.flatnonzero(scope)
    before, after = paired.stored or (
        open_output(request.golden_folder, paired.expected),
        open_output(request.observation_folder, paired.actual),
    )
    is_ragged = before.is_ragged or after.is_ragged
    expected = _copy_rows(before, paired.pairs.expected[rows], is_ragged=is_ragged)
    actual = _copy_rows(after, paired.pairs.actual[rows], is_ragged=is_ragged)
    samples = _find_samples(request, [paired.name_of(row) for row in rows.tolist()])
    value = _call(paired.path, applied, expected, actual, samples)
    if applied.bound == "max_change":
        # Infinity on both sides is no change that a number could tell: NaN, which never passes.
        value = abs(value - _call(paired.path, applied, expected, expected, samples))
    return value


def _copy_rows(stored: Rows, index: IndexArray, *, is_ragged: bool) -> Values:
    if is_ragged:
        return [_freeze(np.array(stored.row(row))) for row in index.tolist()]
    if not len(index):
        return _freeze(np.array(stored.rows(0, 0)))
    first = int(index[0])
    if np.array_equal(index, np.arange(first, first + len(index))):
        return _freeze(np.array(stored.rows(first, first + len(index))))
    return _freeze(np.concatenate([stored.rows(row, row + 1) for row in index.tolist()]))


def _freeze(values: Array) -> Array:
    # A metric that sorts in place would change what the next one sees.
    values.setflags(write=False)
    return values


def _find_samples(request: JudgeRequest, names: list[str]) -> tuple[Sample, ...]:
    known = {sample.id: sample for sample in request.samples.samples}
    digests = {sample.id: sample.sha256 for sample in request.observation.samples}
    return tuple(known.get(name) or Sample(id=name, file="", sha256=digests[name]) for name in names)


def _call(
    path: str, applied: AppliedFunction, expected: Values, actual: Values, samples: tuple[Sample, ...]
) -> float:
    where = f"{path}: {applied.reference}"
    try:
        returned = applied.function(expected, actual, samples)
    except (Exception, SystemExit) as error:
        raise JudgeError(f"{where}: called as {CALL}, it raised {type(error).__name__}: {error}") from error
    # A tensor or an array that holds one number is what metrics libraries return.
    number = returned.item() if getattr(returned, "ndim", None) == 0 else returned
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise JudgeError(
            f"{where}: expected a number from {CALL}, got {type(returned).__name__} {returned!r:.60}; "
            "return the value that max, min or max_change limits"
        )
    return float(number)
