"""Inputs that are the golden's moved by a few pixels, where of the golden's only points are known.

What belongs here: trying every small move, which is what points allow in place of a phase correlation.
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
from pytest_modelreg.diagnose.inputs.framing import describe_move
from pytest_modelreg.diagnose.inputs.known_points import KnownPoints
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, measure_distance
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.domain.cause import Cause

FARTHEST_PX = 4
_NEAR = 0.02
_MOST_LEFT = 0.2  # of the difference
_LEAST_OVERLAP = 0.75


def replay_moves(group: Group, pairs: Sequence[tuple[KnownPoints, Floats]]) -> Replay | None:
    """Return whether all samples are the golden's moved by the same few pixels; None if not."""
    if any(known.ndim - (known.axis is not None) != 2 or known.shape != a.shape for known, a in pairs):
        return None
    steps = range(-FARTHEST_PX, FARTHEST_PX + 1)
    found: dict[tuple[int, int], tuple[float, list[NumberPair]]] = {}
    for move in ((down, right) for down in steps for right in steps):
        overlaps = [_overlap(known, actual, move) for known, actual in pairs]
        n_common = sum(common.size for common, _ in overlaps)
        if n_common >= _LEAST_OVERLAP * sum(known.values.size for known, _ in pairs):
            found[move] = (measure_distance(overlaps), overlaps)
    if (0, 0) not in found:
        return None
    before = found.pop((0, 0))[0]
    (down, right), (left, overlaps) = min(found.items(), key=lambda each: each[1][0])
    others = min((each[0] for move, each in found.items() if move != (down, right)), default=float("inf"))
    if left > min(_NEAR, _MOST_LEFT * before):
        return None
    what = describe_move(down, right)
    finding = make_finding(
        group,
        Cause.PREPROCESS_GEOMETRY,
        f"today's inputs {what}: where the two overlap, at {describe_scope(group)}, "
        f"they agree {describe_residual(left)}",
        Residuals(before=before, after=left, runner_up=others),
        hypothesis="framing",
        expected="as in the golden",
        actual=what,
        constants={"down_px": down, "right_px": right},
    )
    return Replay(findings=(finding,), left=left, pairs=tuple(overlaps))


def _overlap(known: KnownPoints, actual: Floats, move: tuple[int, int]) -> NumberPair:
    """Return the golden's points that lie in both, and what lies there today."""
    rows, columns = (at + by for at, by in zip(known.list_coordinates(), move, strict=True))
    planes = actual[np.newaxis] if known.axis is None else np.moveaxis(actual, known.axis, 0)
    is_inside = (rows >= 0) & (rows < planes.shape[1]) & (columns >= 0) & (columns < planes.shape[2])
    return known.values[:, is_inside], planes[:, rows[is_inside], columns[is_inside]]
