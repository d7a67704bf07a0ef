"""What the constants of a line mean: the ways in which people scale and normalise pictures.

What belongs here: one :class:`Scaling` for each, and finding the pair of them that a line leads from one
to the other. To add one, add a line to ``_BASES``; variations (twice, blue first, constants swapped) are
made of every base. A scaling is ``value = (level - mean) / std`` with levels of 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Affine

LEVELS = "0 to 255"
UNIT = "0 to 1"
_TOP = 255.0
_MATCHING = 2e-3
_ON_GRID = 0.02  # mean distance from whole levels; no grid gives 0.25
_SLACK = 48.0  # levels that cubics overshoot by
_MOST_OUTSIDE = 0.01
_LEAST_SPAN = 0.1
_UNLIKELY = 0.4

_BASES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    # Mean and standard deviation of levels divided by 255.
    "-1 to 1": ((0.5,) * 3, (0.5,) * 3),
    "(x - 127) / 128": ((127 / _TOP,) * 3, (128 / _TOP,) * 3),
    "(x - 127.5) / 128": ((0.5,) * 3, (128 / _TOP,) * 3),
    "(x - 128) / 128": ((128 / _TOP,) * 3, (128 / _TOP,) * 3),
    "ImageNet's mean and deviation": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "CLIP's mean and deviation": ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
    "CIFAR-10's mean and deviation": ((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)),
    "CIFAR-10's mean and deviation (0.2023)": ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.201)),
    "CIFAR-100's mean and deviation": ((0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)),
    "MNIST's mean and deviation": ((0.1307,) * 3, (0.3081,) * 3),
    "ImageNet's means subtracted from 0 to 255": ((0.485, 0.456, 0.406), (1 / _TOP,) * 3),
    "Caffe's means subtracted from 0 to 255": (
        (123.68 / _TOP, 116.779 / _TOP, 103.939 / _TOP),
        (1 / _TOP,) * 3,
    ),
}
_RANGES = {LEVELS: 1.0, UNIT: _TOP, "0 to 1 (of 256)": 256.0, "0 to 1/255": _TOP * _TOP, "0 to 2": 127.5}


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling:
    """``value = (level - mean) / std``.

    Parameters
    ----------
    name : str
        As evidence and sentences take it.
    is_range : bool
        Whether it sets the range only.
    n_oddities : int
        How odd it is: of two that fit, the less odd one is meant.
    mean, std : numpy.ndarray
        float64, axes (channel,), levels.
    """

    name: str
    is_range: bool
    n_oddities: int
    mean: NDArray[np.float64]
    std: NDArray[np.float64]


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


def is_range_change(expected: Scaling, actual: Scaling) -> bool:
    """Whether the range of values changed: 0 to 1 where a normalisation was is a missing normalisation."""
    return actual.is_range and (expected.is_range or actual.name != UNIT)


def list_scalings(n_channels: int) -> list[Scaling]:
    """Return every scaling for that many channels, the least odd first."""
    return [scaling for scaling in _ALL if scaling.mean.size == n_channels] or [
        scaling for scaling in _RANGE_SCALINGS if scaling.mean.size == 1
    ]


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
        f"{what} {'/'.join(f'{value / _TOP:.4g}' for value in values)}"
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


def _read_division(line: Affine) -> Reading | None:
    """Return a line that divides levels by 255 once more, or once less, before constants of its own."""
    for factor, what in ((_TOP, "divided by 255 once more"), (1.0 / _TOP, "not divided by 255")):
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
    outside = float(np.mean((levels < -slack) | (levels > _TOP + slack)))
    odd = float(outside > _MOST_OUTSIDE) + float(np.ptp(levels) < _LEAST_SPAN * _TOP)
    return odd + (0.0 if off_grid < _ON_GRID else _UNLIKELY)


def _leads(line: Affine, start: Scaling, end: Scaling, slack: float) -> bool:
    """Whether a line takes the values of one scaling to another's, for the levels 0 and 255."""
    for level in (0.0, _TOP):
        there = line.scale * (level - start.mean) / start.std + line.offset
        if np.any(np.abs(there - (level - end.mean) / end.std) > slack * _TOP / end.std):
            return False
    return True


def _make_all() -> tuple[list[Scaling], list[Scaling]]:
    ranges = [
        Scaling(name=name, is_range=True, n_oddities=odd, mean=np.zeros(n), std=np.full(n, std))
        for n in (1, 3)
        for odd, (name, std) in enumerate(_RANGES.items())
    ]
    found = list(ranges)
    for name, (mean_parts, std_parts) in _BASES.items():
        mean, std = np.array(mean_parts), np.array(std_parts)
        for n in (1, 3):
            if n == 1 and np.ptp(mean) + np.ptp(std) > 0:
                continue
            found += _vary(name, mean[:n], std[:n])
    return found, ranges


def _vary(name: str, mean: NDArray[np.float64], std: NDArray[np.float64]) -> list[Scaling]:
    """Return a normalisation and the ways to get it wrong; mean and deviation of levels over 255."""
    zero, one = np.zeros_like(mean), np.ones_like(mean)

    def scaling(
        what: str,
        odd: int,
        mean: NDArray[np.float64],
        std: NDArray[np.float64],
        top: float = _TOP,
        *,
        is_range: bool = False,
    ) -> Scaling:
        return Scaling(
            name=f"{name}{what}", is_range=is_range, n_oddities=odd, mean=mean * top, std=std * top
        )

    varied = [
        scaling("", 1, mean, std),
        scaling(", applied twice", 3, mean * (1 + std), std * std),
        scaling(", mean only", 3, mean, one),
        scaling(", deviation only", 3, zero, std),
        scaling(", applied to 0 to 255", 3, mean, std, 1.0, is_range=True),
        scaling(", applied to 0 to 1/255", 4, mean, std, _TOP * _TOP, is_range=True),
        scaling(", mean and deviation swapped", 4, std, mean),
    ]
    in_levels = Scaling(
        name=f"{name}, applied twice",
        is_range=False,
        n_oddities=3,
        mean=mean * _TOP * (1 + std * _TOP),
        std=(std * _TOP) ** 2,
    )
    varied.append(in_levels)
    if np.ptp(mean) + np.ptp(std) > 0:
        varied += [
            scaling(", constants blue first", 3, mean[::-1], std[::-1]),
            scaling(", mean blue first", 4, mean[::-1], std),
            scaling(", deviation blue first", 4, mean, std[::-1]),
        ]
    return varied


_ALL, _RANGE_SCALINGS = _make_all()
