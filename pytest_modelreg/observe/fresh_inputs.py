"""Inputs prepared here and now: pinned files loaded and preprocessed, sample by sample.

What belongs here: the order of things for one sample, and what is noted on the way.
Memory holds the samples that were asked for, and a line of digests for every other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import PreprocessError, SampleLoadError
from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.observation import UNREPEATABLE, ObservedSample, PreprocessHabit, Stage
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.observe.checklist import Survey
from pytest_modelreg.observe.habits import HabitSearch, Preparation
from pytest_modelreg.observe.held_state import HeldState
from pytest_modelreg.observe.input_source import InputFacts, PreparedSample
from pytest_modelreg.observe.inputs import digest_sample
from pytest_modelreg.observe.kept_inputs import InputRecorder
from pytest_modelreg.observe.loaders import Loader, load_row, load_sample
from pytest_modelreg.observe.preprocess import Preprocess
from pytest_modelreg.observe.seeding import DrawWatch, seed_generators, seed_of
from pytest_modelreg.observe.value_digest import VALUE_DIGITS, digest_value

_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    value: Any
    digest: str
    stage_digests: tuple[str, ...]


class FreshInputs:
    """Loads and preprocesses the samples of a case; see :class:`~.input_source.InputSource`.

    Parameters
    ----------
    loader_name : str
        As in the suite file, for messages.
    recorder : InputRecorder or None
        Keeps what is prepared for another case.
    """

    def __init__(
        self,
        *,
        samples: SampleSet,
        loader: Loader,
        loader_name: str,
        preprocess: Preprocess,
        recorder: InputRecorder | None = None,
    ) -> None:
        self._samples = samples
        self._loader = loader
        self._loader_name = loader_name
        self._preprocess = preprocess
        self._recorder = recorder
        self._survey = Survey(len(samples))
        self._draws = DrawWatch()
        self._stage_digests: list[tuple[str, ...]] = []
        self._memory: HeldState | None = None
        self._habits = HabitSearch(n_samples=len(samples), stages=preprocess.stages)

    def read(self, start: int, stop: int) -> list[PreparedSample]:
        """Load and preprocess samples; see :class:`~.input_source.InputSource`."""
        if self._memory is None:  # what the model's factory changed was before the first sample
            self._memory = HeldState((self._loader, *self._preprocess.parts))
        return [
            self._read_one(position, sample)
            for position, sample in enumerate(self._samples.samples[start:stop], start)
        ]

    def note_overwritten(self, sample_ids: Sequence[str]) -> None:
        """Note a habit, and keep nothing: what was prepared is not what would be replayed."""
        self._habits.note_overwritten(sample_ids)

    def conclude(self) -> InputFacts:
        """Prepare a few samples again, and say what was found."""
        habits = self._habits.search(self._prepare_again, self._memory)
        pipeline = self._preprocess.stages
        stages = tuple(
            Stage(name=stage.name, description=stage.description, digests=digests)
            for stage, digests in zip(pipeline, zip(*self._stage_digests, strict=True), strict=False)
        )
        checklist = self._survey.list_entries(pipeline, reference=self._preprocess.reference)
        facts = InputFacts(stages=stages, checklist=checklist if self._samples.samples else {}, habits=habits)
        if self._recorder is not None and not _is_unrepeatable(habits):
            self._recorder.finish(facts)
        return facts

    def close(self) -> None:
        """Drop what was recorded, unless it was finished."""
        if self._recorder is not None:
            self._recorder.close()

    def _read_one(self, position: int, sample: Sample) -> PreparedSample:
        seed = seed_of(sample.id)
        seed_generators(seed)
        try:
            loaded = self._load(sample)
        except SampleLoadError as error:
            raise self._list_unloadable(error, position) from error
        self._survey.look_at_loaded(position, loaded)
        self._habits.look_at_loaded(position, sample.id, loaded)
        prepared = self._prepare(sample, loaded)
        self._habits.look_again(loaded)
        self._habits.note_digests(
            position, prepared.digest, prepared.stage_digests, has_drawn=self._draws.has_drawn(seed)
        )
        self._survey.look_at_prepared(position, prepared.value)
        if self._preprocess.stages:
            self._stage_digests.append(prepared.stage_digests)
        observed = ObservedSample(id=sample.id, sha256=sample.sha256, input_digest=prepared.digest)
        result = PreparedSample(observed=observed, value=prepared.value)
        if self._recorder is not None:
            self._recorder.add(result)
        return result

    def _prepare(self, sample: Sample, loaded: Any) -> _Prepared:
        digests: list[str] = []
        value = self._preprocess(
            loaded, sample_id=sample.id, watch=lambda _, returned: digests.append(digest_value(returned))
        )
        try:
            digest = digest_sample(value)
        except PreprocessError as error:
            raise PreprocessError(f"sample {sample.id!r}: {error}") from error
        # The last stage's output is the input: digesting it a second time would cost as much as
        # all other stages together.
        return _Prepared(value=value, digest=digest, stage_digests=(*digests, digest[:VALUE_DIGITS]))

    def _prepare_again(self, position: int, seed: int) -> Preparation:
        sample = self._samples.samples[position]
        seed_generators(seed_of(sample.id, seed))
        loaded = self._load(sample)
        prepared = self._prepare(sample, loaded)
        return Preparation(digest=prepared.digest, stage_digests=prepared.stage_digests)

    def _load(self, sample: Sample) -> Any:
        if sample.row is not None:
            return load_row(self._samples, sample)
        file = Path(self._samples.folder, sample.file)
        return load_sample(self._loader, file, sample_id=sample.id, name=self._loader_name)

    def _list_unloadable(self, first: SampleLoadError, position: int) -> SampleLoadError:
        """Load what comes after the first sample that failed, to tell all that do at once."""
        faults = {str(first): self._samples.samples[position].id}
        for sample in self._samples.samples[position + 1 :]:
            try:
                self._load(sample)
            except SampleLoadError as error:
                # A missing package is one fault, whatever the number of samples.
                faults.setdefault(str(error), sample.id)
        if len(faults) == 1:
            return first
        ids = name_some(map(repr, faults.values()), _LISTED)
        lines = [f"{len(faults)} samples cannot be loaded: {ids}"]
        return SampleLoadError("\n  ".join([*lines, *islice(faults, _LISTED)]))


def _is_unrepeatable(habits: Sequence[PreprocessHabit]) -> bool:
    """Whether the next case would get other inputs from its own preprocessing than from a replay."""
    return any(habit.habit in UNREPEATABLE for habit in habits)
