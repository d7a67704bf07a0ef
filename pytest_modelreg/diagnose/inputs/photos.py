"""Photos prepared again from their files, for both sides.

What belongs here: from inputs and files to the two recipes and what they differ in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_modelreg.diagnose.inputs.decoding import open_photo
from pytest_modelreg.diagnose.inputs.finding import Group
from pytest_modelreg.diagnose.inputs.known_points import PointPair
from pytest_modelreg.diagnose.inputs.pair import Floats, measure_distance
from pytest_modelreg.diagnose.inputs.picture import Picture, find_colours, view_picture, view_points
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.diagnose.inputs.recipe import Side
from pytest_modelreg.diagnose.inputs.settings import compare_settings
from pytest_modelreg.diagnose.inputs.sides import Made, Sides, identify_sides

_AS_WELL = 2.0
"""How many times more a recipe may leave of a photo that it was not searched on."""

_ONE_LEVEL = 0.02
"""rel_l2 that a recipe may leave in any case: rounding of a level in dark photos."""


def replay_photos(
    group: Group, pictures: Sequence[tuple[str, Picture, Picture]], has_time: Callable[[], bool]
) -> Replay | None:
    """Return which settings of a preprocessing of photos changed.

    Parameters
    ----------
    group : Group
        What the findings are about; its files are read.
    pictures : sequence of (sample, expected, actual)
        Every sample, those that agree too; of expected, points may be all that is known.
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
    left = max(made.measure(sides.affected) for made in sides.both)
    level = float(np.abs(sides.golden.fit.affine.scale).max())
    return Replay(findings=tuple(findings), left=left, pairs=(), level=level, undo=_Remaking(sides=sides))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Remaking:
    """The golden's recipe, applied to the files of other samples whose inputs of today follow today's."""

    sides: Sides

    def __call__(self, pair: PointPair, actual: Floats) -> Floats | None:
        photo = None if pair.file is None else open_photo(pair.file)
        pictures = view_points(pair.expected), view_picture(actual)
        axis = find_colours(pair.expected.shape)
        if photo is None or axis is None:
            return None
        remade = []
        for made, picture in zip(self.sides.both, pictures, strict=True):
            if picture is None or picture.shape[0] != made.side.n_channels:
                return None
            best = _remake(made, Side({pair.sample: picture}, {pair.sample: photo}), pair.sample)
            if best is None:
                return None
            remade.append(best)
        golden, today = remade
        limit = max(_AS_WELL * self.sides.today.measure(self.sides.affected), _ONE_LEVEL)
        return np.moveaxis(golden[1], 0, axis) if today[0] <= limit else None


def _remake(made: Made, side: Side, sample: str) -> tuple[float, Floats] | None:
    """Return the best of what a recipe makes of a photo, by any decoding, with its rel_l2."""
    known = side.pictures[sample]
    best: tuple[float, Floats] | None = None
    for decoding in side.photos[sample].list_decodings(is_reduced=True):
        picture = side.replay(replace(made.recipe, decodings={sample: decoding}), made.fit, sample)
        if picture is None:
            continue
        left = measure_distance([(known.values, known.take(picture))])
        if best is None or left < best[0]:
            best = (left, picture)
    return best
