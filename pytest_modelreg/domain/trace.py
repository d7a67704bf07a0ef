"""The trace: compact facts of an observation that a later diagnosis needs, because the old model is gone.

What belongs here: values only. Who gathers them is ``observe``'s, the files are ``store``'s and what
they prove is ``diagnose``'s. To keep one more fact, add a field with a default: goldens from before it
have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.project_code import ProjectReads, SourceFile


@dataclass(frozen=True, kw_only=True)
class ExactSample:
    """Where the inputs of one sample are.

    Parameters
    ----------
    form : mapping
        Structure, dtypes and shapes of the inputs, as JSON values.
    offset : int
        Of the first leaf's bytes, in the file's data.
    """

    id: str
    sha256: str
    input_digest: str | None
    form: Mapping[str, Any]
    offset: int


@dataclass(frozen=True, kw_only=True)
class ExactInputs:
    """What the model was fed for a few samples, bit by bit.

    Parameters
    ----------
    file : ArrayFile
        uint8, axes (byte,): all leaves of all samples, one after the other.
    n_bytes : int
        Length of that axis.
    """

    file: ArrayFile
    n_bytes: int
    samples: tuple[ExactSample, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The samples' ids, in the order in which they lie in the file."""
        return tuple(sample.id for sample in self.samples)


@dataclass(frozen=True, kw_only=True)
class LeafPoints:
    """Where one input of a sample was looked at.

    Parameters
    ----------
    path : str
        Which input of the model, empty for a bare tensor.
    axis : int or None
        Of the channels; None where all of it counts as one.
    n_places : int
        At each of them, the values of all channels are kept.
    """

    path: str
    dtype: str
    shape: tuple[int, ...]
    axis: int | None
    n_places: int

    @property
    def n_channels(self) -> int:
        """How many channels there are."""
        return 1 if self.axis is None else self.shape[self.axis]


LeafForms = tuple[LeafPoints, ...]
"""The inputs of one sample, in the order of their numbers."""


