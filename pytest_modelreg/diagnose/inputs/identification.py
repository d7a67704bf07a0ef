"""Which recipe made what a model was fed: a search from coarse to fine, one setting after the other.

What belongs here: the order in which settings are tried. The geometry goes first, on small grey copies;
then the interpolation; then the geometry's last pixels; then, photo by photo, how it was decoded.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_modelreg.diagnose.inputs.decoding_choice import DecodingChoice
from pytest_modelreg.diagnose.inputs.geometry import SQUASH, Geometry, list_rules
from pytest_modelreg.diagnose.inputs.interpolation import INTERPOLATIONS
from pytest_modelreg.diagnose.inputs.recipe import Fit, Recipe, Side
from pytest_modelreg.diagnose.inputs.thumbnail import Thumbnail, score_rule
from pytest_modelreg.diagnose.inputs.treatment import TREATMENTS

EXACT = 5e-3
"""Residual below which nothing better is looked for: half a grey level in a photo of usual contrast."""

_IDENTICAL = 1e-5
_ROUNDED = 1e-4  # residual with half pixels rounded rightly: one photo of many that is not shows
_NEAR = 0.05  # residual of a geometry that is right but for a pixel
_HALF = 0.5
_BETTER = 0.97  # what a less simple setting must leave, as a part of what the simpler one leaves
_N_SEARCHED = 4
_N_TREATED = 2
_N_FINALISTS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Identified:
    """The recipe that makes a side best.

    Parameters
    ----------
    recipe : Recipe
        The settings.
    fit : Fit
        Over the photos that leave no choice of decoding, else over all.
    """

    recipe: Recipe
    fit: Fit


class Identification:
    """The search on one side.

    Parameters
    ----------
    side : Side
        What was fed.
    affected : sequence of str
        Samples that differ between the sides, of the side's.
    has_time : callable
        Asked before each step.
    """

    def __init__(self, side: Side, affected: Sequence[str], has_time: Callable[[], bool]) -> None:
        self._side = side
        self._has_time = has_time
        self.decodings = DecodingChoice(side, has_time)
        plain = [sample for sample in side.pictures if side.photos[sample].is_plain]
        self.plain = plain or list(side.pictures)
        searched = [sample for sample in self.plain if sample in set(affected)] or self.plain
        self._searched = _spread(searched, side)

    def search(self, start: Recipe | None) -> Identified | None:
        """Return the best recipe, None where no rule applies to the photos.

        Parameters
        ----------
        start : Recipe, optional
            The other side's, which is tried first.
        """
        recipe = start
        fit = self._fit(start) if start else None
        if recipe and fit and fit.residual > EXACT:
            recipe, fit = self.decodings.reduce(recipe, fit, self._searched)
        if recipe and fit and fit.residual > _IDENTICAL:
            recipe, fit = self._vary_interpolation(recipe) or (recipe, fit)
        if recipe and fit and EXACT < fit.residual <= _NEAR:
            recipe, fit = self._refine(recipe, fit)
        elif recipe is None or fit is None or fit.residual > _NEAR:
            found = self._search_geometry()
            if found and (fit is None or found[1].residual < _BETTER * fit.residual):
                recipe, fit = found
        if recipe is None or fit is None:
            return None
        if fit.residual > EXACT:
            recipe, fit = self._treat(recipe, fit, start)
        rounded = self._round(recipe, self.plain)
        if rounded != recipe:
            recipe, fit = self._vary_interpolation(rounded) or (rounded, fit)
        fit = self._side.fit(recipe, self.plain) or fit
        recipe = self._decode_and_round(recipe, fit)
        return Identified(recipe=recipe, fit=self._side.fit(recipe, self.plain) or fit)

    def _decode_and_round(self, recipe: Recipe, fit: Fit) -> Recipe:
        """Return the recipe with the best decoding of every photo, and half pixels rounded as that asks."""
        everything = list(self._side.pictures)
        decoded = self.decodings.choose_all(recipe, fit)
        whole = self._side.fit(decoded, everything)
        if whole is None or whole.residual <= _ROUNDED or recipe.geometry.rule == SQUASH:
            return decoded
        # A photo that is rounded wrongly looks as if it were decoded otherwise.
        others = recipe.geometry.list_roundings()[1:]
        tried = (self.decodings.choose_all(replace(recipe, geometry=rule), fit) for rule in others)
        best = self._choose(itertools.chain([decoded], tried), everything)
        return best[0] if best else decoded

    def _round(self, recipe: Recipe, samples: Sequence[str]) -> Recipe:
        """Return the recipe with half pixels rounded as all samples ask for: a few may hold none."""
        fit = self._side.fit(recipe, samples)
        if fit is None or fit.residual <= EXACT or recipe.geometry.rule == SQUASH:
            return recipe
        roundings = [replace(recipe, geometry=rule) for rule in recipe.geometry.list_roundings()]
        best = self._choose(roundings, samples)
        return best[0] if best else recipe

    def _fit(self, recipe: Recipe) -> Fit | None:
        return self._side.fit(recipe, self._searched)

    def _search_geometry(self) -> tuple[Recipe, Fit] | None:
        finalists = self._rank_rules()[:_N_FINALISTS]
        best: tuple[Recipe, Fit] | None = None
        for rule in finalists:
            found = self._vary_interpolation(Recipe(geometry=rule))
            if found and (best is None or found[1].residual < _BETTER * best[1].residual):
                best = found
            if best and best[1].residual <= EXACT:
                return best
        return self._refine(*best) if best else None

    def _refine(self, recipe: Recipe, fit: Fit) -> tuple[Recipe, Fit]:
        """Return the recipe with the last pixels of its geometry right."""
        while fit.residual > EXACT and self._has_time():
            near = (replace(recipe, geometry=rule) for rule in recipe.geometry.list_neighbours())
            found = self._choose(near)
            if found is None or found[1].residual > _BETTER * fit.residual:
                break
            recipe, fit = self._vary_interpolation(found[0]) or found
        return recipe, fit

    def _choose(
        self, recipes: Iterable[Recipe], samples: Sequence[str] | None = None
    ) -> tuple[Recipe, Fit] | None:
        """Return the recipe that leaves least; of two that are nearly as good, the one before."""
        best: tuple[Recipe, Fit] | None = None
        for recipe in recipes:
            if not self._has_time():
                break
            fit = self._side.fit(recipe, samples or self._searched)
            if fit and (best is None or fit.residual < _BETTER * best[1].residual):
                best = (recipe, fit)
        return best

    def _vary_interpolation(self, recipe: Recipe) -> tuple[Recipe, Fit] | None:
        """Return the best interpolation, the recipe's own first, then what is nearly the same as the best."""
        bases = [
            name for name, each in INTERPOLATIONS.items() if not each.base and name != recipe.interpolation
        ]
        best = self._choose([recipe, *(replace(recipe, interpolation=name) for name in bases)])
        if best is None or best[1].residual <= _IDENTICAL:
            return best
        own = INTERPOLATIONS[best[0].interpolation]
        near = [name for name, each in INTERPOLATIONS.items() if own.name in (each.base, each.name)]
        return self._choose(replace(recipe, interpolation=name) for name in near)

    def _treat(self, recipe: Recipe, fit: Fit, start: Recipe | None) -> tuple[Recipe, Fit]:
        """Return the recipe with what happens to photos before the resize, if that halves what is left."""
        bases = [recipe] if start in (None, recipe) else [start or recipe, recipe]
        tried = [replace(base, treatment=name) for base in bases for name in TREATMENTS]
        # They take long on large photos, and show on any: two are enough to choose by.
        treated = self._choose([recipe, *tried], self._searched[:_N_TREATED])
        if treated is None or treated[0].treatment == recipe.treatment:
            return recipe, fit
        whole = self._fit(treated[0])
        if whole is None or whole.residual > _HALF * fit.residual:
            return recipe, fit
        return self._vary_interpolation(treated[0]) or treated

    def _rank_rules(self) -> list[Geometry]:
        """Return rules by how well they make small grey copies, the best first."""
        thumbnails = {sample: Thumbnail(self._side, sample) for sample in self._searched}
        _, height, width = self._side.pictures[self._searched[0]].shape
        scores: dict[Geometry, float] = {}

        def score(rule: Geometry) -> None:
            if rule not in scores and self._has_time():
                scores[rule] = score_rule(rule, thumbnails.values())

        for rule in list_rules(width, height):
            score(rule)
        for rule in _sort(scores)[:_N_FINALISTS]:
            if rule.resized_px is not None:
                step = max(1, min(height, width) // 50)
                for change in range(-step, step + 1):
                    if rule.resized_px + change >= min(height, width):
                        score(replace(rule, resized_px=rule.resized_px + change))
        return _sort(scores)


def _sort(scores: dict[Geometry, float]) -> list[Geometry]:
    """Return rules by score; of equally good ones the simplest, which was scored first."""
    return sorted(scores, key=lambda rule: round(scores[rule], 3))


def _spread(samples: Sequence[str], side: Side) -> list[str]:
    """Return a few samples whose photos differ in shape: square ones tell rules not apart."""

    def shape(sample: str) -> float:
        image = side.photos[sample].image
        return float(image.width / image.height)

    ordered = sorted(samples, key=lambda sample: (shape(sample), sample))
    picks = np.linspace(0, len(ordered) - 1, min(_N_SEARCHED, len(ordered))).round().astype(int)
    return [ordered[pick] for pick in dict.fromkeys(picks.tolist())]
