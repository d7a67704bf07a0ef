"""The same numbers in other places: axes, channels, mirrors and turns.

What belongs here: one :class:`Arrangement` for each way in which an array can be rearranged, with the
cause that it stands for. To add one, add it to :func:`list_arrangements`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.pair import Floats
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.trace import find_channel_axis

AS_IS = "as it is"
_MOST_AXES = 4
_SMALLEST_SIDE = 8


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