@dataclass(frozen=True, kw_only=True)
class InputPoints:
    """What the model was fed for samples at a few seeded places, and its channels' statistics.

    Parameters
    ----------
    file : ArrayFile
        float64, axes (number, column), one column: sample by sample and input by input the values, axes
        (channel, place), then the statistics, axes (channel, statistic), as ``trace.points`` defines both.
    n_numbers : int
        Length of the first axis.
    samples : tuple of str
        Ids, in the order in which they lie in the file.
    forms : tuple of tuple of LeafPoints
        All that there are.
    form_of : tuple of int
        One a sample: which of ``forms`` it has.
    """

    file: ArrayFile
    n_numbers: int
    samples: tuple[str, ...]
    forms: tuple[LeafForms, ...]
    form_of: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TensorFacts:
    """One entry of a state dict.

    Parameters
    ----------
    digest : str
        16 hex digits over dtype, shape and bytes.
    is_buffer : bool
        Whether it is no parameter: a running mean, a mask.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    digest: str
    is_buffer: bool = False


@dataclass(frozen=True, kw_only=True)
class WeightFacts:
    """The weights of a model, tensor by tensor.

    Parameters
    ----------
    tensors : tuple of TensorFacts
        By name.
    file : ArrayFile
        float64, axes (tensor, column): a count sketch of the tensor's numbers, their norm, and how many
        are not finite. Of a large tensor, of evenly spread elements.
    """

    tensors: tuple[TensorFacts, ...]
    file: ArrayFile
    n_columns: int


@dataclass(frozen=True, kw_only=True)
class ModuleFacts:
    """One module of the model.

    Parameters
    ----------
    name : str
        Its path; ``(model)`` for the root.
    settings : str
        Class and settings in one line: ``BatchNorm2d(32, eps=1e-05, momentum=0.1)``.
    is_training : bool
        Whether it was in train mode while the model ran, after ``eval()``.
    """

    name: str
    settings: str
    is_training: bool = False


@dataclass(frozen=True, kw_only=True)
class Activations:
    """What modules returned for a few samples, each run alone.

    Parameters
    ----------
    file : ArrayFile
        float64, axes (row, column), rows by (sample, call): a count sketch of what the call returned,
        its norm, and how many of its numbers are not finite. A row of NaN where it returned no numbers.
    samples : tuple of str
        Ids, in the order of the rows.
    calls : tuple of str
        Modules in the order in which they returned; ``name#2`` is a module's second call.
    """

    file: ArrayFile
    n_columns: int
    samples: tuple[str, ...]
    calls: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """What running the model in other ways on the exact inputs gave, as relative errors.

    Parameters
    ----------
    rerun_rel_l2 : float
        Largest over samples between two passes with the same seed; 0 where the model is deterministic.
    seed_rel_l2 : float
        As well, with another seed: what the model draws.
    alone_rel_l2 : float
        As well, between a sample alone and in a batch of all; None where it cannot be batched or split.
    mutated : tuple of str
        Entries of the state dict that forward passes changed.
    unloaded : tuple of str
        Entries that are others when the model is built from another seed: no checkpoint reached them.
    initial : tuple of str or None
        Entries that are as the factory makes them before it loads anything; None where that is not known.
    strays : tuple of str
        Keys that a ``load_state_dict`` was given and that no entry of the model took.
    n_loads : int
        How often one was called while the model was built.
    untouched : tuple of str
        Running statistics that are still as a new module has them.
    train_calls : tuple of str
        Functions that were called as in training, by module: ``head: dropout``.
    draws : tuple of str
        Functions that drew random numbers, by module: ``(model): rand``.
    """

    rerun_rel_l2: float = 0.0
    seed_rel_l2: float = 0.0
    alone_rel_l2: float | None = None
    mutated: tuple[str, ...] = ()
    unloaded: tuple[str, ...] = ()
    initial: tuple[str, ...] | None = None
    strays: tuple[str, ...] = ()
    n_loads: int = 0
    untouched: tuple[str, ...] = ()
    train_calls: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Everything kept for diagnosis; what could not be had is None or empty.

    Parameters
    ----------
    points : InputPoints or None
        Of samples whose inputs are not in ``exact``.
    reads : ProjectReads or None
        None in goldens from before it was kept.
    element_types : mapping of str to int
        Of a graph from a file: how many of its weights are of each, by numpy's names.
    model_fault : str
        Why nothing is known of the model: it could not be run alone, is no module, or comes from a file.
    """

    exact: ExactInputs | None = None
    points: InputPoints | None = None
    weights: WeightFacts | None = None
    modules: tuple[ModuleFacts, ...] = ()
    activations: Activations | None = None
    behaviour: Behaviour | None = None
    sources: tuple[SourceFile, ...] = ()
    reads: ProjectReads | None = None
    element_types: Mapping[str, int] = field(default_factory=dict)
    model_fault: str = ""

    @property
    def files(self) -> tuple[ArrayFile, ...]:
        """Every file that the trace names."""
        parts = (self.exact, self.points, self.weights, self.activations)
        return tuple(part.file for part in parts if part is not None)


@dataclass(frozen=True, kw_only=True)
class TraceRequest:
    """What is asked of a trace.

    Parameters
    ----------
    chosen : tuple of str
        Samples whose inputs are prepared and kept, the most wanted first.
    digests : mapping of str to str
        Input digest of each as it was observed: a sample that comes out otherwise now is not kept.
    max_bytes : int
        What exact inputs may weigh; 0 keeps none.
    exact : ExactInputs or None
        Inputs to run the model on instead: nothing is prepared then.
    exact_folder : str
        Absolute path of the folder that holds their file.
    """

    chosen: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    max_bytes: int = 0
    exact: ExactInputs | None = None
    exact_folder: str = ""
