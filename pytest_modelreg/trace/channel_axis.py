"""Which axis of an array looks like channels.

What belongs here: the one rule, from a shape alone, that what is kept of arrays and what is read out of
them share. Goldens name the axis that they were recorded with, so that the rule may be changed.
"""

from __future__ import annotations

from collections.abc import Sequence

_MOST_TRACKS = 8
_LONG_TRACK = 64


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
