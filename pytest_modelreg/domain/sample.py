"""A sample set as values: the pinned samples of one folder, or of one file with a row a sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROW_LOADER = "row"
"""How a case calls the loader of a file's rows, of which there is only one."""


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
        Of the file's bytes, 64 hex digits; for a row, of what ``preprocess`` is given of it.
    label : str or None
        Ground truth, when the set carries labels.
    tags : tuple of str
        Groups that limits may name.
    row : int or None
        Which row of the file it is, from 0; None for a file that is one sample.
    """

    id: str
    file: str
    sha256: str
    label: str | None = None
    tags: tuple[str, ...] = ()
    row: int | None = None


@dataclass(frozen=True, kw_only=True)
class RowFile:
    """A file whose rows are the samples, and which of its columns are what.

    Parameters
    ----------
    name : str
        Its name in the set's folder.
    id, label, tags : str or None
        Columns; without ``id`` a sample is called by its row's number, from 1.
    input : tuple of str
        Columns that ``preprocess`` is given, in this order; empty: all that are none of the above.
    is_bare : bool
        Whether ``preprocess`` is given the value of the only input column, not a dict.
    """

    name: str
    id: str | None = None
    label: str | None = None
    tags: str | None = None
    input: tuple[str, ...] = ()
    is_bare: bool = False


@dataclass(frozen=True, kw_only=True)
class SampleSet:
    """The pinned samples of one folder or file, in the order of ``samples.csv`` or of the rows.

    Parameters
    ----------
    folder : str
        Absolute path; of a file with rows, where it lies.
    samples : tuple of Sample
        Empty only in a plan whose samples have not been read.
    rows : RowFile or None
        None: every sample is a file.
    """

    folder: str
    samples: tuple[Sample, ...]
    rows: RowFile | None = None

    @property
    def place(self) -> Path:
        """What is pinned as a whole: the folder, or the file with rows."""
        return Path(self.folder) if self.rows is None else Path(self.folder, self.rows.name)

    def __len__(self) -> int:
        return len(self.samples)
