"""Sample sets as a session needs them: each read and verified once, faults included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.store import read_samples


class SampleSets:
    """Reads each folder once."""

    def __init__(self) -> None:
        self._found: dict[Path, SampleSet | ModelRegError] = {}

    def read(self, folder: Path) -> SampleSet:
        """Return the sample set of a folder.

        Raises
        ------
        ModelRegError
            As reading it raised the first time.
        """
        if folder not in self._found:
            try:
                self._found[folder] = read_samples(folder)
            except ModelRegError as error:
                self._found[folder] = error
        found = self._found[folder]
        if isinstance(found, ModelRegError):
            raise found
        return found


def confine(samples: SampleSet, only: frozenset[str] | None) -> SampleSet:
    """Return the samples of these ids, in their order; None: all."""
    if only is None:
        return samples
    return replace(samples, samples=tuple(sample for sample in samples.samples if sample.id in only))
