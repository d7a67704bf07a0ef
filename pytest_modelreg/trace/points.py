"""Values of a long array at a few seeded places, and what its channels are like as a whole.

What belongs here: where the places of an array are, and reading it there. Placing is plain integer
arithmetic, so that every version of every library finds the same places; changing it makes all recorded
points useless. One more statistic goes behind the last one, and raises ``N_STATISTICS``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.trace.channel_axis import find_channel_axis
from pytest_modelreg.trace.splitmix import draw_numbers

N_VALUES = 256
"""Of one array, at most: at each place, the values of all channels are taken."""

N_STATISTICS = 4
"""Mean, deviation, smallest and largest value of a channel."""

MAX_CHANNELS = 8
"""An axis that is longer is not taken for channels."""

_MOST_COUNTED = 1 << 18
_MOST_SHUFFLED = 1 << 12


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayPoints:
    """What is kept of one array.

    Parameters
    ----------
    axis : int or None
        Of its channels; None where it has none, so that all of it is one channel.
    values : numpy.ndarray
        float64, axes (channel, place), the unit of the array.
    statistics : numpy.ndarray
        float64, axes (channel, statistic): mean, deviation, smallest and largest of what is finite; NaN where
        nothing is. Of an array of more than 262144 elements, of evenly spread ones.
    """

    axis: int | None
    values: NDArray[np.float64]
    statistics: NDArray[np.float64]


def choose_axis(shape: Sequence[int]) -> int | None:
    """Return the axis of channels of a shape if it is short, None otherwise."""
    axis = find_channel_axis(shape)
    return axis if axis is not None and 0 not in shape and shape[axis] <= MAX_CHANNELS else None


def seed_points(name: str) -> int:
    """Return the seed of a sample's places, so that other samples are looked at elsewhere."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "little")


def list_places(n_places: int, n_wanted: int, seed: int) -> NDArray[np.intp]:
    """Return the places that are looked at.

    Parameters
    ----------
    n_places : int
        How many there are: elements of one channel, fewer than 2**32.
    n_wanted : int
        How many are looked at; fewer are the first of more.

    Returns
    -------
    numpy.ndarray
        intp, axes (place,): indices in C order; all of them, in order, where there are no more.

    Notes
    -----
    Place ``i`` is the ``i``-th number of :mod:`~.splitmix`, scaled to the range as by Lemire, "Fast random
    integer generation in an interval", 2019, without its rejection: one place may come twice. Of up to 4096
    places it is the place with the ``i``-th smallest of these numbers, and none comes twice.
    """
    if n_places <= n_wanted:
        return np.arange(n_places, dtype=np.intp)
    if n_places <= _MOST_SHUFFLED:
        return np.argsort(draw_numbers(0, n_places, seed), kind="stable")[:n_wanted].astype(np.intp)
    high = draw_numbers(0, n_wanted, seed) >> np.uint64(32)
    scaled: NDArray[np.intp] = ((high * np.uint64(n_places)) >> np.uint64(32)).astype(np.intp)
    return scaled


def read_points(array: NDArray[Any], n_values: int, seed: int) -> ArrayPoints:
    """Return what is kept of an array.

    Parameters
    ----------
    array : numpy.ndarray
        Booleans, integers or floats, any axes.
    n_values : int
        How many values to take at most; at least one a channel.
    """
    axis = choose_axis(array.shape)
    channels = split_channels(array, axis)
    places = list_places(channels.shape[1], count_places(array.shape, axis, n_values), seed)
    return ArrayPoints(
        axis=axis, values=channels[:, places].astype(np.float64), statistics=measure_channels(channels)
    )


def count_places(shape: Sequence[int], axis: int | None, n_values: int) -> int:
    """Return how many places of an array are looked at to take so many values."""
    n_channels = 1 if axis is None else shape[axis]
    return min(prod(shape) // max(1, n_channels), max(1, n_values // max(1, n_channels)))


def split_channels(array: NDArray[Any], axis: int | None) -> NDArray[Any]:
    """Return an array as (channel, place); all of it is one channel where there is no axis of channels."""
    if axis is None:
        return array.reshape(1, -1)
    if axis == array.ndim - 1:
        channels: NDArray[Any] = array.reshape(-1, array.shape[axis]).T
    else:
        channels = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    return channels


def measure_channels(channels: NDArray[Any]) -> NDArray[np.float64]:
    """Return the statistics of channels, axes (channel, place), as :class:`ArrayPoints` keeps them."""
    step = (channels.size // _MOST_COUNTED + 1) | 1 if channels.size > _MOST_COUNTED else 1
    some = channels[:, ::step].astype(np.float64)
    found = np.full((channels.shape[0], N_STATISTICS), np.nan)
    for row, values in zip(found, some, strict=True):
        if not np.isfinite(values).all():
            values = values[np.isfinite(values)]
        if values.size:
            with np.errstate(over="ignore", invalid="ignore"):
                row[:] = values.mean(), values.std(), values.min(), values.max()
    return found
