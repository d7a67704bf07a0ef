"""Photo by photo, how it was decoded: the way that leaves least of what a recipe makes.

What belongs here: choosing among the decodings that a photo leaves open, once the rest of a recipe is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from pytest_modelreg.diagnose.inputs.affine import take_root
from pytest_modelreg.diagnose.inputs.decoding import Decoding
from pytest_modelreg.diagnose.inputs.recipe import Fit, Recipe, Side

_HALF = 0.5
_BETTER = 0.97  # what a less usual decoding must leave, as a part of what the more usual one leaves


class DecodingChoice:
    """The choice on one side.

    Parameters
    ----------
    side : Side
        What was fed.
    has_time : callable
        Asked before each photo.
    """

    def __init__(self, side: Side, has_time: Callable[[], bool]) -> None:
        self._side = side
        self._has_time = has_time

    def choose_all(self, recipe: Recipe, fit: Fit) -> Recipe:
        """Return the recipe with the best decoding of every photo that leaves a choice."""
        is_reduced = any(
            self._side.photos[sample].ways[each.way].reduction > 1
            for sample, each in recipe.decodings.items()
        )
        chosen = dict(recipe.decodings)
        for sample, photo in self._side.photos.items():
            decodings = photo.list_decodings(is_reduced=is_reduced)
            if len(decodings) > 1 and self._has_time():
                chosen[sample] = self._choose(recipe, fit, sample, decodings)
        return replace(recipe, decodings=chosen)

    def _choose(self, recipe: Recipe, fit: Fit, sample: str, decodings: Iterable[Decoding]) -> Decoding:
        """Return the decoding that leaves least; of two that are nearly as good, the one before."""
        best: tuple[float, Decoding] | None = None
        for decoding in decodings:
            gap = self.find_gap(replace(recipe, decodings={sample: decoding}), fit, sample)
            if best is None or gap < _BETTER * best[0]:
                best = (gap, decoding)
        assert best is not None  # a photo has at least its usual decoding
        return best[1]

    def reduce(self, recipe: Recipe, fit: Fit, samples: Sequence[str]) -> tuple[Recipe, Fit]:
        """Return the recipe with some photos decoded at a reduced size, where that halves what is left."""
        chosen = dict(recipe.decodings)
        for sample in samples:
            photo = self._side.photos[sample]
            usual = photo.list_decodings()
            own = chosen.get(sample, photo.usual)
            others = [each for each in photo.list_decodings(is_reduced=True) if each not in usual]
            others = [each for each in others if each.is_turned == own.is_turned]
            if others and self._has_time():
                chosen[sample] = self._choose(recipe, fit, sample, [own, *others])
        reduced = replace(recipe, decodings=chosen)
        if reduced == recipe:
            return recipe, fit
        found = self._side.fit(reduced, samples)
        return (reduced, found) if found and found.residual <= _HALF * fit.residual else (recipe, fit)

    def find_gap(self, recipe: Recipe, fit: Fit, sample: str) -> float:
        """Return what a recipe with a fit's constants leaves of one picture, as a part of its deviation."""
        replayed = self._side.replay(recipe, fit, sample)
        if replayed is None:
            return float("inf")
        picture = self._side.pictures[sample]
        gap = (picture.values - picture.take(replayed)).astype(np.float64)
        spread = picture.values.astype(np.float64).std(axis=1, keepdims=True) * np.ones_like(gap)
        return take_root(float(np.sum(gap * gap)), float(np.sum(spread * spread)))
