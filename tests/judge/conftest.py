"""A golden and an observation on disk, and one call that judges them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.domain.environment import FactValue, Fingerprint
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.domain.observation import (
    Observation,
    ObservedSample,
    OutputRecord,
    PreprocessHabit,
    RuntimeFinding,
    Stage,
)
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.judge import JudgeRequest, judge_case, profile_observation
from pytest_modelreg.store import OutputWriter

Values = np.ndarray | Sequence[np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one side recorded: arrays by output path, and the facts around them."""

    outputs: Mapping[str, Values]
    dtypes: Mapping[str, str] = field(default_factory=dict)
    per: Mapping[str, str] = field(default_factory=dict)
    ids: Sequence[str] | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str | None] = field(default_factory=dict)
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    weights: str | None = "w1"
    batch_size: int = 2
    warnings: Sequence[str] = ()
    training: Sequence[str] = ()
    variant: str = "reference"
    axes: Mapping[str, Any] = field(default_factory=dict)
    stages: Sequence[Stage] = ()
    checklist: Mapping[str, Any] = field(default_factory=dict)
    habits: Sequence[PreprocessHabit] = ()
    runtime_findings: Sequence[RuntimeFinding] = ()


def name_samples(count: int) -> list[str]:
    """Return ids ``s0``, ``s1``, and so on."""
    return [f"s{number}" for number in range(count)]


def record(folder: Path, side: Side) -> Observation:
    """Write a side's arrays and return its observation."""
    folder.mkdir(parents=True)
    records = {path: _write(folder, path, values, side) for path, values in side.outputs.items()}
    per_sample = [
        len(values) for path, values in side.outputs.items() if side.per.get(path, "sample") == "sample"
    ]
    ids = side.ids if side.ids is not None else name_samples(per_sample[0] if per_sample else 4)
    return Observation(
        suite="toy",
        variant=side.variant,
        axes=dict(side.axes),
        batch_size=side.batch_size,
        samples=tuple(
            ObservedSample(
                id=name, sha256=side.digests.get(name, name), input_digest=side.inputs.get(name, name)
            )
            for name in ids
        ),
        outputs=records,
        weights_digest=side.weights,
        fingerprint=Fingerprint(facts=dict(side.facts)),
        warnings=tuple(side.warnings),
        training_modules=tuple(side.training),
        stages=tuple(side.stages),
        checklist=dict(side.checklist),
        habits=tuple(side.habits),
        runtime_findings=tuple(side.runtime_findings),
    )


def _write(folder: Path, path: str, values: Values, side: Side) -> OutputRecord:
    writer = OutputWriter(folder, path, per=side.per.get(path, "sample"), n_rows=len(values))
    dtype = side.dtypes.get(path, values[0].dtype.name if len(values) else "float32")
    if isinstance(values, np.ndarray):
        writer.append(values, dtype=dtype)
    else:
        writer.append_ragged(values, dtype=dtype)
    return writer.close()


class Court:
    """Judges two sides in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._n_requests = 0

    def request(
        self,
        expected: Side,
        actual: Side,
        *,
        specs: Mapping[str, OutputSpec] | None = None,
        checks: CheckPlan | None = None,
        tags: Mapping[str, tuple[str, ...]] | None = None,
        labels: Mapping[str, str] | None = None,
        noise_floor: Mapping[str, float] | None = None,
        **more: Any,
    ) -> JudgeRequest:
        """Write both sides and return the request to judge them; ``more`` are fields of the request."""
        self._n_requests += 1
        folders = [self._folder / str(self._n_requests) / name for name in ("golden", "run")]
        before, after = record(folders[0], expected), record(folders[1], actual)
        golden = Golden(
            observation=before,
            accepted=Acceptance(date="2026-01-01T00:00:00Z", reason="first recording"),
            profiles=profile_observation(folders[0], before),
            noise_floor=noise_floor or {},
        )
        samples = SampleSet(
            folder=str(self._folder),
            samples=tuple(
                Sample(
                    id=each.id,
                    file=each.id,
                    sha256=each.sha256,
                    label=(labels or {}).get(each.id),
                    tags=(tags or {}).get(each.id, ()),
                )
                for each in after.samples
            ),
        )
        return JudgeRequest(
            golden=golden,
            golden_folder=folders[0],
            observation=after,
            observation_folder=folders[1],
            samples=samples,
            outputs=specs or {},
            checks=checks or CheckPlan(),
            **more,
        )

    def judge(self, expected: Any, actual: Any, **options: Any) -> CaseResult:
        """Judge two sides; an array stands for a side with the only output ``y``."""
        sides = [side if isinstance(side, Side) else Side(outputs={"y": side}) for side in (expected, actual)]
        return judge_case(self.request(sides[0], sides[1], **options))


@pytest.fixture(scope="session")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    """Return what judges; shared, because hypothesis calls it many times a test."""
    return Court(tmp_path_factory.mktemp("court"))


@pytest.fixture(scope="session")
def side() -> type[Side]:
    """Return the class of a recorded side."""
    return Side


@pytest.fixture(scope="session")
def ask() -> Callable[..., CheckPlan]:
    """Return a function that makes a plan: suite-wide limits, switched-off checks, limits of one output."""

    def make(*limits: Limit, off: Sequence[str] = (), **by_output: Sequence[Limit]) -> CheckPlan:
        return CheckPlan(
            default=OutputChecks(limits=tuple(limits), off=frozenset(off)),
            by_output={
                path: OutputChecks(limits=(*limits, *own), off=frozenset(off))
                for path, own in by_output.items()
            },
        )

    return make


@pytest.fixture(scope="session")
def limit() -> Callable[..., Limit]:
    """Return a function that makes a limit written in the suite."""

    def make(name: str, value: float | None = None, **more: Any) -> Limit:
        return Limit(name=name, value=value, source=more.pop("source", f"checks.{name}"), **more)

    return make
