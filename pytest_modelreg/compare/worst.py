"""The places that differ most, kept while passing over blocks."""

from __future__ import annotations

import math

import numpy as np

from pytest_modelreg.compare.measures import FloatArray, MaskArray, WorstElement
from pytest_modelreg.compare.rows import Band

N_WORST = 20


class WorstElements:
    """At most 20 elements: largest difference first, the earlier of equals first.

    Elements that are non-finite on one side only come before all, in their order.
    """

    def __init__(self) -> None:
        self._finite: list[WorstElement] = []
        self._one_sided: list[WorstElement] = []

    @property
    def threshold(self) -> float:
        """The difference that a further finite element has to exceed, the output's unit."""
        return self._finite[-1].absolute if len(self._finite) == N_WORST else 0.0

    def add_finite(self, band: Band, absolute: FloatArray, origin: tuple[int, int]) -> None:
        """Offer the elements of one tile.

        Parameters
        ----------
        band : Band
            The band that the tile is from.
        absolute : ndarray of float64, axes (row, element)
            |actual - expected|, 0 where not finite.
        origin : tuple of int
            Where the tile starts in its band: row, element.
        """
        flat = absolute.reshape(-1)
        places = np.flatnonzero(flat > self.threshold)
        values = flat[places]
        if len(places) > N_WORST:
            # Only elements above or at the 20th largest can stay; of equals the earliest do,
            # whatever the size of the blocks, because the sort is stable.
            smallest = np.partition(values, -N_WORST)[-N_WORST]
            above = np.flatnonzero(values > smallest)
            equal = np.flatnonzero(values == smallest)[: N_WORST - len(above)]
            kept = np.sort(np.concatenate([above, equal]))
            places, values = places[kept], values[kept]
        found = [
            _describe(band, place, absolute.shape[1], origin, value)
            for place, value in zip(places.tolist(), values.tolist(), strict=True)
        ]
        self._finite = sorted([*self._finite, *found], key=lambda element: -element.absolute)[:N_WORST]

    def add_one_sided(self, band: Band, mask: MaskArray, origin: tuple[int, int]) -> None:
        """Offer the elements of one tile that are not finite on one side only."""
        missing = N_WORST - len(self._one_sided)
        self._one_sided += [
            _describe(band, place, mask.shape[1], origin, math.inf)
            for place in np.flatnonzero(mask)[:missing].tolist()
        ]

    def sorted(self) -> tuple[WorstElement, ...]:
        """Return what was kept, worst first."""
        return tuple([*self._one_sided, *self._finite][:N_WORST])


def _describe(band: Band, place: int, width: int, origin: tuple[int, int], absolute: float) -> WorstElement:
    """Describe the element at flat ``place`` of a tile of this width."""
    row, at = origin[0] + place // width, origin[1] + place % width
    return WorstElement(
        pair=band.start + row,
        index=tuple(int(axis) for axis in np.unravel_index(at, band.row_shape)) if band.row_shape else (),
        expected=band.expected[row, at].item(),
        actual=band.actual[row, at].item(),
        absolute=absolute,
    )
