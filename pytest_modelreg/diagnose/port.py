"""The port of diagnosis: what it is told of a drift, and what it may ask to be run again.

What belongs here: the questions and their answers as values. Whoever can run a model implements
:class:`Replay`; diagnosis itself knows no framework. To ask for one more kind of replay, add a field to
:class:`Change`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.example_trial import ExampleTrial
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.trace import Trace


@dataclass(frozen=True, kw_only=True)
class TraceAt:
    """A trace and the folder of its files."""

    trace: Trace
    folder: Path


@dataclass(frozen=True, kw_only=True)
class DriftCase:
    """A case that drifted, with both sides of it.

    Parameters
    ----------
    spec : CaseSpec
        The case, with its samples.
    today : TraceAt or None
        The trace of this run, on the inputs of this run; None where it could not be had.
    trace_fault : str
        Why not, where that is known.
    """

    golden: Golden
    golden_folder: Path
    observation: Observation
    result: CaseResult
    spec: CaseSpec
    today: TraceAt | None = None
    trace_fault: str = ""

    @property
    def then(self) -> TraceAt | None:
        """The trace that the golden keeps."""
        trace = self.golden.observation.trace
        return None if trace is None else TraceAt(trace=trace, folder=self.golden_folder)

    @property
    def changed_inputs(self) -> tuple[str, ...]:
        """Samples of which the model was fed something else than the golden's was."""
        then = {sample.id: sample.input_digest for sample in self.golden.observation.samples}
        return tuple(
            sample.id
            for sample in self.observation.samples
            if sample.id in then
            and None not in (then[sample.id], sample.input_digest)
            and sample.input_digest != then[sample.id]
        )

    @property
    def worst_rel_l2(self) -> Mapping[str, float]:
        """The largest relative error over outputs of every compared sample, by id."""
        measures = self.result.measures
        worst = dict.fromkeys(measures.ids, 0.0)
        for values in measures.rel_l2.values():
            for name, value in zip(measures.ids, values, strict=True):
                worst[name] = max(worst[name], value)
        return worst


@dataclass(frozen=True, kw_only=True)
class Change:
    """One thing to be done otherwise than the case does it, all else being equal.

    Parameters
    ----------
    label : str
        What is changed, for evidence: ``optimization: disabled``.
    is_fed_golden : bool
        Whether the model is fed the inputs that the golden keeps; else those of this run.
    runtime : RuntimeSpec or None
        Another runtime; None: the case's.
    batch_size : int or None
        Another batch size.
    resets : tuple of str
        Axes that are left to their default: ``dtype``, ``autocast``, ``threads``, ``memory_format``,
        ``device``, ``environment``.
    variables : mapping of str to str or None
        Environment variables to be set in a process of its own; None unsets one.
    """

    label: str
    is_fed_golden: bool = True
    runtime: RuntimeSpec | None = None
    batch_size: int | None = None
    resets: tuple[str, ...] = ()
    variables: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of a replay.

    Parameters
    ----------
    agrees : bool or None
        Whether the drift is gone; None when that cannot be told: no drifting sample could be replayed.
    rel_l2 : float
        Largest relative error against the golden over the replayed samples; infinite where their answers
        differ in form.
    before : float
        As well, of the same samples in the case itself.
    moved : float or None
        How far the answers are from the case's own, of samples whose inputs changed, largest relative error:
        what the inputs alone make of the model of today. None where no such sample was replayed.
    samples : tuple of str
        What was replayed.
    fault : str
        Why nothing could be replayed.
    """

    agrees: bool | None
    rel_l2: float = 0.0
    before: float = 0.0
    moved: float | None = None
    samples: tuple[str, ...] = ()
    fault: str = ""

    def as_evidence(self, label: str) -> dict[str, Any]:
        """Return the answer to a change of this name as builtin scalars and lists."""
        fields: dict[str, Any] = {
            "change": label,
            "agrees": self.agrees,
            "rel_l2": self.rel_l2,
            "before": self.before,
            "samples": list(self.samples),
        }
        if self.moved is not None:
            fields["moved"] = self.moved
        return {**fields, "fault": self.fault} if self.fault else fields


class Replay(Protocol):
    """Runs a case again, with one thing changed."""

    def has_time(self) -> bool:
        """Whether the time budget is not used up."""

    def explain_inputs(self) -> tuple[CauseFinding, ...]:
        """Return what turns the golden's inputs into this run's, on samples whose inputs the golden keeps.

        By :func:`~pytest_modelreg.diagnose.inputs.explain_inputs`, once for all cases that are fed the same.
        """

    def trace_on_golden(self) -> TraceAt | None:
        """Return the trace of this run's model on the inputs that the golden keeps."""

    def trace_graph(self) -> tuple[TraceAt, TraceAt] | None:
        """Return the traces of this run's model, in eager mode and as exported, on the same inputs."""

    def try_example(self, *, tries_size: bool) -> ExampleTrial | None:
        """Export the model with a drifting sample as its example, and run both graphs on it and on another.

        Parameters
        ----------
        tries_size : bool
            Whether it is also exported with an example of another size.
        """

    def ask(self, change: Change) -> Answer:
        """Run the case on a few drifting samples with one thing changed, and hold it against the golden."""
