"""Photos prepared again from their files, for both sides.

What belongs here: from inputs and files to the two recipes and what they differ in; and which inputs are
pictures at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.finding import Group
from pytest_modelreg.diagnose.inputs.pair import Floats
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.diagnose.inputs.recipe import N_COLOURS
from pytest_modelreg.diagnose.inputs.settings import compare_settings
from pytest_modelreg.diagnose.inputs.sides import identify_sides

_LEAST_PX = 8


def replay_photos(
    group: Group, pictures: Sequence[tuple[str, Floats, Floats]], has_time: Callable[[], bool]
) -> Replay | None:
    """Return which settings of a preprocessing of photos changed.

    Parameters
    ----------
    group : Group
        What the findings are about; its files are read.
    pictures : sequence of (sample, expected, actual)
        Axes (channel, height, width), one or three channels; every sample, those that agree too.
    has_time : callable
        Asked before each step.

    Returns
    -------
    Replay or None
        None where the files cannot be read, or no recipe makes either side.
    """
    sides = identify_sides(group, pictures, has_time)
    if sides is None:
        return None
    findings = compare_settings(sides)
    pairs = tuple(
        (sides.golden.side.pictures[sample], sides.today.side.pictures[sample]) for sample in sides.affected
    )
    left = max(made.measure(sides.affected) for made in sides.both)
    level = float(np.abs(sides.golden.fit.affine.scale).max())
    return Replay(findings=tuple(findings), left=left, pairs=pairs, level=level)


def to_picture(array: Floats) -> NDArray[np.float32] | None:
    """Return an input as float32 (channel, height, width), None where its shape is no picture's."""
    if array.ndim != 3:
        return None
    if array.shape[0] not in (1, N_COLOURS) and array.shape[2] in (1, N_COLOURS):
        array = np.moveaxis(array, 2, 0)
    if array.shape[0] not in (1, N_COLOURS) or min(array.shape[1:]) <= _LEAST_PX:
        return None
    with np.errstate(over="ignore"):
        picture: NDArray[np.float32] = np.ascontiguousarray(array, np.float32)
    return picture
