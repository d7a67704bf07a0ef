"""Both sides of a case as photos with the recipes that made them, and whether a setting tells them apart.

What belongs here: identifying the two recipes, and crossing them: replaying either side with one setting
of the other's. A setting counts as changed only if that is clearly worse on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_modelreg.diagnose.inputs.affine import Order
from pytest_modelreg.diagnose.inputs.decoding import Decoding, Photo, open_photo
from pytest_modelreg.diagnose.inputs.finding import Group
from pytest_modelreg.diagnose.inputs.identification import Identification, Identified
from pytest_modelreg.diagnose.inputs.pair import Floats, measure_distance
from pytest_modelreg.diagnose.inputs.picture import N_COLOURS, Picture
from pytest_modelreg.diagnose.inputs.recipe import Fit, Recipe, Side

CLEARLY = 1.5
"""How many times more a wrong setting must leave."""

_FLOOR = 1e-4  # residual below which two replays are equally exact
_TELLING = 0.5  # residual above which a recipe tells nothing of a side


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """One side with what made it.

    Parameters
    ----------
    side : Side
        What was fed.
    search : Identification
        That found the recipe.
    identified : Identified
        The recipe.
    """

    side: Side
    search: Identification
    identified: Identified

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        return self.identified.recipe

    @property
    def fit(self) -> Fit:
        """Its constants."""
        return self.identified.fit

    def measure(self, samples: Sequence[str]) -> float:
        """Return the rel_l2 of what the recipe makes of the samples; infinite where it makes none."""
        replayed = [
            (known.values, known.take(picture))
            for sample in samples
            if (picture := self.side.replay(self.recipe, self.fit, sample)) is not None
            and (known := self.side.pictures[sample])
        ]
        return measure_distance(replayed) if replayed else float("inf")

    def find_gap(self, sample: str, decoding: Decoding) -> float:
        """Return what the recipe leaves of one picture when its photo is decoded so."""
        return self.search.decodings.find_gap(
            replace(self.recipe, decodings={sample: decoding}), self.fit, sample
        )

    def compare(self, recipe: Recipe, order: Order | None = None) -> float:
        """Return how many times more another recipe leaves, or the same in another order of channels."""
        fit = self.side.fit(recipe, self.search.plain, order)
        return divide(fit.residual if fit else float("inf"), self.fit.residual)


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides:
    """Both sides.

    Parameters
    ----------
    group : Group
        What they are of.
    golden, today : Made
        The two.
    affected : tuple of str
        Samples that differ, of those whose files could be read.
    """

    group: Group
    golden: Made
    today: Made
    affected: tuple[str, ...]

    @property
    def both(self) -> tuple[Made, Made]:
        """The golden's side, then today's."""
        return self.golden, self.today

    def measure_gap(self, samples: Sequence[str]) -> float:
        """Return the rel_l2 of today's inputs, 1 where shapes differ."""
        pairs = self.pair_pictures(samples)
        return 1.0 if pairs is None else measure_distance(pairs)

    def pair_pictures(self, samples: Sequence[str]) -> list[tuple[Floats, Floats]] | None:
        """Return what is known of both sides' pictures, axes (channel, place); None where shapes differ."""
        pairs: list[tuple[Floats, Floats]] = []
        for sample in samples:
            expected, actual = (made.side.pictures[sample] for made in self.both)
            if expected.shape != actual.shape:
                return None
            whole = actual.whole
            pairs.append((expected.values, actual.values if whole is None else expected.take(whole)))
        return pairs

    def cross(self, **setting: Callable[[Recipe], object]) -> float | None:
        """Return how many times more the other side's choice of a setting leaves; None unless that is clear.

        Parameters
        ----------
        **setting : callable
            One field of :class:`Recipe`, and how it is read from the other side's.
        """
        ((name, read),) = setting.items()
        ratios = []
        for own, other in (self.both, self.both[::-1]):
            crossed: dict[str, Any] = {name: read(other.recipe)}
            ratios.append(own.compare(replace(own.recipe, **crossed)))
        return judge_ratios(ratios)


def divide(other: float, own: float) -> float:
    """Return how many times more another replay leaves; below a floor all are equally exact."""
    return (other + _FLOOR) / (own + _FLOOR)


def judge_ratios(ratios: Sequence[float]) -> float | None:
    """Return the smaller ratio, None unless it is clearly over 1.

    A side that the other's setting makes as well may have that setting: then nothing is shown.
    """
    return min(ratios) if min(ratios) > CLEARLY else None


def identify_sides(
    group: Group, pictures: Sequence[tuple[str, Picture, Picture]], has_time: Callable[[], bool]
) -> Sides | None:
    """Return both sides with their recipes; None where files cannot be read or a side cannot be made.

    The golden's is searched first, and today's from there; the other way round where of the golden's only
    points are known.
    """
    photos: dict[str, Photo] = {}
    files = group.files
    for sample, expected, actual in pictures:
        is_known = sample in files and expected.shape[0] == actual.shape[0] in (1, N_COLOURS)
        photo = open_photo(files[sample]) if is_known and has_time() else None
        if photo is not None:
            photos[sample] = photo
    affected = tuple(pair.sample for pair in group.affected if pair.sample in photos)
    if not affected:
        return None
    sides = [
        Side({name: golden for name, golden, _ in pictures if name in photos}, photos),
        Side({name: today for name, _, today in pictures if name in photos}, photos),
    ]
    is_golden_first = all(picture.whole is not None for picture in sides[0].pictures.values())
    made: list[Made] = []
    for side in sides if is_golden_first else reversed(sides):
        search = Identification(side, affected, has_time)
        identified = search.search(replace(made[0].recipe, decodings={}) if made else None)
        if identified is None or identified.fit.residual > _TELLING:
            return None
        made.append(Made(side=side, search=search, identified=identified))
    golden, today = made if is_golden_first else reversed(made)
    return Sides(group=group, golden=golden, today=today, affected=affected)
