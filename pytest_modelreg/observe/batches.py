"""Batches: pinned files, loaded and preprocessed one batch at a time.

What belongs here: everything of a case that happens before the model is called, so
that inputs can be had without one. Memory holds the samples of one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import PreprocessError, SampleLoadError
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.observe.collate import collate_batch, find_unequal_shapes
from pytest_modelreg.observe.inputs import digest_sample
from pytest_modelreg.observe.loaders import Loader, load_sample
from pytest_modelreg.observe.preprocess import Preprocess

_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What one forward pass is fed.

    Parameters
    ----------
    samples : tuple of ObservedSample
        In row order.
    inputs : Any
        What collate returned.
    unequal_shapes : str or None
        Two samples whose inputs differ in shape, told; None when the default collation
        could stack them, or when the suite has its own.
    """

    samples: tuple[ObservedSample, ...]
    inputs: Any
    unequal_shapes: str | None

    @property
    def ids(self) -> tuple[str, ...]:
        """The samples' ids in row order."""
        return tuple(sample.id for sample in self.samples)


@dataclass(frozen=True, kw_only=True)
class BatchSource:
    """How a case's batches are made.

    Parameters
    ----------
    loader_name, collate_reference : str, str or None
        As in the suite file, for messages.
    """

    samples: SampleSet
    batch_size: int
    loader: Loader
    loader_name: str
    preprocess: Preprocess
    collate: Callable[[list[Any]], Any] | None
    collate_reference: str | None

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches in sample-set order; the last may be short.

        Raises
        ------
        SampleLoadError
            Samples cannot be loaded: one message names all of them, also those of later
            batches.
        PreprocessError
            Preprocess or collate raised, or returned what can be no model input.
        """
        for start in range(0, len(self.samples), self.batch_size):
            yield self._make_batch(start)

    def _make_batch(self, start: int) -> Batch:
        samples = self.samples.samples[start : start + self.batch_size]
        prepared: list[Any] = []
        observed: list[ObservedSample] = []
        for position, sample in enumerate(samples, start):
            try:
                loaded = self._load(sample)
            except SampleLoadError as error:
                raise self._list_unloadable(error, position) from error
            prepared.append(self.preprocess(loaded, sample_id=sample.id))
            try:
                digest = digest_sample(prepared[-1])
            except PreprocessError as error:
                raise PreprocessError(f"sample {sample.id!r}: {error}") from error
            observed.append(ObservedSample(id=sample.id, sha256=sample.sha256, input_digest=digest))
        ids = [sample.id for sample in samples]
        inputs = collate_batch(
            prepared, sample_ids=ids, collate=self.collate, reference=self.collate_reference
        )
        unequal = find_unequal_shapes(prepared, ids) if self.collate is None else None
        return Batch(samples=tuple(observed), inputs=inputs, unequal_shapes=unequal)

    def _load(self, sample: Sample) -> Any:
        file = Path(self.samples.folder, sample.file)
        return load_sample(self.loader, file, sample_id=sample.id, name=self.loader_name)

    def _list_unloadable(self, first: SampleLoadError, position: int) -> SampleLoadError:
        """Load what comes after the first sample that failed, to tell all that do at once."""
        faults = {str(first): self.samples.samples[position].id}
        for sample in self.samples.samples[position + 1 :]:
            try:
                self._load(sample)
            except SampleLoadError as error:
                # A missing package is one fault, whatever the number of samples.
                faults.setdefault(str(error), sample.id)
        if len(faults) == 1:
            return first
        more = len(faults) - _LISTED
        ids = ", ".join(map(repr, islice(faults.values(), _LISTED)))
        lines = [f"{len(faults)} samples cannot be loaded: {ids}{f' and {more} more' if more > 0 else ''}"]
        return SampleLoadError("\n  ".join([*lines, *islice(faults, _LISTED)]))
