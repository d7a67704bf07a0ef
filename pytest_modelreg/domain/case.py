"""What is to be observed: one case of a suite, in builtin scalars only.

A :class:`CaseSpec` can be written as JSON and carried out by another process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.sample import SampleSet

REFERENCE = "reference"

AXES = (
    "checkpoint",
    "preprocess",
    "runtime",
    "environment",
    "device",
    "dtype",
    "autocast",
    "batch_size",
    "threads",
    "memory_format",
)
"""What can differ between the reference and a variant, in the order in which ids name it."""

MODEL_KEYS = ("model", "model_args", "checkpoint", "memory_format")
"""What a case can say of a model that is built for it, and of none that a runtime brings: not ``dtype``,
in which that one may well compute."""

COMPUTE_DTYPES = ("float64", "float32", "float16", "bfloat16")
"""What a model's floating parameters and inputs can be cast to."""

AUTOCAST_DTYPES = ("float16", "bfloat16")
"""What mixed precision can compute in."""

MEMORY_FORMATS = ("contiguous", "channels_last", "channels_last_3d")
"""How the axes of images lie in memory: (sample, channel, height, width) or with the channel last."""

PER = ("sample", "batch", "ignore")
"""What the leading dimension of an output can be."""

BOX_FORMATS = ("xyxy", "xywh", "cxcywh")
"""How the four numbers of a box are meant: two corners, a corner and the size, the centre and the size."""


@dataclass(frozen=True, kw_only=True)
class CheckpointRef:
    """A file with weights.

    Parameters
    ----------
    path : str
        Absolute path of a ``.safetensors``, ``.pt`` or ``.pth`` file.
    key : str or None
        Where the state dict sits in a training checkpoint, keys joined by ``.``.
    """

    path: str
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class RuntimeSpec:
    """How the model is run.

    Parameters
    ----------
    kind : str
        The runtime's name.
    options : mapping
        Its options as written in the suite file.
    transform : str or None
        ``module:fn`` that is called with the loaded model in eval mode and returns the
        model to run: quantised, fused, merged.
    """

    kind: str = "eager"
    options: Mapping[str, Any] = field(default_factory=dict)
    transform: str | None = None


PREPROCESS_PLACES = ("there", "here")
"""Where the samples of a case in another environment are decoded and preprocessed."""

