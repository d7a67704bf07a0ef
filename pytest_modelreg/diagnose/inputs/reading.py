"""What a line between two sides means: from which scaling it leads to which.

What belongs here: finding the pair of known scalings that a line joins, by its constants and by what the
values of each side look like, and naming constants that are not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Affine
from pytest_modelreg.diagnose.inputs.scaling import LEVELS, TOP, Scaling, is_range_change, list_scalings

_MATCHING = 2e-3
_ON_GRID = 0.02  # mean distance from whole levels; no grid gives 0.25
_SLACK = 48.0  # levels that cubics overshoot by
_MOST_OUTSIDE = 0.01
_LEAST_SPAN = 0.1
_UNLIKELY = 0.4


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """A line between two sides, read as two scalings.

    Parameters
    ----------
    expected, actual : Scaling
        The golden's and today's.
    """

    expected: Scaling
    actual: Scaling

    @property
    def is_range(self) -> bool:
        """Whether the range of values changed rather than a normalisation."""
        return is_range_change(self.expected, self.actual)


def name_scaling(affine: Affine, slack: float = 0.0) -> Scaling | None:
    """Return the scaling whose constants a line from levels has, None for none.

    Parameters
    ----------
    slack : float
        How far off the line may be, as a part of what levels span.
    """
    levels = Scaling(name=LEVELS, is_range=True, n_oddities=0, mean=np.zeros(1), std=np.ones(1))
    matching = (
        scaling
        for scaling in list_scalings(affine.scale.size)
        if _leads(affine, levels, scaling, max(slack, _MATCHING))
    )
    return min(matching, key=lambda scaling: scaling.n_oddities, default=None)


def make_scaling(affine: Affine, slack: float = 0.0) -> Scaling:
    """Return the scaling of a line from levels, named by its constants where it has no other name."""
    known = name_scaling(affine, slack)
    if known:
        return known
    with np.errstate(all="ignore"):
        std = 1.0 / affine.scale
        mean = -affine.offset * std
    constants = " and ".join(
        f"{what} {'/'.join(f'{value / TOP:.4g}' for value in values)}"
        for what, values in (("mean", mean), ("deviation", std))
    )
    return Scaling(name=constants, is_range=False, n_oddities=9, mean=mean, std=std)


def read_line(
    line: Affine, expected: NDArray[np.float64], actual: NDArray[np.float64], slack: float = 0.0
) -> Reading | None:
    """Return the pair of scalings that a line from actual to expected leads between, None for none.

    Parameters
    ----------
    line : Affine
        ``expected = scale * actual + offset``.
    expected, actual : numpy.ndarray
        Some values of the two sides, axes (channel, element), channels in the line's order. They tell
        which of several pairs with the same line is meant: levels lie between 0 and 255, and are whole
        numbers where a photo was resized as one.
    slack : float
        How far off the line may be, as a part of what levels span.
    """
    slack = max(slack, _MATCHING)
    scalings = list_scalings(line.scale.size)
    oddness_e = [_rate(scaling, expected) for scaling in scalings]
    oddness_a = [_rate(scaling, actual) for scaling in scalings]
    pairs = [
        (oddness_e[i] + oddness_a[j], e.n_oddities + a.n_oddities, i, j)
        for i, e in enumerate(scalings)
        for j, a in enumerate(scalings)
        if i != j and oddness_e[i] < 1.0 and oddness_a[j] < 1.0 and _leads(line, a, e, slack)
    ]
    if pairs:
        *_, i, j = min(pairs)
        return Reading(expected=scalings[i], actual=scalings[j])
    again = _read_division(line)
    if again is not None:
        return again
    known_e, known_a = _pick(scalings, oddness_e), _pick(scalings, oddness_a)
    if known_a:
        scale = line.scale / known_a.std
        other = Affine(scale=scale, offset=line.offset - scale * known_a.mean)
        return Reading(expected=make_scaling(other, slack), actual=known_a)
    if known_e and np.all(line.scale != 0.0):
        scale = 1.0 / (known_e.std * line.scale)
        offset = (-known_e.mean / known_e.std - line.offset) / line.scale
        return Reading(expected=known_e, actual=make_scaling(Affine(scale=scale, offset=offset), slack))
    return None


def find_scaling(values: NDArray[np.float64]) -> Scaling | None:
    """Return the scaling that values, axes (channel, element), are of by their own account, None for none."""
    scalings = [scaling for scaling in list_scalings(values.shape[0]) if scaling.mean.size == values.shape[0]]
    return _pick(scalings, [_rate(scaling, values) for scaling in scalings]) if scalings else None


def _read_division(line: Affine) -> Reading | None:
    """Return a line that divides levels by 255 once more, or once less, before constants of its own."""
    for factor, what in ((TOP, "divided by 255 once more"), (1.0 / TOP, "not divided by 255")):
        if np.allclose(line.scale, factor, rtol=_MATCHING, atol=0.0):
            mean, std = np.zeros_like(line.scale), np.ones_like(line.scale)
            return Reading(
                expected=Scaling(
                    name="the golden's constants", is_range=True, n_oddities=0, mean=mean, std=std
                ),
                actual=Scaling(
                    name=f"the golden's constants, {what}",
                    is_range=True,
                    n_oddities=1,
                    mean=-line.offset / line.scale,
                    std=std * factor,
                ),
            )
    return None


def _pick(scalings: list[Scaling], oddness: list[float]) -> Scaling | None:
    """Return the scaling that values are of by their own account: they are whole levels in no other."""
    rated = [
        (odd, scaling.n_oddities, index)
        for index, (odd, scaling) in enumerate(zip(oddness, scalings, strict=True))
    ]
    odd, _, index = min(rated)
    return scalings[index] if odd == 0.0 else None


def _rate(scaling: Scaling, values: NDArray[np.float64]) -> float:
    """Return how little values look like a scaling's: 0 for well, 1 or more for not at all."""
    levels = values * scaling.std[:, np.newaxis] + scaling.mean[:, np.newaxis]
    off_grid = float(np.mean(np.abs(levels - np.round(levels))))
    slack = 1.0 if off_grid < _ON_GRID else _SLACK  # whole levels were clipped when they were rounded
    outside = float(np.mean((levels < -slack) | (levels > TOP + slack)))
    odd = float(outside > _MOST_OUTSIDE) + float(np.ptp(levels) < _LEAST_SPAN * TOP)
    return odd + (0.0 if off_grid < _ON_GRID else _UNLIKELY)


def _leads(line: Affine, start: Scaling, end: Scaling, slack: float) -> bool:
    """Whether a line takes the values of one scaling to another's, for the levels 0 and 255."""
    for level in (0.0, TOP):
        there = line.scale * (level - start.mean) / start.std + line.offset
        if np.any(np.abs(there - (level - end.mean) / end.std) > slack * TOP / end.std):
            return False
    return True
