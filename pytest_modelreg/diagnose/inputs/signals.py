"""Signals: another sample rate, moved in time, cut, padded, clipped, or mixed to one channel.

What belongs here: holding signals against each other by the hypotheses of ``signal_change``. Gain, offset
and sign are lines, which ``rearrangement`` finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.pair import NumberPair, measure_distance
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.diagnose.inputs.signal_change import HYPOTHESES

SHORTEST = 64
_NEAR = 0.02


def is_signal(pairs: Sequence[NumberPair]) -> bool:
    """Whether all arrays are long in their last axis and have no other, or few channels."""
    return all(
        side.ndim in (1, 2) and side.shape[-1] >= SHORTEST and (side.ndim == 1 or side.shape[0] <= 8)
        for pair in pairs
        for side in pair
    )


def replay_signals(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return which change of time or channels turns the golden's signals into today's, None for none."""
    if not is_signal(pairs):
        return None
    best: Replay | None = None
    is_longer = any(expected.shape != actual.shape for expected, actual in pairs)
    before = 1.0 if is_longer else measure_distance(pairs)
    for name, find, limit in HYPOTHESES:
        matches = [find(np.asarray(e, np.float64), np.asarray(a, np.float64)) for e, a in pairs]
        if any(match is None for match in matches):
            continue
        found = [match for match in matches if match is not None]
        left = measure_distance((match.expected, match.actual) for match in found)
        if left > limit or left > 0.5 * before or (best is not None and left > 0.5 * best.left):
            continue
        words = list(dict.fromkeys(match.what for match in found))
        what = words[0] if len(words) == 1 else f"{words[0]}, and others like it"
        constants = {key: [match.constants[key] for match in found] for key in found[0].constants}
        finding = make_finding(
            group,
            found[0].cause,
            f"today's signals are {what}: replayed on {describe_scope(group)}, "
            f"the two sides agree {describe_residual(left)}",
            Residuals(before=before, after=left),
            hypothesis=name,
            expected="as in the golden",
            actual=what,
            confidence=None if left < _NEAR else 0.6,
            constants=constants,
        )
        best = Replay(findings=(finding,), left=left, pairs=tuple((m.expected, m.actual) for m in found))
    return best
