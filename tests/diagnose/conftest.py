"""Two sides of a drift, built by hand, and a replay whose answers are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.diagnose import Answer, Change, DriftCase, InputPair, TraceAt
from pytest_modelreg.diagnose.inputs import explain_inputs
from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.environment import EnvironmentChange, FactValue, Fingerprint
from pytest_modelreg.domain.example_trial import ExampleTrial
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.domain.observation import Observation, ObservedSample, Stage
from pytest_modelreg.domain.project_code import ProjectReads, SourceFile
from pytest_modelreg.domain.result import CaseResult, SampleMeasures
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.domain.trace import (
    Activations,
    Behaviour,
    ModuleFacts,
    TensorFacts,
    Trace,
    WeightFacts,
)
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.store import write_trace
from pytest_modelreg.trace import CountSketch, digest_arrays, make_row

IDS = ("a", "b", "c", "d")


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one side of a drift is made of."""

    weights: Mapping[str, np.ndarray] = field(
        default_factory=lambda: {"conv.weight": np.arange(24.0), "bn.running_mean": np.ones(4)}
    )
    buffers: Sequence[str] = ("bn.running_mean",)
    modules: Mapping[str, str] = field(default_factory=lambda: {"(model)": "Net()", "conv": "Conv2d(3, 8)"})
    training: Sequence[str] = ()
    behaviour: Behaviour = field(default_factory=lambda: Behaviour(alone_rel_l2=0.0))
    calls: Mapping[str, np.ndarray] = field(
        default_factory=lambda: {"conv": np.ones(50), "head": np.ones(10), "(model)": np.ones(5)}
    )
    sources: Mapping[str, str] = field(default_factory=lambda: {"net.py": "1" * 64})
    sides: Mapping[str, Sequence[str]] = field(default_factory=dict)
    reads: ProjectReads | None = None
    inputs: Mapping[str, str] = field(default_factory=lambda: {name: name for name in IDS})
    stages: Sequence[Stage] = ()
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    batch_size: int = 2
    has_trace: bool = True


class GivenReplay:
    """Answers as it was told to, by the label of the change; notes what it was asked."""

    def __init__(
        self, answers: Mapping[str, Answer] | None = None, *, pairs: Sequence[InputPair] = ()
    ) -> None:
        self._answers = dict(answers or {})
        self._pairs = tuple(pairs)
        self.asked: list[Change] = []
        self.traced: TraceAt | None = None
        self.graphs: tuple[TraceAt, TraceAt] | None = None
        self.trial: ExampleTrial | None = None
        self.tried: list[bool] = []
        self.time_left = True

    def has_time(self) -> bool:
        """Whether it was told that there is time."""
        return self.time_left

    def explain_inputs(self) -> tuple[CauseFinding, ...]:
        """Return what explains the given pairs."""
        return explain_inputs(self._pairs, has_time=self.has_time)

    def trace_on_golden(self) -> TraceAt | None:
        """Return the given trace."""
        return self.traced

    def trace_graph(self) -> tuple[TraceAt, TraceAt] | None:
        """Return the given traces."""
        return self.graphs

    def try_example(self, *, tries_size: bool) -> ExampleTrial | None:
        """Note the question and return the given trial."""
        self.tried.append(tries_size)
        return self.trial

    def ask(self, change: Change) -> Answer:
        """Note the question and return the given answer."""
        self.asked.append(change)
        return self._answers.get(change.label, Answer(agrees=None, fault="not asked for"))


class Bench:
    """Builds drifts in folders of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._n_sides = 0

    def trace(self, side: Side) -> TraceAt:
        """Write the trace of a side."""
        self._n_sides += 1
        folder = self._folder / str(self._n_sides)
        folder.mkdir()
        return TraceAt(trace=_make_trace(folder, side), folder=folder)

    def drift(
        self,
        expected: Side,
        actual: Side,
        *,
        drifted: Sequence[str] = IDS,
        changes: Sequence[EnvironmentChange] = (),
        rel_l2: float = 0.3,
        **spec: Any,
    ) -> DriftCase:
        """Return a drift between two sides."""
        then, now = self.trace(expected), self.trace(actual)
        golden = Golden(
            observation=_observe(expected, then),
            accepted=Acceptance(date="2026-01-01T00:00:00Z", reason="first"),
            profiles={},
        )
        samples = SampleSet(
            folder=str(self._folder),
            samples=tuple(Sample(id=name, file=f"{name}.npy", sha256=name) for name in IDS),
        )
        values = tuple(rel_l2 if name in drifted else 0.0 for name in IDS)
        return DriftCase(
            golden=golden,
            golden_folder=then.folder,
            observation=_observe(actual, now),
            result=CaseResult(
                suite="toy",
                variant="reference",
                verdict=Verdict.DRIFT,
                message="drift",
                n_samples=len(IDS),
                drifted_samples=tuple(drifted),
                measures=SampleMeasures(ids=IDS, rel_l2={"logits": values}),
                inputs_identical=dict(expected.inputs) == dict(actual.inputs),
                environment_changes=tuple(changes),
            ),
            spec=CaseSpec(
                suite="toy",
                root=str(self._folder),
                python_path=(),
                samples=samples,
                loader="array",
                model="net:build",
                batch_size=actual.batch_size,
                **spec,
            ),
            today=now if actual.has_trace else None,
        )


def _observe(side: Side, at: TraceAt) -> Observation:
    digest = digest_arrays([(name, "float64", array) for name, array in sorted(side.weights.items())])
    return Observation(
        suite="toy",
        variant="reference",
        axes={},
        batch_size=side.batch_size,
        samples=tuple(ObservedSample(id=name, sha256=name, input_digest=side.inputs[name]) for name in IDS),
        outputs={},
        weights_digest=digest,
        fingerprint=Fingerprint(facts=dict(side.facts)),
        stages=tuple(side.stages),
        trace=at.trace if side.has_trace else None,
    )


def _make_trace(folder: Path, side: Side) -> Trace:
    tensors = tuple(
        TensorFacts(
            name=name,
            dtype=array.dtype.name,
            shape=array.shape,
            digest=digest_arrays([("", array.dtype.name, array)])[:16],
            is_buffer=name in side.buffers,
        )
        for name, array in side.weights.items()
    )
    rows = np.array([_sketch(array) for array in side.weights.values()])
    calls = np.array([_sketch(array) for array in side.calls.values()])
    return Trace(
        weights=WeightFacts(
            tensors=tensors, file=write_trace(folder, "weights", rows), n_columns=rows.shape[1]
        ),
        modules=tuple(
            ModuleFacts(name=name, settings=settings, is_training=name in side.training)
            for name, settings in side.modules.items()
        ),
        activations=Activations(
            file=write_trace(folder, "activations", calls),
            n_columns=calls.shape[1],
            samples=("a",),
            calls=tuple(side.calls),
        ),
        behaviour=side.behaviour,
        sources=tuple(
            SourceFile(file=file, sha256=sha256, sides=tuple(side.sides.get(file, ())))
            for file, sha256 in side.sources.items()
        ),
        reads=side.reads,
    )


def _sketch(array: np.ndarray) -> np.ndarray:
    sketch = CountSketch(64)
    sketch.add(array)
    return make_row(sketch)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Builds drifts."""
    return Bench(tmp_path)


@pytest.fixture
def make_replay() -> Callable[..., GivenReplay]:
    """Make a replay with given answers."""
    return GivenReplay
