"""The first module at which two runs part, from what both kept of every module's answers.

What belongs here: comparing two tables of sketches of the same samples on the same inputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.port import TraceAt
from pytest_modelreg.diagnose.wording import number
from pytest_modelreg.store import read_trace
from pytest_modelreg.trace import estimate_rel_l2, is_known

NOISE = 1e-5
"""Relative error of an activation up to which it is what another kernel gives."""

_JUMP = 5.0
_FUSED_CALLS = 3


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """Where two runs part.

    Parameters
    ----------
    module : str
        The first call that diverges: a module's path.
    before, after : float
        Estimated relative error of the worst call until then, and of this one.
    n_same : int
        Calls before it that agree.
    n_calls : int
        Calls that both runs made.
    """

    module: str
    before: float
    after: float
    n_same: int
    n_calls: int


def find_divergence(then: TraceAt, now: TraceAt, *, may_be_fused: bool = False) -> Divergence | None:
    """Return the first module that answers otherwise; None where none does, or nothing can be compared.

    Parameters
    ----------
    may_be_fused : bool
        Whether what a module returns may be what one that follows it returned then: an exporter folds a
        normalisation into the convolution before it.
    """
    errors = compare_calls(then, now, may_be_fused=may_be_fused)
    before = 0.0
    for position, (call, error) in enumerate(errors):
        if error > NOISE and error > _JUMP * before:
            return Divergence(module=call, before=before, after=error, n_same=position, n_calls=len(errors))
        before = max(before, error)
    return None


def list_evidence(divergence: Divergence) -> dict[str, Any]:
    """Return where two runs part as builtin scalars."""
    return {
        "first_module": divergence.module,
        "rel_l2_before": divergence.before,
        "rel_l2_after": divergence.after,
        "n_modules_before": divergence.n_same,
        "n_modules": divergence.n_calls,
    }


def tell_divergence(evidence: Mapping[str, Any]) -> str:
    """Return in words what :func:`list_evidence` returned."""
    return (
        f"the first module that answers otherwise is {evidence['first_module']} "
        f"({number(evidence['rel_l2_after'])} there, {number(evidence['rel_l2_before'])} before it)"
    )


def compare_calls(then: TraceAt, now: TraceAt, *, may_be_fused: bool = False) -> list[tuple[str, float]]:
    """Return every call of both runs with its estimated relative error, the largest over samples.

    In the order in which they returned in the golden. Where the two made different calls, those are
    paired by name.
    """
    first, second = then.trace.activations, now.trace.activations
    if first is None or second is None or first.n_columns != second.n_columns:
        return []
    samples = [name for name in first.samples if name in second.samples]
    expected, actual = _read(then), _read(now)
    rows = [first.samples.index(name) for name in samples], [second.samples.index(name) for name in samples]
    place = {call: position for position, call in enumerate(second.calls)}
    found = []
    for position, call in enumerate(first.calls):
        if call not in place:
            continue
        actuals = [actual[other, place[call]] for other in rows[1]]
        error = _largest([expected[one, position] for one in rows[0]], actuals)
        if error is not None and error > NOISE and may_be_fused:
            later = range(position + 1, min(position + 1 + _FUSED_CALLS, len(first.calls)))
            others = (_largest([expected[one, other] for one in rows[0]], actuals) for other in later)
            error = min((other for other in others if other is not None and other <= NOISE), default=error)
        if error is not None:
            found.append((call, error))
    return found


def _largest(expected: list[NDArray[np.float64]], actual: list[NDArray[np.float64]]) -> float | None:
    """Return the largest distance over samples; None where nothing is known of any."""
    errors = [_distance(one, other) for one, other in zip(expected, actual, strict=True)]
    return max((error for error in errors if error is not None), default=None)


def _distance(expected: NDArray[np.float64], actual: NDArray[np.float64]) -> float | None:
    if not (is_known(expected) and is_known(actual)):
        return None
    error = estimate_rel_l2(expected, actual)
    return 0.0 if error is None else min(error, math.inf)


def _read(at: TraceAt) -> NDArray[np.float64]:
    """Return a table with axes (sample, call, column)."""
    activations = at.trace.activations
    assert activations is not None
    shape = len(activations.samples), len(activations.calls), activations.n_columns
    return read_trace(at.folder, activations.file, (shape[0] * shape[1], shape[2])).reshape(shape)
