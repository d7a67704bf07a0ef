"""What the model was fed, then and now, for the samples whose exact inputs both sides kept.

What belongs here: reading these, recognising pictures among them, and the amplified difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.exhibit import InputDifference
from pytest_modelreg.engine.exhibits.both_sides import BothSides
from pytest_modelreg.observe import read_exact_arrays
from pytest_modelreg.observe.thumbnail import draw_levels

Arrays = Mapping[str, Mapping[str, NDArray[Any]]]
"""By sample, then by input path."""

_LARGEST_PX = 112
_LEAST_PX = 4
_CHANNELS = (1, 3)
_SHOWN_SHARE = 0.995
"""Of the differences, the share that the brightest level is set by: one pixel does not darken all others."""


def read_fed_inputs(sides: BothSides) -> tuple[Arrays, Arrays]:
    """Return the exact inputs of the golden and of the observation; empty where there are none."""
    found: list[Arrays] = []
    for observation, folder in (
        (sides.golden.observation, sides.golden_folder),
        (sides.observation, sides.folder),
    ):
        exact = None if observation.trace is None else observation.trace.exact
        try:
            found.append({} if exact is None else read_exact_arrays(folder, exact))
        except ModelRegError:  # kept in a form that this environment cannot read
            found.append({})
    return found[0], found[1]


def draw_input_difference(inputs: tuple[Arrays, Arrays], sample: str) -> InputDifference | None:
    """Return both inputs of a sample as pictures; None where none is one, or nothing differs."""
    then, now = (side.get(sample, {}) for side in inputs)
    for path, expected in then.items():
        if path not in now:
            continue
        pictures = [as_picture(array) for array in (expected, now[path])]
        if pictures[0] is not None and pictures[1] is not None:
            return _draw(path, pictures[0], pictures[1])
    return None


def as_picture(array: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return an input as a picture, axes (row, column, channel), one or three channels; None for others."""
    values = array[0] if array.ndim == 4 and array.shape[0] == 1 else array
    if values.dtype.kind not in "fiu" or min(values.shape, default=0) < 1:
        return None
    if values.ndim == 3 and values.shape[0] in _CHANNELS:
        values = np.moveaxis(values, 0, -1)
    elif values.ndim == 2:
        values = values[..., np.newaxis]
    if values.ndim != 3 or values.shape[2] not in _CHANNELS or min(values.shape[:2]) < _LEAST_PX:
        return None
    return values.astype(np.float64)


def _draw(path: str, expected: NDArray[np.float64], actual: NDArray[np.float64]) -> InputDifference | None:
    finite = np.concatenate([side[np.isfinite(side)] for side in (expected, actual)])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    span = high - low or 1.0
    shown = [
        draw_levels(_as_levels((side - low) / span), largest_px=_LARGEST_PX) for side in (expected, actual)
    ]
    if expected.shape != actual.shape:
        return InputDifference(
            path=path, expected=shown[0], actual=shown[1], difference=None, gain=0.0, largest=0.0
        )
    distance = np.abs(actual - expected).max(axis=2, keepdims=True)
    distance = np.nan_to_num(distance, nan=span, posinf=span)
    largest = float(distance.max())
    if largest == 0.0:
        return None
    bright = float(np.quantile(distance, _SHOWN_SHARE)) or largest
    return InputDifference(
        path=path,
        expected=shown[0],
        actual=shown[1],
        difference=draw_levels(_as_levels(distance / bright), largest_px=_LARGEST_PX),
        gain=span / bright,
        largest=largest,
    )


def _as_levels(shares: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return levels of three channels from shares of the brightest."""
    clear = np.nan_to_num(shares, nan=1.0, posinf=1.0, neginf=0.0)
    levels = np.rint(np.clip(clear, 0.0, 1.0) * 255).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(levels, (*levels.shape[:2], 3)))
