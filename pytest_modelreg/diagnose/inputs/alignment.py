"""The arrangement, order of channels and line that bring one set of arrays nearest to another.

What belongs here: choosing among the arrangements, by what each leaves after the best line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from pytest_modelreg.diagnose.inputs.affine import Affine, Moments, Order, take_root
from pytest_modelreg.diagnose.inputs.arrangement import (
    Arrangement,
    flatten_channels,
    list_arrangements,
)
from pytest_modelreg.diagnose.inputs.known_points import Expected, KnownPoints, lay_beside
from pytest_modelreg.diagnose.inputs.pair import Floats
from pytest_modelreg.trace import find_channel_axis

_MOST_MATCHED = 64
_MOST_ENUMERATED = 4
_HALF = 0.5  # what a rearrangement must leave of what is left without it
_LEAST_ELEMENTS = 8


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


def rearrange(pairs: Sequence[tuple[Expected, Floats]]) -> Rearranged | None:
    """Return the arrangement, order of channels and line that bring actual nearest to expected.

    A change is taken only if it halves what is left: on photos, wrong channels are still alike.

    Parameters
    ----------
    pairs : sequence of (expected, actual)
        Finite; each side of one number of axes. Shapes may differ from sample to sample. What is known of
        expected at points only is compared there.

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


def _sum_up(pairs: Sequence[tuple[Expected, Floats]], name: str) -> Moments:
    axis = _find_axis(pairs[0][0])
    n_channels = pairs[0][0].shape[axis] if axis is not None else 1
    if any(axis is not None and expected.shape[axis] != n_channels for expected, _ in pairs):
        axis, n_channels = None, 1
    moments = Moments(n_channels)
    for expected, actual in pairs:
        (template,) = [each for each in list_arrangements(expected.shape, actual.shape) if each.name == name]
        known, placed = lay_beside(expected, template.apply(actual))
        if axis is not None and isinstance(expected, KnownPoints):
            moments.add(placed, known)
        else:
            moments.add(flatten_channels(placed, axis), flatten_channels(known, axis))
    return moments


def _find_axis(expected: Expected) -> int | None:
    return expected.axis if isinstance(expected, KnownPoints) else find_channel_axis(expected.shape)


def _list_orders(moments: Moments) -> list[Order]:
    n_channels = moments.n_channels
    usual = tuple(range(n_channels))
    if n_channels <= _MOST_ENUMERATED:
        return list(permutations(usual))
    matched = moments.match_channels() if n_channels <= _MOST_MATCHED else None
    return [usual] if matched in (None, usual) else [usual, matched or usual]
