"""A sample set as values: the pinned samples of one folder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One pinned sample.

    Parameters
    ----------
    id : str
        Unique in its set; what reports call it.
    file : str
        POSIX path relative to the set's folder.
    sha256 : str
        Of the file's bytes, 64 hex digits.
    label : str or None
        Ground truth, when the set carries labels.
    tags : tuple of str
        Groups that limits may name.
    """

    id: str
    file: str
    sha256: str
    label: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SampleSet:
    """The pinned samples of one folder, in the order of ``samples.csv``.

    Parameters
    ----------
    folder : str
        Absolute path.
    samples : tuple of Sample
        Empty only in a plan whose samples have not been read.
    """

    folder: str
    samples: tuple[Sample, ...]

    def __len__(self) -> int:
        return len(self.samples)
