"""Batches: prepared samples, collated one batch at a time.

What belongs here: everything of a case that happens before the model is called, so
that inputs can be had without one. Memory holds the samples of one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.observe.collate import collate_batch, find_unequal_shapes
from pytest_modelreg.observe.input_source import InputSource, PreparedSample
from pytest_modelreg.observe.inputs import iterate_leaves
from pytest_modelreg.observe.overwriting import find_overwritten
from pytest_modelreg.observe.seeding import seed_generators

_LISTED = 8
"""Inputs of a batch that a message names."""


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
    inputs : InputSource
        Gives the samples; every one is read once.
    n_samples : int
        Samples in all.
    collate_reference : str or None
        As in the suite file, for messages.
    """

    inputs: InputSource
    n_samples: int
    batch_size: int
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
        for start in range(0, self.n_samples, self.batch_size):
            yield self._make_batch(start)

    def _make_batch(self, start: int) -> Batch:
        stop = min(start + self.batch_size, self.n_samples)
        prepared, observed = read_batch(self.inputs, start, stop)
        values = [sample.value for sample in prepared]
        ids = [sample.id for sample in observed]
        # A collate that draws must not depend on whether its samples were prepared or replayed.
        seed_generators()
        inputs = collate_batch(values, sample_ids=ids, collate=self.collate, reference=self.collate_reference)
        unequal = find_unequal_shapes(values, ids) if self.collate is None else None
        return Batch(samples=tuple(observed), inputs=inputs, unequal_shapes=unequal)


def describe_batch(inputs: Any) -> str:
    """Return dtypes and shapes of what a model is called with: ``float32 8 x 3 x 224 x 224``.

    Parameters
    ----------
    inputs : Any
        What collate returned. What is no array is left out; empty where nothing is one.
    """
    forms = []
    for path, leaf in iterate_leaves(inputs):
        shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
        if isinstance(shape, tuple) and dtype is not None:
            sizes = " x ".join(map(str, shape)) or "scalar"
            forms.append(f"{path} {str(dtype).removeprefix('torch.')} {sizes}".strip())
    return name_some(forms, _LISTED)


def read_batch(
    inputs: InputSource, start: int, stop: int
) -> tuple[list[PreparedSample], list[ObservedSample]]:
    """Return the prepared samples of one batch, and which they are, with the digests of what they are now.

    Raises
    ------
    SampleLoadError, PreprocessError
        As :meth:`~.input_source.InputSource.read`.
    """
    prepared = inputs.read(start, stop)
    observed = [sample.observed for sample in prepared]
    overwritten = find_overwritten(prepared)
    for index, digest in overwritten.items():
        # What is on record is what the model is fed, whatever preprocess meant to feed it.
        observed[index] = replace(observed[index], input_digest=digest)
    if overwritten:
        inputs.note_overwritten([observed[index].id for index in overwritten])
    return prepared, observed
