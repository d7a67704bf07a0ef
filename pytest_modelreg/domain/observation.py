"""What one case produced: facts without opinion, arrays left in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.trace import InputPoints, Trace


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
class Stage:
    """One stage of a preprocessing pipeline, and what it made of every sample.

    Parameters
    ----------
    name : str
        What the stage is called: ``Resize``, ``to_tensor``.
    description : str
        Its settings in one line, for a comparison by eye: ``Resize(size=[224, 224], ...)``.
    digests : tuple of str
        One a sample, in row order: 16 hex digits over what the stage returned.
    """

    name: str
    description: str
    digests: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class InputProbes:
    """A sketch of every sample's inputs, to say later how far other inputs are from them.

    Parameters
    ----------
    file : ArrayFile
        float64, axes (sample, column): the buckets of a count sketch over all numbers that the
        model was fed for the sample, then their Euclidean norm and how many are not finite.
        A row of NaN where nothing is known.
    n_columns : int
        Buckets and two.
    forms : tuple of str
        One a sample: paths, dtypes and shapes of the inputs; one in all where they agree.
    """

    file: ArrayFile
    n_columns: int
    forms: tuple[str, ...]

    def form_of(self, row: int) -> str:
        """Return the form of one sample's inputs."""
        return self.forms[0 if len(self.forms) == 1 else row]


UNREPEATABLE = frozenset({"stateful", "unseeded"})
"""Habits with which a sample that is prepared once more comes out otherwise."""


STRIPPED_KEYS = "all keys of the checkpoint begin with"
"""How the warning begins that a checkpoint was loaded under other names than its own."""


@dataclass(frozen=True, kw_only=True)
class PreprocessHabit:
    """Something that preprocessing does and should not, as seen when samples were preprocessed twice.

    Parameters
    ----------
    habit : str
        ``random`` (differs with the seed), ``unseeded`` (differs every time, and nothing is remembered in
        between), ``stateful`` (differs with what came before) or ``mutates`` (changes what the loader
        returned).
    samples : tuple of str
        Ids on which it showed.
    summary : str
        One sentence for people.
    """

    habit: str
    samples: tuple[str, ...]
    summary: str


@dataclass(frozen=True, kw_only=True)
class RuntimeFinding:
    """A property of what a runtime made of the model that is not as the suite declares it.

    Parameters
    ----------
    subject : str
        What it is about: ``input x``, ``output logits``.
    what : str
        The property: ``axis 0 (batch)``, ``dtype``, ``name``.
    expected, actual : str
        What the suite declares, and what the exported graph has.
    """

    subject: str
    what: str
    expected: str
    actual: str


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
    stages : tuple of Stage
        Of a staged pipeline, in order; empty for a single callable.
    checklist : mapping of str to scalar, list or mapping
        Facts of the preprocessing that people check by hand (size, interpolation, antialias, channel
        order, range, mean and deviation), each ``{"value": ..., "source": "read" | "measured"}`` or
        ``{"value": None, "reason": ...}``; empty where there are no samples.
    habits : tuple of PreprocessHabit
        What preprocessing does and should not.
    runtime_findings : tuple of RuntimeFinding
        What the runtime made of the model against what the suite declares.
    input_probes : InputProbes or None
        None where the inputs are unknown or the case keeps no golden. No fact of its own: it
        follows from the inputs, whose digests are compared.
    input_points : InputPoints or None
        As well, of all samples, until a trace takes what it keeps of them; a golden has none here.
    trace : Trace or None
        What a later diagnosis needs; None until it was gathered. No fact of its own either.
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
    stages: tuple[Stage, ...] = ()
    checklist: Mapping[str, Any] = field(default_factory=dict)
    habits: tuple[PreprocessHabit, ...] = ()
    runtime_findings: tuple[RuntimeFinding, ...] = ()
    input_probes: InputProbes | None = field(default=None, compare=False)
    input_points: InputPoints | None = field(default=None, compare=False)
    trace: Trace | None = field(default=None, compare=False)
    duration_s: float = field(default=0.0, compare=False)
