"""Inputs that are the golden's in other places or on another scale: what arrays alone can tell.

What belongs here: trying arrangements, orders of channels and lines on the inputs themselves, without
the samples' files, and the findings of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Affine, Order
from pytest_modelreg.diagnose.inputs.alignment import Rearranged, rearrange
from pytest_modelreg.diagnose.inputs.arrangement import find_channel_axis, flatten_channels, list_arrangements
from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.pair import Floats, measure_distance
from pytest_modelreg.diagnose.inputs.reading import Reading, read_line
from pytest_modelreg.diagnose.traits import UPRIGHT, read_orientations
from pytest_modelreg.domain.cause import Cause, CauseFinding

NumberPair = tuple[Floats, Floats]

_HALF = 0.5
_LEAST_EXPLAINED = 0.3
_COLOURS = "RGB"
_N_VALUES = 4000
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
    """

    findings: tuple[CauseFinding, ...]
    left: float
    pairs: tuple[NumberPair, ...]
    level: float | None = None


def replay_rearrangement(group: Group, pairs: Sequence[NumberPair], *, is_picture: bool) -> Replay:
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
    if best is None:
        return Replay(findings=(), left=before, pairs=tuple(pairs))
    placed = [(expected, _place(best, expected, actual)) for expected, actual in pairs]
    line = _choose_line(best)
    scaled = [(expected, _scale(line, expected, actual)) for expected, actual in placed] if line else placed
    left = measure_distance(scaled)
    findings = []
    is_moved = best.arrangement.cause is not None
    residuals = Residuals(before=before, after=left, runner_up=_in_rel_l2(best.runner_up, pairs))
    if best.left > 1.0 - _LEAST_EXPLAINED:
        return Replay(findings=(), left=before, pairs=tuple(pairs))
    if is_moved and best.arrangement.cause:
        findings.append(_blame_places(group, best, residuals))
    if best.is_reordered:
        findings.append(_blame_order(group, best.order, residuals))
    if line and not _comes_with_order(line, best.order, placed):
        alone = Residuals(before=before if not findings else measure_distance(placed), after=left)
        findings.insert(0, blame_line(group, line, placed, best.order, alone, is_picture=is_picture))
    return Replay(findings=tuple(findings), left=left, pairs=tuple(scaled))


def _measure_or_one(pairs: Sequence[NumberPair]) -> float:
    """Return rel_l2, 1 where shapes differ: nothing of the golden is there."""
    if any(expected.shape != actual.shape for expected, actual in pairs):
        return 1.0
    return measure_distance(pairs)


def _in_rel_l2(residual: float, pairs: Sequence[NumberPair]) -> float:
    """Return a part of the deviation as a part of the norm, roughly: that of all values around zero."""
    squares = sum(float(np.sum(np.square(expected))) for expected, _ in pairs)
    spread = sum(float(np.var(expected)) * expected.size for expected, _ in pairs)
    return residual * float(np.sqrt(spread / squares)) if squares > 0 else residual


def _place(best: Rearranged, expected: Floats, actual: Floats) -> Floats:
    (template,) = [
        each for each in list_arrangements(expected.shape, actual.shape) if each.name == best.arrangement.name
    ]
    placed = template.apply(actual)
    axis = find_channel_axis(expected.shape)
    if not best.is_reordered or axis is None:
        return placed
    reordered: Floats = np.take(placed, list(best.order), axis=axis)
    return reordered


def _choose_line(best: Rearranged) -> Affine | None:
    """Return the line where it is needed: photos that are blurred a little follow a line a little better."""
    return best.affine if best.left < _HALF * best.gap else None


def _scale(line: Affine, expected: Floats, actual: Floats) -> Floats:
    axis = find_channel_axis(expected.shape)
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


def _comes_with_order(line: Affine, order: Order, placed: Sequence[NumberPair]) -> bool:
    """Whether the line is what constants by channel leave when channels change places before them."""
    index = list(order)
    if order == tuple(range(len(order))):
        return False
    if [index[channel] for channel in index] == list(range(len(index))):
        unit = np.array([float(np.std(expected)) for expected, _ in placed]).mean()
        back_scale = line.scale * line.scale[index]
        back_offset = line.scale * line.offset[index] + line.offset
        return bool(np.all(np.abs(back_scale - 1) < 1e-2) and np.all(np.abs(back_offset) < 1e-2 * unit))
    reading = _read(line, placed)
    return reading is not None and bool(
        np.allclose(reading.actual.mean, reading.expected.mean[index])
        and np.allclose(reading.actual.std, reading.expected.std[index])
    )


def _read(line: Affine, placed: Sequence[NumberPair], slack: float = 0.0) -> Reading | None:
    sides: list[list[NDArray[np.float64]]] = [[], []]
    for pair in placed:
        axis = find_channel_axis(pair[0].shape)
        for side, array in zip(sides, pair, strict=True):
            flat = np.asarray(flatten_channels(array, axis), np.float64)
            side.append(flat[:, :: max(1, flat.shape[1] // _N_VALUES)])
    if any(each.shape[0] != line.scale.size for side in sides for each in side):
        return None
    return read_line(line, np.concatenate(sides[0], axis=1), np.concatenate(sides[1], axis=1), slack)


def blame_line(
    group: Group,
    line: Affine,
    placed: Sequence[NumberPair],
    order: Order,
    residuals: Residuals,
    *,
    is_picture: bool,
) -> CauseFinding:
    """Return the finding of another scale: what the constants are, or what they mean where that is known."""
    constants = {"scale": line.scale.round(6).tolist(), "offset": line.offset.round(6).tolist()}
    reading = _read(line, placed, residuals.after) if is_picture and np.any(line.scale > 0) else None
    with np.errstate(all="ignore"):
        is_uniform = bool(np.ptp(line.scale) <= 2e-3 * np.abs(line.scale).max())
        factor = float(line.scale.mean())
        is_shifted = bool(np.any(np.abs(line.offset) > 1e-3 * max(float(np.std(placed[0][0])), 1e-12)))
    replayed = (
        f"undone on {describe_scope(group)}, that gives the golden's {describe_residual(residuals.after)}"
    )
    if reading is not None:
        return make_finding(
            group,
            Cause.PREPROCESS_VALUE_RANGE if reading.is_range else Cause.PREPROCESS_NORMALIZATION,
            f"inputs are scaled as {reading.actual.name} instead of {reading.expected.name}: {replayed}",
            residuals,
            hypothesis="scaling",
            expected=reading.expected.name,
            actual=reading.actual.name,
            constants=constants,
        )
    if is_uniform and abs(factor + 1) < 1e-3:
        what = (
            f"are {float(line.offset.mean()):.6g} minus the golden's" if is_shifted else "have the other sign"
        )
        cause = Cause.PREPROCESS_VALUE_RANGE
    elif is_uniform and not is_shifted:
        what = f"are {1 / factor:.6g} times the golden's"
        cause = Cause.PREPROCESS_VALUE_RANGE
    elif is_uniform and abs(factor - 1) < 2e-3 and np.ptp(line.offset) < 1e-3 * np.abs(line.offset).max():
        what = f"are {-float(line.offset.mean()):+.6g} off the golden's"
        cause = Cause.PREPROCESS_NORMALIZATION if is_picture else Cause.PREPROCESS_VALUE_RANGE
    else:
        what = "have other constants of scale and offset"
        cause = Cause.PREPROCESS_NORMALIZATION
    return make_finding(
        group,
        cause,
        f"today's inputs {what}: {replayed}",
        residuals,
        hypothesis="line",
        expected="as in the golden",
        actual=what,
        constants=constants,
    )
