"""Sample sets as a session needs them: each read and verified once, faults included."""

from __future__ import annotations

from dataclasses import replace

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.store import read_sample_set


class SampleSets:
    """Reads each set once."""

    def __init__(self) -> None:
        self._found: dict[SampleSet, SampleSet | ModelRegError] = {}

    def read(self, declared: SampleSet) -> SampleSet:
        """Return a set that a suite declares with its samples.

        Raises
        ------
        ModelRegError
            As reading it raised the first time.
        """
        if declared not in self._found:
            try:
                self._found[declared] = read_sample_set(declared)
            except ModelRegError as error:
                self._found[declared] = error
        found = self._found[declared]
        if isinstance(found, ModelRegError):
            raise found
        return found


def confine(samples: SampleSet, only: frozenset[str] | None) -> SampleSet:
    """Return the samples of these ids, in their order; None: all."""
    if only is None:
        return samples
    return replace(samples, samples=tuple(sample for sample in samples.samples if sample.id in only))