TIME_LIMIT_S = 3600.0
"""How long an observation in another environment may take unless the suite says otherwise, seconds."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentSpec:
    """Another environment in which a case is observed; what is not said is as here.

    Parameters
    ----------
    python : str or None
        An interpreter: an absolute path, or a name to be looked for on PATH. None: this one.
    requirements : tuple of str
        What is installed into an environment built for them, as pip reads it.
    variables : mapping of str to str or None
        Environment variables by name; None unsets one.
    revision : str or None
        A git revision whose Python code is used, the suite's other files being those of here.
    preprocess : str
        One of :data:`PREPROCESS_PLACES`.
    time_limit_s : float
        Wall time after which the observation counts as hanging, seconds.
    """

    python: str | None = None
    requirements: tuple[str, ...] = ()
    variables: Mapping[str, str | None] = field(default_factory=dict)
    revision: str | None = None
    preprocess: str = "there"
    time_limit_s: float = TIME_LIMIT_S


@dataclass(frozen=True, kw_only=True)
class OutputSpec:
    """What the numbers at one output path mean.

    Parameters
    ----------
    kind : str
        One of ``domain.check.KINDS``.
    per : str
        One of :data:`PER`: ``sample`` (leading dimension is the batch's), ``batch``
        (one value a batch) or ``ignore``.
    per_is_declared : bool
        Whether the suite wrote ``per``; a guess is checked harder.
    labels : tuple of str or None
        Class names, index by index.
    top_k : int
        How many classes ``topk_overlap`` looks at, how many neighbours ``rank_overlap``.
    scores, classes : str or None
        Of a detection: the outputs that hold a score, a class number a box, by their paths beside
        the boxes; None where there is none, or where both are columns behind the boxes' four.
    along : tuple of str
        Of a detection: further outputs with a row a box, by their paths beside the boxes.
    box_format : str
        Of a detection: one of :data:`BOX_FORMATS`.
    threshold : float or None
        Of a detection: the score from which a box counts; None: every box does. Of a multilabel output
        and of a mask of one class: the score from which a label is on; None: 0.5.
    ignore_index : int or None
        Of a segmentation: class of the golden's pixels that do not count.
    logits : str or None
        Of tokens: the output with the scores that each token was chosen by, by its path beside them.
    """

    kind: str = "tensor"
    per: str = "sample"
    per_is_declared: bool = False
    labels: tuple[str, ...] | None = None
    top_k: int = 5
    scores: str | None = None
    classes: str | None = None
    along: tuple[str, ...] = ()
    box_format: str = "xyxy"
    threshold: float | None = None
    ignore_index: int | None = None
    logits: str | None = None


@dataclass(frozen=True, kw_only=True)
class CaseSpec:
    """Everything that observing one case needs to know.

    Parameters
    ----------
    suite, variant : str
        Names; ``variant`` is ``reference`` for the reference.
    root : str
        Absolute folder of the suite file.
    python_path : tuple of str
        Absolute folders put in front of ``sys.path`` for ``module:attr`` references.
    samples : SampleSet
        Already verified against its files.
    loader, model, preprocess, collate, forward : str or None
        Names or ``module:attr`` references as in the suite file. ``model`` is None only
        for a runtime that brings its own, such as a file.
    batch_size : int
        Samples a forward pass; the last batch may be shorter.
    threads : int or None
        Intra-op threads to set around the case, as the suite says; None: it does not.
    default_threads : int or None
        Threads to use when the suite sets none: the machine's share of this process;
        None leaves the framework's own. A number that user code sets itself wins.
    deterministic : bool
        Whether to ask the framework for deterministic algorithms.
    device : str or None
        Where the model runs: ``cpu``, ``cuda``, ``cuda:1``; None leaves model and inputs
        where the factory and preprocess put them.
    dtype : str or None
        One of :data:`COMPUTE_DTYPES`: what floating parameters, buffers and inputs are cast to.
    autocast : str or None
        One of :data:`AUTOCAST_DTYPES`: mixed precision around the forward passes.
    memory_format : str or None
        One of :data:`MEMORY_FORMATS`, for parameters and inputs of four or five axes.
    outputs : mapping of str to OutputSpec
        Declared outputs by output path.
    axes : mapping
        The axis values in which the variant differs from the reference, as written.
    facts : mapping of str to scalar
        What the project adds to the fingerprint, by dotted key.
    environment : EnvironmentSpec or None
        Where it is observed; None: in this process.
    """

    suite: str
    variant: str = REFERENCE
    root: str
    python_path: tuple[str, ...]
    samples: SampleSet
    loader: str
    model: str | None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: CheckpointRef | None = None
    preprocess: str | None = None
    collate: str | None = None
    forward: str | None = None
    runtime: RuntimeSpec = field(default_factory=RuntimeSpec)
    batch_size: int = 8
    threads: int | None = None
    default_threads: int | None = None
    deterministic: bool = False
    device: str | None = None
    dtype: str | None = None
    autocast: str | None = None
    memory_format: str | None = None
    outputs: Mapping[str, OutputSpec] = field(default_factory=dict)
    axes: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    environment: EnvironmentSpec | None = None

    @property
    def id(self) -> str:
        """The case id, ``<suite>[<variant>]``."""
        return case_id(self.suite, self.variant)


def case_id(suite: str, variant: str) -> str:
    """Return the id under which a case is listed: ``photo-classifier[reference]``."""
    return f"{suite}[{variant}]"
