"""What one case produced: facts without opinion, arrays left in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_modelreg.domain.environment import Fingerprint


@dataclass(frozen=True, kw_only=True)
class ArrayFile:
    """One file that a record names: an array, or the table for people of a golden.

    Parameters
    ----------
    file : str
        Name inside the observation's folder: no path, no link.
    sha256 : str
        Of the file's bytes, 64 hex digits; the name carries the first 12.
    """

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class OutputRecord:
    """One recorded output.

    Parameters
    ----------
    per : str
        ``sample``: axis 0 is the sample set's order; ``batch``: axis 0 is batches.
    dtype : str
        True dtype by its common name (``float32``, ``bfloat16``), also where the file
        holds same-width integers.
    shape : tuple of int
        Whole shape, leading axis included. A ragged output has -1 for each axis in
        which rows differ: ``(64, -1, 4)``.
    values : ArrayFile
        Regular: array of ``shape``. Ragged: all rows one after the other (rows that
        agree in their trailing axes are joined along axis 1's; otherwise flattened).
    counts : ArrayFile or None
        Ragged only: int64, axes (row, dimension): the shape of every row.
    """

    per: str
    dtype: str
    shape: tuple[int, ...]
    values: ArrayFile
    counts: ArrayFile | None = None

    @property
    def is_ragged(self) -> bool:
        """Whether rows differ in shape."""
        return self.counts is not None


@dataclass(frozen=True, kw_only=True)
class ObservedSample:
    """Which sample a row belongs to, and the digest of what the model was fed for it.

    Parameters
    ----------
    input_digest : str or None
        sha256 over dtype, shape and bytes of every input tensor of this sample; None where
        the inputs are unknown, as for values that a test computed itself: equal to nothing.
    """

    id: str
    sha256: str
    input_digest: str | None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What one case produced.

    Parameters
    ----------
    samples : tuple of ObservedSample
        In row order.
    outputs : mapping of str to OutputRecord
        By output path, in the order in which the model returned them.
    weights_digest : str or None
        sha256 over names, dtypes, shapes and bytes of the model's state dict; None
        for a model that has none.
    training_modules : tuple of str
        Modules that were in train mode when the factory returned, before ``eval()``
        (at most 20 names; the root is ``(model)``).
    eval_applied : bool
        Whether ``eval()`` was called: False for a plain callable.
    warnings : tuple of str
        Framework warnings caught around our own calls, without repetitions.
    duration_s : float
        Wall time of the observation, seconds.
    """

    suite: str
    variant: str
    axes: Mapping[str, Any]
    batch_size: int
    samples: tuple[ObservedSample, ...]
    outputs: Mapping[str, OutputRecord]
    weights_digest: str | None
    training_modules: tuple[str, ...] = ()
    eval_applied: bool = False
    fingerprint: Fingerprint
    warnings: tuple[str, ...] = ()
    duration_s: float = field(default=0.0, compare=False)
