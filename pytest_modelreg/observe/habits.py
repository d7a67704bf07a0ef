"""Habits that preprocessing must not have: drawing random numbers, keeping state, changing what it gets.

What belongs here: preparing a few samples a second time, when the pass is over, and what a
difference means. A sample that was prepared twice from one file and one seed gives one input;
otherwise results depend on which samples, cases and batch sizes came before. What is put back to see
what a sample would have become at the very beginning is ``held_state``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_modelreg.domain.errors import CaseError
from pytest_modelreg.domain.observation import PreprocessHabit
from pytest_modelreg.observe.loaded_content import copy_content
from pytest_modelreg.observe.repeat_choice import RepeatChoice, SeenSample
from pytest_modelreg.observe.seeding import SEED
from pytest_modelreg.observe.stages import PipelineStage
from pytest_modelreg.observe.value_digest import is_pillow_image

ROW_REPEATS = 8
"""Times that one sample is prepared where every time changes what preprocessing remembers."""

SAMPLES_A_WHOLE = 8
"""Of large images and arrays, one loaded sample in this many is watched for changes byte by byte."""

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
    """

    digest: str
    stage_digests: tuple[str, ...]


class Memory(Protocol):
    """What preprocessing remembers; see :class:`~.held_state.HeldState`."""

    def has_changed(self) -> bool:
        """Whether it remembers something else than before the first sample."""

    def renew(self) -> Memory:
        """Return what it remembers now."""

    def as_it_was(self) -> AbstractContextManager[None]:
        """Let it remember what it did then, for a moment."""


