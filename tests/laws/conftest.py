"""Values of a Python test on their way through the whole tool: observed, accepted, judged."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.values import samples_of
from pytest_modelreg.judge import JudgeRequest, judge_case, profile_observation, summarise
from pytest_modelreg.observe import observe_values
from pytest_modelreg.store import open_output, read_golden, verify_files, write_golden


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An observation, or a golden, with the folder of its arrays."""

    folder: Path
    observation: Observation
    golden: Golden | None = None

    def rows(self, path: str) -> list[np.ndarray]:
        """Return the rows of an output as numbers, one array each."""
        output = open_output(self.folder, self.observation.outputs[path])
        return [output.row(index) for index in range(output.n_rows)]


class Bench:
    """Takes values through observation, golden store and judge, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folders = (folder / str(number) for number in itertools.count())

    def record(
        self,
        values: Any,
        *,
        outputs: Mapping[str, OutputSpec] | None = None,
        ids: Sequence[str] | None = None,
    ) -> Recorded:
        """Observe values."""
        folder = next(self._folders)
        observation = observe_values(
            values, folder, suite="py", variant="laws", outputs=outputs or {}, sample_ids=ids
        )
        return Recorded(folder=folder, observation=observation)

    def hold(self, recorded: Recorded) -> Recorded:
        """Return an observation as a golden that was never written: writing waits for the disk."""
        golden = Golden(
            observation=recorded.observation,
            accepted=Acceptance(date="2026-01-01T00:00:00Z", reason="first recording"),
            profiles=profile_observation(recorded.folder, recorded.observation),
        )
        return replace(recorded, golden=golden)

    def accept(self, recorded: Recorded) -> Recorded:
        """Write a golden, read it back, hold its files against their digests."""
        folder, observation = next(self._folders), recorded.observation
        golden = self.hold(recorded).golden
        assert golden is not None
        table = summarise(recorded.folder, observation, samples_of(observation), {})
        write_golden(folder, golden, recorded.folder, table)
        found = read_golden(folder)
        assert found is not None
        assert replace(found, summary=None) == golden
        verify_files(folder, found)
        return Recorded(folder=folder, observation=found.observation, golden=found)

    def judge(
        self,
        accepted: Recorded,
        recorded: Recorded,
        *,
        outputs: Mapping[str, OutputSpec] | None = None,
        checks: CheckPlan | None = None,
        noise_floor: Mapping[str, float] | None = None,
        tags: Mapping[str, tuple[str, ...]] | None = None,
    ) -> CaseResult:
        """Judge an observation against a golden."""
        assert accepted.golden is not None
        known = samples_of(recorded.observation)
        samples = tuple(replace(sample, tags=(tags or {}).get(sample.id, ())) for sample in known.samples)
        return judge_case(
            JudgeRequest(
                golden=replace(accepted.golden, noise_floor=noise_floor or {}),
                golden_folder=accepted.folder,
                observation=recorded.observation,
                observation_folder=recorded.folder,
                samples=SampleSet(folder="", samples=samples),
                outputs=outputs or {},
                checks=checks or CheckPlan(),
            )
        )

    def compare(
        self,
        expected: Any,
        actual: Any,
        *,
        ids: Sequence[str] | None = None,
        actual_ids: Sequence[str] | None = None,
        outputs: Mapping[str, OutputSpec] | None = None,
        **options: Any,
    ) -> CaseResult:
        """Judge one side against the other."""
        golden = self.hold(self.record(expected, outputs=outputs, ids=ids))
        recorded = self.record(actual, outputs=outputs, ids=actual_ids or ids)
        return self.judge(golden, recorded, outputs=outputs, **options)


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    """Return what takes values through; shared, because hypothesis calls it many times a test.

    Its thousands of small files are in memory where the system has a folder there: on a busy disk
    making and removing them takes longer than all the laws.
    """
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="modelreg-laws-", dir=memory) as folder:
        yield Bench(Path(folder))
