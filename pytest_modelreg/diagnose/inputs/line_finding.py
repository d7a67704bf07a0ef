"""What a line between two sides is told as: another scale, another normalisation, or other constants.

What belongs here: the finding of a line that ``rearrangement`` found. What its constants mean is
``reading``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Affine, Order
from pytest_modelreg.diagnose.inputs.arrangement import flatten_channels
from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.pair import NumberPair
from pytest_modelreg.diagnose.inputs.reading import Reading, make_scaling, read_line
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.trace import find_channel_axis

_N_VALUES = 4000
_KEPT = 5e-3
_MOST_LEFT = 0.05  # rel_l2: constants that fit no better have many names


def comes_with_order(line: Affine, order: Order, placed: Sequence[NumberPair]) -> bool:
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


def _read_by_place(reading: Reading, order: Order) -> Reading:
    """Return a reading with today's constants by place where these are more like the golden's than by colour.

    Constants are written down in the order of places. When colours change places before they are
    normalised, those that nobody touched come out in another order by colour.
    """
    expected, by_colour = reading.expected, reading.actual
    if order == tuple(range(len(order))) or by_colour.mean.size != len(order):
        return reading
    index = np.argsort(order)
    by_place = make_scaling(
        Affine(scale=1.0 / by_colour.std[index], offset=-(by_colour.mean / by_colour.std)[index])
    )
    kept = [
        sum(
            bool(np.allclose(getattr(expected, part), getattr(each, part), rtol=_KEPT))
            for part in ("mean", "std")
        )
        for each in (by_colour, by_place)
    ]
    return replace(reading, actual=by_place) if kept[1] > kept[0] else reading


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
    is_read = is_picture and np.any(line.scale > 0) and residuals.after <= _MOST_LEFT
    reading = _read(line, placed, residuals.after) if is_read else None
    if reading is not None:
        reading = _read_by_place(reading, order)
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
