"""Inputs whose values are the golden's but for one thing that is done to each: clipped, rounded, narrowed.

What belongs here: hypotheses about single values, wherever they are. To add one, add a function to
``_HYPOTHESES`` that returns what actual would be, and words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.pair import NumberPair, measure_distance
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.domain.cause import Cause

Values = NDArray[np.float64]
Outcome = tuple[Values, str, dict[str, object]]

_MOST_STEPS = 4096
_COARSER = 1.5
_LEAST_EXPLAINED = 0.9
_MOST_AT_LIMIT = 0.95


def replay_values(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return which operation on each value turns expected into actual, None for none.

    Only what explains at least 90 % is taken: rounding explains any small difference in part.
    """
    if any(expected.shape != actual.shape for expected, actual in pairs) or not pairs:
        return None
    expected = np.concatenate([np.asarray(each, np.float64).ravel() for each, _ in pairs])
    actual = np.concatenate([np.asarray(each, np.float64).ravel() for _, each in pairs])
    before = measure_distance([(expected, actual)])
    rated = []
    for order, make in enumerate(_HYPOTHESES):
        outcome = make(expected, actual)
        if outcome is not None:
            rated.append((measure_distance([(outcome[0], actual)]), order, outcome))
    if not rated:
        return None
    after, _, (made, what, constants) = min(rated, key=lambda each: each[:2])
    residuals = Residuals(before=before, after=after)
    if residuals.explained < _LEAST_EXPLAINED:
        return None
    finding = make_finding(
        group,
        Cause.PREPROCESS_VALUE_RANGE,
        f"today's inputs are the golden's {what}: doing that to the golden's, on {describe_scope(group)}, "
        f"gives today's {describe_residual(after)}",
        residuals,
        hypothesis="values",
        expected="as in the golden",
        actual=what,
        constants=constants,
    )
    return Replay(findings=(finding,), left=after, pairs=((made, actual),))


def _clip(expected: Values, actual: Values) -> Outcome | None:
    low, high = float(actual.min()), float(actual.max())
    beyond = (expected < low) | (expected > high)
    if not np.any(beyond) or float(np.mean(beyond)) > _MOST_AT_LIMIT:
        return None
    limits = [
        f"{word} {limit:.6g}"
        for word, limit, cut in (
            ("below", low, bool(np.any(expected < low))),
            ("above", high, bool(np.any(expected > high))),
        )
        if cut
    ]
    return np.clip(expected, low, high), f"clipped {' and '.join(limits)}", {"low": low, "high": high}


def _round(expected: Values, actual: Values) -> Outcome | None:
    step = _find_coarser_step(expected, actual)
    if step is None:
        return None
    start = float(actual.min())
    made = start + np.round((expected - start) / step) * step
    return made, f"rounded to steps of {step:.6g}", {"step": step}


def _floor(expected: Values, actual: Values) -> Outcome | None:
    step = _find_coarser_step(expected, actual)
    if step is None:
        return None
    start = float(actual.min())
    made = start + np.floor((expected - start) / step + 1e-6) * step
    return made, f"cut off to steps of {step:.6g}", {"step": step}


def _truncate(expected: Values, actual: Values) -> Outcome | None:
    if np.any(actual != np.round(actual)) or not np.any(expected != np.round(expected)):
        return None
    return np.trunc(expected), "cut off to whole numbers", {"step": 1.0}


def _halve_precision(expected: Values, actual: Values) -> Outcome | None:
    with np.errstate(over="ignore"):
        made = expected.astype(np.float16).astype(np.float64)
    return (made, "rounded to float16", {"dtype": "float16"}) if np.isfinite(made).all() else None


def _round_to_bfloat16(expected: Values, actual: Values) -> Outcome | None:
    with np.errstate(over="ignore"):
        bits = expected.astype(np.float32).view(np.uint32).astype(np.uint64)
    # To the nearest, ties to even, as every framework does.
    kept = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32)
    made = kept.view(np.float32).astype(np.float64)
    return (made, "rounded to bfloat16", {"dtype": "bfloat16"}) if np.isfinite(made).all() else None


def _wrap(expected: Values, actual: Values) -> Outcome | None:
    if float(actual.min()) < 0 or float(actual.max()) > 255 or np.any(actual != np.round(actual)):
        return None
    return np.mod(np.trunc(expected), 256.0), "as uint8, what lies outside of 0 to 255 wrapped around", {}


def _find_coarser_step(expected: Values, actual: Values) -> float | None:
    """Return the step of actual's grid, None where expected's is no finer."""
    step, finer = _find_step(actual), _find_step(expected)
    return step if step is not None and (finer is None or step > _COARSER * finer) else None


def _find_step(values: Values) -> float | None:
    """Return the distance of the grid that values lie on, None where they are on none."""
    levels = np.unique(np.round(values[:: max(1, values.size // 20000)], 7))
    if not 2 < levels.size <= _MOST_STEPS:
        return None
    step = float(np.diff(levels).min())
    if step <= 1e-6:
        return None
    off = np.abs((levels - levels[0]) / step - np.round((levels - levels[0]) / step))
    return step if float(off.max()) < 1e-2 else None


_HYPOTHESES: tuple[Callable[[Values, Values], Outcome | None], ...] = (
    _halve_precision,
    _round_to_bfloat16,
    _clip,
    _round,
    _floor,
    _truncate,
    _wrap,
)