@dataclass(kw_only=True)
class _Found:
    samples: list[str] = field(default_factory=list)
    summary: str = ""

    def add(self, sample_id: str, summary: str) -> None:
        if len(self.samples) < _LISTED and sample_id not in self.samples:
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
        self._stages = stages
        self._choice = RepeatChoice(n_samples)
        self._mutates = _Found()
        self._overwritten: list[str] = []
        self._now = SeenSample(id="", position=-1, kind="", cost=0)
        self._content: Any = None
        self._is_whole = True

    def look_at_loaded(self, position: int, sample_id: str, loaded: Any) -> None:
        """Note a sample that was loaded, by the kind of thing that it is, and what is in it."""
        kind, cost = f"{type(loaded).__qualname__} {getattr(loaded, 'dtype', '')}", 0
        if is_pillow_image(loaded):
            kind, cost = str(loaded.mode), loaded.width * loaded.height
        self._now = SeenSample(id=sample_id, position=position, kind=kind, cost=cost)
        self._is_whole = self._choice.is_new_kind(kind) or position % SAMPLES_A_WHOLE == 0
        self._content = copy_content(loaded, is_whole=self._is_whole)

    def look_again(self, loaded: Any) -> None:
        """Hold what was loaded last against what it was, now that it was preprocessed."""
        before, self._content = self._content, None
        if before is None:
            return
        after = copy_content(loaded, is_whole=self._is_whole)
        if after is not None and after != before:
            self._mutates.add(
                self._now.id,
                f"preprocess changes what the loader returned for {self._now.id!r}: "
                f"whoever shares that object gets another sample; work on a copy",
            )

    def note_digests(
        self, position: int, digest: str, stage_digests: tuple[str, ...], *, has_drawn: bool
    ) -> None:
        """Note what the sample that was loaded last became."""
        seen = self._now
        assert seen.position == position
        seen.digest, seen.stage_digests, seen.has_drawn = digest, stage_digests, has_drawn
        self._choice.note(seen)

    def note_overwritten(self, sample_ids: Sequence[str]) -> None:
        """Note samples whose inputs were overwritten by those of later ones."""
        self._overwritten.extend(sample_ids)

    def search(
        self, prepare: Callable[[int, int], Preparation], memory: Memory | None = None
    ) -> tuple[PreprocessHabit, ...]:
        """Prepare a few samples again.

        Parameters
        ----------
        prepare : callable
            Takes a sample's position and a seed.
        memory : Memory, optional
            As it was before the first sample.

        Returns
        -------
        tuple of PreprocessHabit
            Empty where everything came out alike.
        """
        stateful, random = _Found(), _Found()
        for sample_id in self._overwritten[:_LISTED]:
            stateful.add(
                sample_id,
                "preprocess returns one buffer for several samples: later samples of a batch overwrite "
                "earlier ones; return a copy",
            )
        for seen in self._choice.list_repeats():
            self._repeat(seen, prepare, stateful)
        if not stateful.samples and memory is not None and memory.has_changed():
            self._repeat_from_start(prepare, memory, stateful)
            if not stateful.samples:
                self._repeat_in_a_row(prepare, memory, stateful)
        if not stateful.samples:
            for seen in self._choice.drawn:
                self._try_seeds(seen, prepare, random)
        # What a buffer that is used again does is seen, not guessed from two results.
        is_chance = (
            not self._overwritten and memory is not None and self._is_chance(stateful, prepare, memory)
        )
        if is_chance:
            stateful.summary = (
                f"preprocessing is random: prepared again and again with the same seeds, "
                f"{stateful.samples[0]!r} gives another input every time, and nothing is remembered in "
                f"between: it draws from a generator that no global seed reaches, or reads a clock or a file "
                f"that changes"
            )
        found = {
            "random": random,
            "unseeded" if is_chance else "stateful": stateful,
            "mutates": self._mutates,
        }
        return tuple(
            PreprocessHabit(habit=habit, samples=tuple(each.samples), summary=each.summary)
            for habit, each in found.items()
            if each.samples
        )

    def _is_chance(
        self, stateful: _Found, prepare: Callable[[int, int], Preparation], memory: Memory
    ) -> bool:
        """Whether a sample comes out otherwise every time although nothing is remembered."""
        seen = next((seen for seen in self._choice.list_repeats() if seen.id in stateful.samples), None)
        if seen is None:
            return False
        before = memory.renew()
        try:
            digests = [prepare(seen.position, SEED).digest for _ in range(2)]
        except CaseError:
            return False
        return digests[0] != digests[1] and not before.has_changed()

    def _repeat(self, seen: SeenSample, prepare: Callable[[int, int], Preparation], stateful: _Found) -> None:
        try:
            again = prepare(seen.position, SEED)
        except CaseError as error:
            stateful.add(seen.id, f"preparing sample {seen.id!r} a second time failed: {error}")
            return
        if again.digest != seen.digest:
            where = self._name_stage(seen, again)
            stateful.add(
                seen.id,
                f"prepared again with the same seeds, {seen.id!r} gave another input{where}: preprocessing "
                f"keeps state between samples, or draws from a generator that no global seed reaches",
            )

    def _repeat_from_start(
        self, prepare: Callable[[int, int], Preparation], memory: Memory, stateful: _Found
    ) -> None:
        """Prepare late samples as if they were first: a cache gives the same then, other state does not."""
        for seen in self._choice.list_late():
            try:
                with memory.as_it_was():
                    again = prepare(seen.position, SEED)
            except CaseError:
                # Half of what belongs together may have been put back; that proves nothing.
                return
            if again.digest != seen.digest:
                where = self._name_stage(seen, again)
                stateful.add(
                    seen.id,
                    f"prepared as if it were the first sample, {seen.id!r} gave another input{where}: "
                    f"preprocessing keeps state between samples",
                )
                return

    def _repeat_in_a_row(
        self, prepare: Callable[[int, int], Preparation], memory: Memory, stateful: _Found
    ) -> None:
        """Prepare one sample again and again, where every time leaves something behind: what counts calls."""
        (seen, *_) = self._choice.list_repeats()
        for _ in range(ROW_REPEATS):
            memory = memory.renew()
            self._repeat(seen, prepare, stateful)
            if stateful.samples or not memory.has_changed():
                return

    def _try_seeds(
        self, seen: SeenSample, prepare: Callable[[int, int], Preparation], random: _Found
    ) -> None:
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

    def _name_stage(self, seen: SeenSample, again: Preparation) -> str:
        pairs = zip(seen.stage_digests, again.stage_digests, strict=True)
        index = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
        if index is None or not self._stages:
            return ""
        return f", first at stage {index + 1}, {self._stages[index].description}"
