"""Inputs that show another part of the same: moved, cropped, padded or of another size.

What belongs here: comparing what two arrays have in common when one is laid over the other. To add one,
write a function from pairs to a :class:`Replay` and call it in :func:`replay_framing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, measure_distance
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.trace import find_channel_axis

_NEAR = 0.02
_LEAST_OVERLAP = 0.5


def replay_framing(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return whether one side is the other's moved by whole pixels, cut or padded; None if not."""
    planes = [(_to_planes(expected), _to_planes(actual)) for expected, actual in pairs]
    if any(one is None or other is None for one, other in planes):
        return None
    known = [(one, other) for one, other in planes if one is not None and other is not None]
    shifts = [_find_shift(expected.mean(axis=0), actual.mean(axis=0)) for expected, actual in known]
    overlaps = [_overlap(e, a, shift) for (e, a), shift in zip(known, shifts, strict=True)]
    left = measure_distance(overlaps)
    if left > _NEAR or all(_is_trivial(e, a, s) for (e, a), s in zip(known, shifts, strict=True)):
        return None
    size = min(common.size / min(e.size, a.size) for (common, _), (e, a) in zip(overlaps, known, strict=True))
    if size < _LEAST_OVERLAP:
        return None
    is_resized = any(e.shape != a.shape for e, a in known)
    before = 1.0 if is_resized else measure_distance(known)
    what, constants = _describe(known, shifts)
    return Replay(
        findings=(
            make_finding(
                group,
                Cause.PREPROCESS_GEOMETRY,
                f"today's inputs {what}: where the two overlap, on {describe_scope(group)}, "
                f"they agree {describe_residual(left)}",
                Residuals(before=before, after=left),
                hypothesis="framing",
                expected=_describe_size(known[0][0]),
                actual=f"{_describe_size(known[0][1])}, {what}",
                constants=constants,
            ),
        ),
        left=left,
        pairs=tuple(overlaps),
    )


def describe_move(down: int, right: int) -> str:
    """Return a move by whole pixels as a sentence takes it after "today's inputs"."""
    moved = [
        f"{abs(by)} px {word}"
        for by, word in ((down, "down" if down > 0 else "up"), (right, "right" if right > 0 else "left"))
        if by
    ]
    return f"are moved by {' and '.join(moved)}"


def _describe(
    pairs: Sequence[NumberPair], shifts: Sequence[tuple[int, int]]
) -> tuple[str, dict[str, object]]:
    counted = Counter(shifts).most_common()
    (down, right), often = counted[0]
    constants: dict[str, object] = {"down_px": down, "right_px": right, "n_moved_so": often}
    (expected, actual) = pairs[shifts.index((down, right))]
    grown = [a - e for e, a in zip(expected.shape[1:], actual.shape[1:], strict=True)]
    if all(growth == 0 for growth in grown):
        each = "" if len(counted) == 1 else ", most of them"
        return f"{describe_move(down, right)}{each}", constants
    sizes = f"{_describe_size(actual)} instead of {_describe_size(expected)}"
    if all(growth <= 0 for growth in grown):
        return f"are cut to {sizes}", constants
    if all(growth >= 0 for growth in grown):
        border = _find_border(actual, expected.shape[1:], (down, right))
        if border is not None:
            constants["pad"] = border
            return f"are padded with {border:.6g} to {sizes}", constants
        return f"are not cropped, {sizes}", constants
    return f"show another part, {sizes}", constants


def _describe_size(plane: Floats) -> str:
    return f"{plane.shape[2]} x {plane.shape[1]} px"


def _find_border(actual: Floats, inner: tuple[int, ...], shift: tuple[int, int]) -> float | None:
    """Return the value around the part that the golden has, None where it is not one value."""
    mask = np.ones(actual.shape[1:], np.bool_)
    mask[max(shift[0], 0) : shift[0] + inner[0], max(shift[1], 0) : shift[1] + inner[1]] = False
    around = actual[:, mask]
    return float(around.flat[0]) if around.size and float(np.ptp(around)) <= 1e-6 else None


def _to_planes(array: Floats) -> Floats | None:
    """Return an array as (channel, height, width)."""
    if array.ndim == 2:
        array = array[np.newaxis]
    if array.ndim != 3:
        return None
    axis = find_channel_axis(array.shape)
    return np.moveaxis(array, axis, 0) if axis else array


def _find_shift(expected: Floats, actual: Floats) -> tuple[int, int]:
    """Return how far down and right expected lies in actual: the peak of the phase correlation.

    Kuglin and Hines, The phase correlation image alignment method, 1975.
    """
    shape = [max(e, a) for e, a in zip(expected.shape, actual.shape, strict=True)]
    here, there = (np.fft.rfft2(_embed(side, shape)) for side in (expected, actual))
    product = there * np.conj(here)
    with np.errstate(all="ignore"):
        correlation = np.fft.irfft2(np.nan_to_num(product / np.abs(product)), s=shape)
    peak = np.unravel_index(int(correlation.argmax()), correlation.shape)
    down, right = (int(at) - (n if at > n // 2 else 0) for at, n in zip(peak, shape, strict=True))
    return down, right


def _embed(plane: Floats, shape: Sequence[int]) -> NDArray[np.float64]:
    room = np.zeros(tuple(shape))
    room[: plane.shape[0], : plane.shape[1]] = plane - plane.mean()
    return room


def _overlap(expected: Floats, actual: Floats, shift: tuple[int, int]) -> NumberPair:
    here, there = [slice(None)], [slice(None)]
    for axis, move in enumerate(shift, start=1):
        first = max(0, -move)
        last = min(expected.shape[axis], actual.shape[axis] - move)
        here.append(slice(first, max(last, first)))
        there.append(slice(first + move, max(last, first) + move))
    if expected.shape[0] != actual.shape[0]:
        return np.zeros(0), np.zeros(0)
    return expected[tuple(here)], actual[tuple(there)]


def _is_trivial(expected: Floats, actual: Floats, shift: tuple[int, int]) -> bool:
    return shift == (0, 0) and expected.shape == actual.shape
