"""Inputs that are the golden's in other places or on another scale: what arrays alone can tell.

What belongs here: trying arrangements, orders of channels and lines on the inputs themselves, without
the samples' files, and the findings of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_modelreg.diagnose.inputs.affine import Affine, Order
from pytest_modelreg.diagnose.inputs.alignment import Rearranged, rearrange
from pytest_modelreg.diagnose.inputs.arrangement import list_arrangements
from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.known_points import Expected, PointPair, join_points, lay_beside
from pytest_modelreg.diagnose.inputs.line_finding import blame_line, comes_with_order
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, measure_distance
from pytest_modelreg.diagnose.traits import UPRIGHT, read_orientations
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.trace import find_channel_axis

Undo = Callable[[PointPair, Floats], "Floats | None"]

_HALF = 0.5
_LEAST_EXPLAINED = 0.3
_COLOURS = "RGB"
_MOST_NAMED = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """What a family of hypotheses makes of a group.

    Parameters
    ----------
    findings : tuple of CauseFinding
        Best first.
    left : float
        rel_l2 that remains with everything undone.
    pairs : tuple
        Expected, and actual with everything undone.
    level : float or None
        One grey level in the inputs' unit, where that is known.
    undo : callable or None
        Takes a sample of whose golden's input points are known, and the numbers of this run's, and returns
        what the golden's would be; None where the explanation does not apply to it.
    is_estimate : bool
        Whether a little is left by the way in which it was replayed, also where nothing else changed.
    """

    findings: tuple[CauseFinding, ...]
    left: float
    pairs: tuple[NumberPair, ...]
    level: float | None = None
    undo: Undo | None = None
    is_estimate: bool = False


def replay_rearrangement(
    group: Group, pairs: Sequence[tuple[Expected, Floats]], *, is_picture: bool
) -> Replay:
    """Return what other places and another scale explain.

    Parameters
    ----------
    group : Group
        What the findings are about.
    pairs : sequence of (expected, actual)
        Of the samples that differ, finite.
    is_picture : bool
        Whether the numbers come from levels of 0 to 255.
    """
    best = rearrange(pairs)
    before = _measure_or_one(pairs)
    if best is None or best.left > 1.0 - _LEAST_EXPLAINED:
        return Replay(findings=(), left=before, pairs=())
    placed = [lay_beside(expected, _place(best, expected.shape, actual)) for expected, actual in pairs]
    if group.n_points is not None:
        placed = join_points(placed)
    line = _choose_line(best)
    scaled = (
        [(expected, _scale(line, expected.shape, actual)) for expected, actual in placed] if line else placed
    )
    left = measure_distance(scaled)
    findings = []
    is_moved = best.arrangement.cause is not None
    residuals = Residuals(before=before, after=left, runner_up=_in_rel_l2(best.runner_up, placed))
    if is_moved and best.arrangement.cause:
        findings.append(_blame_places(group, best, residuals))
    if best.is_reordered:
        findings.append(_blame_order(group, best.order, residuals))
    if line and not comes_with_order(line, best.order, placed):
        alone = Residuals(before=before if not findings else measure_distance(placed), after=left)
        findings.insert(0, blame_line(group, line, placed, best.order, alone, is_picture=is_picture))
    return Replay(
        findings=tuple(findings), left=left, pairs=tuple(scaled), undo=_Undoing(best=best, line=line)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Undoing:
    """An arrangement and a line, applied to other samples."""

    best: Rearranged
    line: Affine | None

    def __call__(self, pair: PointPair, actual: Floats) -> Floats | None:
        shape = pair.expected.shape
        names = [each.name for each in list_arrangements(shape, actual.shape)]
        axis = find_channel_axis(shape)
        n_channels = 1 if axis is None else shape[axis]
        n_fitted = max(len(self.best.order), 1 if self.line is None else self.line.scale.size)
        if self.best.arrangement.name not in names or n_fitted not in (1, n_channels):
            return None
        placed = _place(self.best, shape, actual)
        return placed if self.line is None else _scale(self.line, shape, placed)


def _measure_or_one(pairs: Sequence[tuple[Expected, Floats]]) -> float:
    """Return rel_l2, 1 where shapes differ: nothing of the golden is there."""
    if any(expected.shape != actual.shape for expected, actual in pairs):
        return 1.0
    return measure_distance(lay_beside(*pair) for pair in pairs)


def _in_rel_l2(residual: float, pairs: Sequence[NumberPair]) -> float:
    """Return a part of the deviation as a part of the norm, roughly: that of all values around zero."""
    squares = sum(float(np.sum(np.square(expected))) for expected, _ in pairs)
    spread = sum(float(np.var(expected)) * expected.size for expected, _ in pairs)
    return residual * float(np.sqrt(spread / squares)) if squares > 0 else residual


def _place(best: Rearranged, shape: Sequence[int], actual: Floats) -> Floats:
    (template,) = [
        each for each in list_arrangements(shape, actual.shape) if each.name == best.arrangement.name
    ]
    placed = template.apply(actual)
    axis = find_channel_axis(shape)
    if not best.is_reordered or axis is None:
        return placed
    reordered: Floats = np.take(placed, list(best.order), axis=axis)
    return reordered


def _choose_line(best: Rearranged) -> Affine | None:
    """Return the line where it is needed: photos that are blurred a little follow a line a little better."""
    return best.affine if best.left < _HALF * best.gap else None


def _scale(line: Affine, shape: Sequence[int], actual: Floats) -> Floats:
    axis = find_channel_axis(shape)
    if line.scale.size == 1 or axis is None:
        one_line: Floats = actual * line.scale[0] + line.offset[0]
        return one_line
    scaled: Floats = np.moveaxis(line.apply(np.moveaxis(actual, axis, 0)), 0, axis)
    return scaled


def _blame_places(group: Group, best: Rearranged, residuals: Residuals) -> CauseFinding:
    name, cause = best.arrangement.name, best.arrangement.cause or Cause.PREPROCESS_OTHER
    orientations = read_orientations({pair.sample: pair.file for pair in group.affected if pair.file})
    if len(orientations) == len(group.affected) and UPRIGHT not in orientations.values():
        name, cause = f"{name}, and their files' EXIF orientations ask for a turn", Cause.PREPROCESS_DECODE
    return make_finding(
        group,
        cause,
        f"today's inputs are {name}: undone on {describe_scope(group)}, "
        f"that gives the golden's {describe_residual(residuals.after)}",
        residuals,
        hypothesis="arrangement",
        expected="as in the golden",
        actual=name,
    )


def _blame_order(group: Group, order: Order, residuals: Residuals) -> CauseFinding:
    is_colour = len(order) == len(_COLOURS)
    today = "".join(_COLOURS[channel] for channel in order) if is_colour else str(list(order))
    usual = _COLOURS if is_colour else str(list(range(len(order))))
    if len(order) > _MOST_NAMED:
        today, usual = "another order", "order"
    what = (
        "red and blue are swapped"
        if order == (2, 1, 0)
        else f"channels are in order {today} of the golden's {usual}"
    )
    return make_finding(
        group,
        Cause.PREPROCESS_CHANNEL_ORDER,
        f"{what}: put back on {describe_scope(group)}, "
        f"that gives the golden's inputs {describe_residual(residuals.after)}",
        residuals,
        hypothesis="channel order",
        expected=list(range(len(order))),
        actual=list(order),
    )
