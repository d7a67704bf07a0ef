"""Inputs whose values are the golden's on a curve: a gamma, a tanh, a contrast, fewer levels.

What belongs here: one curve for each channel, fitted to half of the values and held against the other half,
and its name where it has one. A straight line is ``rearrangement``'s, cuts and steps are ``values``'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.arrangement import flatten_channels
from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.known_points import PointPair
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, measure_distance
from pytest_modelreg.diagnose.inputs.reading import find_scaling
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.diagnose.inputs.scaling import TOP
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.trace import find_channel_axis

Values = NDArray[np.float64]
"""Axes (channel, element)."""

_MOST_KNOTS = 256
_VALUES_A_KNOT = 16
_FEWEST_KNOTS = 8
_MOST_LEFT = 0.02
_MOST_OF_DEVIATION = 0.1
_LEAST_EXPLAINED = 0.9
_NAMED = 0.02
_TOLD = (10, 50, 90)  # percent of the golden's values, at which the curve is told
_GREY = (0.05, 0.95)  # levels, as a part of the largest, whose logarithm says something


def replay_curve(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return whether each value of today is the golden's at the same place on one curve; None if not.

    Parameters
    ----------
    pairs : sequence of (expected, actual)
        Of every sample that differs; where only points are known, one pair of all, axes (channel, place).
    """
    if not pairs or any(expected.shape != actual.shape for expected, actual in pairs):
        return None
    expected, actual = _join(pairs, is_flat=group.n_points is not None)
    curves = _fit(expected, actual)
    if curves is None:
        return None
    made = _apply(curves, expected)
    # What half of the values say must hold for the other half: enough knots follow anything.
    left = measure_distance([(made[:, 1::2], actual[:, 1::2])])
    residuals = Residuals(before=measure_distance([(expected, actual)]), after=left)
    flat = np.broadcast_to(actual.mean(axis=1, keepdims=True), actual.shape)
    # A constant, or nearly one, is on any curve.
    least = min(_MOST_LEFT, _MOST_OF_DEVIATION * measure_distance([(actual, flat)]))
    if not least or left > least or residuals.explained < _LEAST_EXPLAINED:
        return None
    what = _name_curve(expected, actual) or _tell_points(curves, expected)
    finding = make_finding(
        group,
        Cause.PREPROCESS_VALUE_RANGE,
        f"today's inputs are the golden's on a curve, {what}: done to the golden's, on "
        f"{describe_scope(group)}, that gives today's {describe_residual(left)}",
        residuals,
        hypothesis="curve",
        expected="as in the golden",
        actual=what,
        constants={"curves": [_sample_curve(curve) for curve in curves]},
    )
    back = _fit(actual, expected)
    gap = 1.0 if back is None else measure_distance([(expected, _apply(back, actual))])
    # Where several values became one, nothing leads back.
    is_undone = gap <= (1.0 - _LEAST_EXPLAINED) * residuals.before
    return Replay(
        findings=(finding,),
        left=left,
        pairs=((made, actual),),
        undo=_Unbending(curves=back) if back is not None and is_undone else None,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Curve:
    """What values become, straight between the knots."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Unbending:
    """The curves back, applied to other samples."""

    curves: Sequence[_Curve]

    def __call__(self, pair: PointPair, actual: Floats) -> Floats | None:
        axis = find_channel_axis(actual.shape)
        n_channels = 1 if axis is None else actual.shape[axis]
        if actual.shape != pair.expected.shape or len(self.curves) != n_channels:
            return None
        if axis is None:
            whole: Floats = _apply(self.curves, _widen(actual).reshape(1, -1)).reshape(actual.shape)
            return whole
        moved = np.moveaxis(_widen(actual), axis, 0)
        undone = _apply(self.curves, moved.reshape(n_channels, -1)).reshape(moved.shape)
        return np.moveaxis(undone, 0, axis)


def _widen(array: Floats) -> Values:
    return np.asarray(array, np.float64)


def _join(pairs: Sequence[NumberPair], *, is_flat: bool) -> tuple[Values, Values]:
    """Return all values of both sides, as one channel where samples do not have the same ones."""
    axes = [0 if is_flat else find_channel_axis(expected.shape) for expected, _ in pairs]
    n_channels = {1 if axis is None else e.shape[axis] for axis, (e, _) in zip(axes, pairs, strict=True)}
    if len(n_channels) > 1:
        axes = [None] * len(pairs)
    sides = []
    for index in (0, 1):
        flat = [flatten_channels(pair[index], axis) for axis, pair in zip(axes, pairs, strict=True)]
        sides.append(np.concatenate([_widen(each) for each in flat], axis=1))
    return sides[0], sides[1]


def _fit(x: Values, y: Values) -> list[_Curve] | None:
    curves = []
    for of_x, of_y in zip(x[:, ::2], y[:, ::2], strict=True):
        levels, index = np.unique(np.round(of_x, 6), return_inverse=True)
        n_knots = min(_MOST_KNOTS, of_x.size // _VALUES_A_KNOT)
        if n_knots < _FEWEST_KNOTS:
            return None
        if levels.size > n_knots:
            index = np.minimum(np.argsort(np.argsort(of_x)) * n_knots // of_x.size, n_knots - 1)
        n = np.bincount(index.ravel())
        means = [np.bincount(index.ravel(), weights=each)[n > 0] / n[n > 0] for each in (of_x, of_y)]
        curves.append(_Curve(x=means[0], y=means[1]))
    return curves


def _apply(curves: Sequence[_Curve], values: Values) -> Values:
    return np.stack([np.interp(row, curve.x, curve.y) for curve, row in zip(curves, values, strict=True)])


def _name_curve(expected: Values, actual: Values) -> str | None:
    """Return what the curve is called, None where it is none of those that have a name."""
    power = _find_power(expected, actual)
    if power is not None:
        made, exponent = power
        if measure_distance([(made, actual)]) <= _NAMED:
            return f"levels to the power of {exponent:.2g}, a gamma"
    for name, make in _NAMED_CURVES.items():
        if measure_distance([(make(expected), actual)]) <= _NAMED:
            return name
    return None


def _sigmoid(values: Values) -> Values:
    result: Values = 1.0 / (1.0 + np.exp(-np.clip(values, -500.0, 500.0)))
    return result


_NAMED_CURVES: dict[str, Callable[[Values], Values]] = {
    "their hyperbolic tangent": np.tanh,
    "their logistic function": _sigmoid,
    "their absolute value": np.abs,
    "their square": np.square,
}


def _find_power(expected: Values, actual: Values) -> tuple[Values, float] | None:
    """Return the golden's values with levels to the power that fits best, and that power."""
    scaling = find_scaling(expected)
    if scaling is None:
        return None
    mean, std = scaling.mean.reshape(-1, 1), scaling.std.reshape(-1, 1)
    levels, now = ((side * std + mean) / TOP for side in (expected, actual))
    telling = (levels > _GREY[0]) & (levels < _GREY[1]) & (now > 0.0)
    if not telling.any():
        return None
    logs = np.log(levels[telling])
    exponent = float(np.sum(logs * np.log(now[telling])) / np.sum(logs * logs))
    return (TOP * np.clip(levels, 0.0, 1.0) ** exponent - mean) / std, exponent


def _tell_points(curves: Sequence[_Curve], expected: Values) -> str:
    at = np.percentile(expected[0], _TOLD)
    told = ", ".join(f"{x:.3g} becomes {np.interp(x, curves[0].x, curves[0].y):.3g}" for x in at)
    return told if len(curves) == 1 else f"in the first channel {told}"


def _sample_curve(curve: _Curve) -> list[list[float]]:
    index = np.unique(np.linspace(0, curve.x.size - 1, 9).round().astype(int))
    return [[float(f"{curve.x[at]:.5g}"), float(f"{curve.y[at]:.5g}")] for at in index]
