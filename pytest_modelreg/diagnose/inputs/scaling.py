"""What the constants of a line mean: the ways in which people scale and normalise pictures.

What belongs here: one :class:`Scaling` for each. To add one, add a line to ``_BASES``; variations (twice,
blue first, constants swapped) are made of every base. A scaling is ``value = (level - mean) / std`` with
levels of 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVELS = "0 to 255"
UNIT = "0 to 1"
TOP = 255.0
"""The largest level."""

_BASES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    # Mean and standard deviation of levels divided by 255.
    "-1 to 1": ((0.5,) * 3, (0.5,) * 3),
    "(x - 127) / 128": ((127 / TOP,) * 3, (128 / TOP,) * 3),
    "(x - 127.5) / 128": ((0.5,) * 3, (128 / TOP,) * 3),
    "(x - 128) / 128": ((128 / TOP,) * 3, (128 / TOP,) * 3),
    "ImageNet's mean and deviation": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "CLIP's mean and deviation": ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
    "CIFAR-10's mean and deviation": ((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)),
    "CIFAR-10's mean and deviation (0.2023)": ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.201)),
    "CIFAR-100's mean and deviation": ((0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)),
    "MNIST's mean and deviation": ((0.1307,) * 3, (0.3081,) * 3),
    "ImageNet's means subtracted from 0 to 255": ((0.485, 0.456, 0.406), (1 / TOP,) * 3),
    "Caffe's means subtracted from 0 to 255": (
        (123.68 / TOP, 116.779 / TOP, 103.939 / TOP),
        (1 / TOP,) * 3,
    ),
}
_RANGES = {LEVELS: 1.0, UNIT: TOP, "0 to 1 (of 256)": 256.0, "0 to 1/255": TOP * TOP, "0 to 2": 127.5}


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


def is_range_change(expected: Scaling, actual: Scaling) -> bool:
    """Whether the range of values changed: 0 to 1 where a normalisation was is a missing normalisation."""
    return actual.is_range and (expected.is_range or actual.name != UNIT)


def list_scalings(n_channels: int) -> list[Scaling]:
    """Return every scaling for that many channels, the least odd first."""
    return [scaling for scaling in _ALL if scaling.mean.size == n_channels] or [
        scaling for scaling in _RANGE_SCALINGS if scaling.mean.size == 1
    ]


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
        top: float = TOP,
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
        scaling(", applied to 0 to 1/255", 4, mean, std, TOP * TOP, is_range=True),
        scaling(", mean and deviation swapped", 4, std, mean),
    ]
    in_levels = Scaling(
        name=f"{name}, applied twice",
        is_range=False,
        n_oddities=3,
        mean=mean * TOP * (1 + std * TOP),
        std=(std * TOP) ** 2,
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
