"""Habits that preprocessing must not have: drawing random numbers, keeping state, changing what it gets.

What belongs here: preparing a few samples a second time, when the pass is over, and what a
difference means. A sample that was prepared twice from one file and one seed gives one input;
otherwise results depend on which samples, cases and batch sizes came before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_modelreg.domain.errors import CaseError
from pytest_modelreg.domain.observation import PreprocessHabit
from pytest_modelreg.observe.seeding import SEED
from pytest_modelreg.observe.stages import PipelineStage
from pytest_modelreg.observe.value_digest import is_pillow_image

MAX_REPEATS = 4
SAMPLES_A_REPEAT = 32
"""One sample in this many is prepared again, at least one and at most four."""

OTHER_SEEDS = tuple(SEED + offset for offset in range(1, 9))
"""Tried on samples for which random numbers were drawn: two coins fall alike half the time."""

_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What preparing a sample once more gave.

    Parameters
    ----------
    digest : str
        Of the input.
    stage_digests : tuple of str
        Of what each stage returned.
    is_mutated : bool
        Whether the loaded sample was another one afterwards.
    """

    digest: str
    stage_digests: tuple[str, ...]
    is_mutated: bool


@dataclass(kw_only=True)
class _Seen:
    """What the pass noted of one sample that may be prepared again."""

    id: str
    position: int
    cost: int
    digest: str = ""
    stage_digests: tuple[str, ...] = ()
    has_drawn: bool = False


@dataclass(kw_only=True)
class _Found:
    samples: list[str] = field(default_factory=list)
    summary: str = ""

    def add(self, sample_id: str, summary: str) -> None:
        self.samples.append(sample_id)
        self.summary = self.summary or summary


class HabitSearch:
    """Chooses samples while they pass, and prepares them again afterwards.

    Parameters
    ----------
    n_samples : int
        Samples in all.
    stages : sequence of PipelineStage
        Of the pipeline; empty for a single callable.
    """

    def __init__(self, *, n_samples: int, stages: Sequence[PipelineStage]) -> None:
        self._n_samples = n_samples
        self._stages = stages
        self._n_repeats = max(1, min(MAX_REPEATS, n_samples // SAMPLES_A_REPEAT))
        self._groups: dict[str, list[_Seen]] = {}
        self._counts: Counter[str] = Counter()
        self._drawn: list[_Seen] = []
        self._overwritten: list[str] = []
        self._now: _Seen | None = None
        self._group = ""

    def look_at_loaded(self, position: int, sample_id: str, loaded: Any) -> None:
        """Note a sample that was loaded, by the kind of thing that it is."""
        if is_pillow_image(loaded):
            self._group, cost = str(loaded.mode), loaded.width * loaded.height
        else:
            self._group, cost = type(loaded).__qualname__, 0
        self._now = _Seen(id=sample_id, position=position, cost=cost)

    def note_digests(
        self, position: int, digest: str, stage_digests: tuple[str, ...], *, has_drawn: bool
    ) -> None:
        """Note what the sample that was loaded last became."""
        seen = self._now
        assert seen is not None
        assert seen.position == position
        seen.digest, seen.stage_digests, seen.has_drawn = digest, stage_digests, has_drawn
        if has_drawn and len(self._drawn) < self._n_repeats:
            self._drawn.append(seen)
        self._counts[self._group] += 1
        group = self._groups.setdefault(self._group, [])
        group.append(seen)
        if len(group) > 2 * MAX_REPEATS:  # 20,000 samples need not be remembered to choose four
            group.sort(key=self._rank)
            del group[MAX_REPEATS:]

    def note_overwritten(self, sample_ids: Sequence[str]) -> None:
        """Note samples whose inputs were overwritten by those of later ones."""
        self._overwritten.extend(sample_ids)

    def search(self, prepare: Callable[[int, int], Preparation]) -> tuple[PreprocessHabit, ...]:
        """Prepare a few samples again.

        Parameters
        ----------
        prepare : callable
            Takes a sample's position and a seed.

        Returns
        -------
        tuple of PreprocessHabit
            Empty where everything came out alike.
        """
        stateful, mutates, random = _Found(), _Found(), _Found()
        for sample_id in self._overwritten[:_LISTED]:
            stateful.add(
                sample_id,
                "preprocess returns one buffer for several samples: later samples of a batch overwrite "
                "earlier ones; return a copy",
            )
        for seen in self._choose():
            self._repeat(seen, prepare, stateful, mutates)
        if not stateful.samples:
            for seen in self._drawn:
                self._try_seeds(seen, prepare, random)
        found = {"random": random, "stateful": stateful, "mutates": mutates}
        return tuple(
            PreprocessHabit(habit=habit, samples=tuple(each.samples), summary=each.summary)
            for habit, each in found.items()
            if each.samples
        )

    def _choose(self) -> list[_Seen]:
        """Choose samples of several kinds, the most frequent first, of each the cheapest."""
        for group in self._groups.values():
            group.sort(key=self._rank)
        kinds = [self._groups[kind] for kind, _ in self._counts.most_common()]
        rounds = [group[turn] for turn in range(MAX_REPEATS) for group in kinds if turn < len(group)]
        return rounds[: self._n_repeats]

    def _rank(self, seen: _Seen) -> tuple[bool, int, int]:
        # What changes with every second or third call must not come out alike by chance.
        return math.gcd(self._n_samples - seen.position, 6) > 1, seen.cost, -seen.position

    def _repeat(
        self, seen: _Seen, prepare: Callable[[int, int], Preparation], stateful: _Found, mutates: _Found
    ) -> None:
        try:
            again = prepare(seen.position, SEED)
        except CaseError as error:
            stateful.add(seen.id, f"preparing sample {seen.id!r} a second time failed: {error}")
            return
        if again.is_mutated:
            mutates.add(
                seen.id,
                f"preprocess changes what the loader returned for {seen.id!r}: "
                f"whoever shares that object gets another sample; work on a copy",
            )
        if again.digest != seen.digest:
            where = self._name_stage(seen, again)
            stateful.add(
                seen.id,
                f"prepared again with the same seeds, {seen.id!r} gave another input{where}: preprocessing "
                f"keeps state between samples, or draws from a generator that no global seed reaches",
            )

    def _try_seeds(self, seen: _Seen, prepare: Callable[[int, int], Preparation], random: _Found) -> None:
        for seed in OTHER_SEEDS:
            try:
                again = prepare(seen.position, seed)
            except CaseError as error:
                random.add(seen.id, f"with another seed, preparing sample {seen.id!r} failed: {error}")
                return
            if again.digest != seen.digest:
                where = self._name_stage(seen, again)
                random.add(
                    seen.id,
                    f"preprocessing is random: with another seed, {seen.id!r} gave another input{where}; "
                    f"take the augmentation out of the pipeline that is checked",
                )
                return

    def _name_stage(self, seen: _Seen, again: Preparation) -> str:
        pairs = zip(seen.stage_digests, again.stage_digests, strict=True)
        index = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
        if index is None or not self._stages:
            return ""
        return f", first at stage {index}, {self._stages[index].description}"
