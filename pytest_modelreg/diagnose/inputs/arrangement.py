"""The same numbers in other places: axes, channels, mirrors and turns.

What belongs here: one :class:`Arrangement` for each way in which an array can be rearranged, with the
cause that it stands for, and the best of them for a set of arrays. To add one, add it to
:func:`list_arrangements`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Affine, Moments, Order, take_root
from pytest_modelreg.diagnose.inputs.pair import Floats
from pytest_modelreg.domain.cause import Cause

AS_IS = "as it is"
_MOST_AXES = 4
_MOST_MATCHED = 64
_MOST_ENUMERATED = 4
_HALF = 0.5  # what a rearrangement must leave of what is left without it
_SMALLEST_SIDE = 8
_LEAST_ELEMENTS = 8
_MOST_TRACKS = 8
_LONG_TRACK = 64


@dataclass(frozen=True, kw_only=True)
class Arrangement:
    """A way from actual's places to expected's.

    Parameters
    ----------
    name : str
        What today's inputs are, as a sentence takes it after "today's inputs are".
    cause : Cause or None
        What it is a sign of, None for no change.
    apply : callable
        Undoes it.
    """

    name: str
    cause: Cause | None
    apply: Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rearranged:
    """The best arrangement of some arrays, with the line that is left to apply.

    Parameters
    ----------
    arrangement : Arrangement
        Of axes.
    order : tuple of int
        For every channel of expected, actual's.
    affine : Affine
        ``expected = scale * actual + offset`` afterwards.
    gap, left : float
        What remains without and with the line, as a part of expected's deviation.
    runner_up : float
        What the best other arrangement leaves.
    as_it_is : float
        What remains without a rearrangement and line; infinite where shapes differ.
    """

    arrangement: Arrangement
    order: Order
    affine: Affine
    gap: float
    left: float
    runner_up: float
    as_it_is: float

    @property
    def is_reordered(self) -> bool:
        """Whether channels changed places."""
        return self.order != tuple(range(len(self.order)))


def find_channel_axis(shape: Sequence[int]) -> int | None:
    """Return the axis of channels in a shape, None where there is none."""
    if len(shape) == 2:
        # A few long tracks, or one row for each moment of a few.
        for axis in (0, 1):
            if 1 < shape[axis] <= _MOST_TRACKS and shape[1 - axis] >= _LONG_TRACK:
                return axis
    if len(shape) < 3:
        return None
    for axis in (len(shape) - 3, len(shape) - 1, 0):
        others = [size for index, size in enumerate(shape) if index != axis]
        if shape[axis] in (1, 2, 3, 4) and max(others) >= shape[axis] and sorted(others)[-2] > 1:
            return axis
    if shape[0] == shape[1] != shape[-1]:
        return len(shape) - 1
    return 0 if shape[1] == shape[-1] or shape[0] <= shape[-1] else len(shape) - 1


def flatten_channels(array: Floats, axis: int | None) -> Floats:
    """Return an array as (channel, element), all one channel where there is no axis of channels."""
    if axis is None:
        return array.reshape(1, -1)
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)


def list_arrangements(expected: Sequence[int], actual: Sequence[int]) -> list[Arrangement]:
    """Return the arrangements that turn one shape into the other, the simplest first."""
    found = []
    if tuple(expected) == tuple(actual):
        found.append(Arrangement(name=AS_IS, cause=None, apply=lambda array: array))
    squeezed = [size for size in actual if size != 1]
    if tuple(expected) != tuple(actual) and [size for size in expected if size != 1] == squeezed:
        kept = tuple(expected)
        found.append(
            Arrangement(
                name="with axes of length 1 more or less",
                cause=Cause.PREPROCESS_LAYOUT,
                apply=lambda array: array.reshape(kept),
            )
        )
    if 2 <= len(expected) == len(actual) <= _MOST_AXES:
        found += _list_layouts(tuple(expected), tuple(actual))
        found += _list_turns(tuple(expected), tuple(actual))
    return found


def _list_layouts(expected: tuple[int, ...], actual: tuple[int, ...]) -> list[Arrangement]:
    found = []
    words = _name_axes(expected)
    for axes in permutations(range(len(actual))):
        if axes == tuple(range(len(actual))):
            continue
        layout = " x ".join(words[axis] for axis in _invert(axes))
        if tuple(actual[axis] for axis in axes) == expected:
            found.append(
                Arrangement(
                    name=f"laid out {layout} instead of {' x '.join(words)}",
                    cause=Cause.PREPROCESS_LAYOUT,
                    apply=partial(np.transpose, axes=axes),
                )
            )
        # A reshape where a transpose was meant: the shape is right and the places are not.
        source = tuple(expected[axis] for axis in _invert(axes))
        if expected == actual and source != expected:
            found += [
                Arrangement(
                    name=f"reshaped from {layout} instead of transposed",
                    cause=Cause.PREPROCESS_LAYOUT,
                    apply=partial(_reshape_and_transpose, source=source, axes=axes),
                ),
                Arrangement(
                    name=f"transposed from {layout}, where the golden's are reshaped",
                    cause=Cause.PREPROCESS_LAYOUT,
                    apply=partial(_transpose_and_reshape, axes=_invert(axes), shape=expected),
                ),
            ]
    return found


def _reshape_and_transpose(
    array: NDArray[Any], source: tuple[int, ...], axes: tuple[int, ...]
) -> NDArray[Any]:
    rearranged: NDArray[Any] = array.reshape(source).transpose(axes)
    return rearranged


def _transpose_and_reshape(
    array: NDArray[Any], axes: tuple[int, ...], shape: tuple[int, ...]
) -> NDArray[Any]:
    return np.ascontiguousarray(array.transpose(axes)).reshape(shape)


def _name_axes(shape: tuple[int, ...]) -> list[str]:
    axis = find_channel_axis(shape)
    if axis is None or len(shape) != 3:
        return ["height", "width"] if len(shape) == 2 else [f"axis {index}" for index in range(len(shape))]
    words = ["height", "width"]
    words.insert(axis, "channel")
    return words


def _invert(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axes.index(axis) for axis in range(len(axes)))


def _list_turns(expected: tuple[int, ...], actual: tuple[int, ...]) -> list[Arrangement]:
    """Return mirrors and turns of the two axes of pixels."""
    axis = find_channel_axis(expected)
    if len(expected) - (axis is not None) < 2:
        return []
    rows, columns = [index for index in range(len(expected)) if index != axis][-2:]
    if len(expected) > 3 or min(expected[rows], expected[columns]) < _SMALLEST_SIDE:
        return []
    plane = (rows, columns)
    turns: list[tuple[str, Callable[[NDArray[Any]], NDArray[Any]], bool]] = [
        ("mirrored left to right", lambda array: np.flip(array, columns), False),
        ("mirrored top to bottom", lambda array: np.flip(array, rows), False),
        ("turned by 180 degrees", lambda array: np.rot90(array, 2, plane), False),
        ("turned by 90 degrees to the left", lambda array: np.rot90(array, -1, plane), True),
        ("turned by 90 degrees to the right", lambda array: np.rot90(array, 1, plane), True),
        (
            "mirrored at the falling diagonal",
            lambda array: np.swapaxes(np.rot90(array, 2, plane), *plane),
            True,
        ),
    ]
    swapped = list(actual)
    if len(actual) == len(expected):
        swapped[rows], swapped[columns] = actual[columns], actual[rows]
    return [
        Arrangement(name=name, cause=Cause.PREPROCESS_GEOMETRY, apply=apply)
        for name, apply, swaps in turns
        if (tuple(swapped) if swaps else actual) == expected
    ]


def rearrange(pairs: Sequence[tuple[Floats, Floats]]) -> Rearranged | None:
    """Return the arrangement, order of channels and line that bring actual nearest to expected.

    A change is taken only if it halves what is left: on photos, wrong channels are still alike.

    Parameters
    ----------
    pairs : sequence of (expected, actual)
        Finite; each side of one number of axes. Shapes may differ from sample to sample.

    Returns
    -------
    Rearranged or None
        None where no arrangement fits the shapes, or the values are too few or too uniform to tell.
    """
    shared = set.intersection(
        *({each.name for each in list_arrangements(e.shape, a.shape)} for e, a in pairs)
    )
    best: Rearranged | None = None
    others: list[float] = []
    as_it_is = float("inf")
    for template in list_arrangements(pairs[0][0].shape, pairs[0][1].shape):
        if template.name not in shared:
            continue
        moments = _sum_up(pairs, template.name)
        if moments.variation <= 0.0 or moments.n < _LEAST_ELEMENTS:
            return None  # a constant, or less than a line needs: anything would explain it
        orders = _list_orders(moments)
        usual = orders[0]
        if template.cause is None:
            as_it_is = take_root(moments.find_gap(usual), moments.variation)
        for order in orders:
            affine, squares = moments.fit(order)
            left = take_root(squares, moments.variation)
            others.append(left)
            if best is None or left < _HALF * best.left:
                gap = take_root(moments.find_gap(order), moments.variation)
                best = Rearranged(
                    arrangement=template,
                    order=order,
                    affine=affine,
                    gap=gap,
                    left=left,
                    runner_up=float("inf"),
                    as_it_is=float("inf"),
                )
    if best is None or not np.any(best.affine.scale):
        return None
    others.remove(best.left)
    return Rearranged(
        arrangement=best.arrangement,
        order=best.order,
        affine=best.affine,
        gap=best.gap,
        left=best.left,
        runner_up=min(others, default=float("inf")),
        as_it_is=as_it_is,
    )


def _sum_up(pairs: Sequence[tuple[Floats, Floats]], name: str) -> Moments:
    axis = find_channel_axis(pairs[0][0].shape)
    n_channels = pairs[0][0].shape[axis] if axis is not None else 1
    if any(axis is not None and expected.shape[axis] != n_channels for expected, _ in pairs):
        axis, n_channels = None, 1
    moments = Moments(n_channels)
    for expected, actual in pairs:
        (template,) = [each for each in list_arrangements(expected.shape, actual.shape) if each.name == name]
        moments.add(flatten_channels(template.apply(actual), axis), flatten_channels(expected, axis))
    return moments


def _list_orders(moments: Moments) -> list[Order]:
    n_channels = moments.n_channels
    usual = tuple(range(n_channels))
    if n_channels <= _MOST_ENUMERATED:
        return list(permutations(usual))
    matched = moments.match_channels() if n_channels <= _MOST_MATCHED else None
    return [usual] if matched in (None, usual) else [usual, matched or usual]
