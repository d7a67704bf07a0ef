"""Calibrating a golden: its case observed now, perturbed, measured, and what follows for every limit.

What belongs here: the order of things for one golden and the cases that are judged against it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import CaseSkipped, ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.calibration.case_advice import (
    CaseCalibration,
    CaseLimits,
    advise_case,
    read_limits,
)
from pytest_modelreg.engine.calibration.floor import NoiseFloor, find_floor
from pytest_modelreg.engine.calibration.noise import (
    Base,
    PerturbationNoise,
    make_base,
    measure_noise,
    note_failure,
)
from pytest_modelreg.engine.calibration.passes import Passes
from pytest_modelreg.engine.calibration.perturbation import (
    Perturbation,
    as_perturbation,
    list_certain,
    list_perturbations,
)
from pytest_modelreg.engine.judging import judge_as
from pytest_modelreg.engine.observer import CaseProgress
from pytest_modelreg.engine.suite import CasePlan
from pytest_modelreg.judge import JudgeRequest


@dataclass(frozen=True, kw_only=True)
class GoldenCalibration:
    """What was measured for one golden.

    Parameters
    ----------
    observation : Observation
        What its case produced in this run.
    now : CaseResult or None
        That, held against the golden; None where there is none.
    noises : tuple of PerturbationNoise
        In the order in which they ran.
    left_out : tuple of str
        What was not tried, and why.
    floors : mapping of str to NoiseFloor
        By output path.
    cases : tuple of CaseCalibration
        The golden's own case first, then those that are judged against it and could run.
    """

    case: CasePlan
    observation: Observation
    now: CaseResult | None
    noises: tuple[PerturbationNoise, ...]
    left_out: tuple[str, ...]
    floors: Mapping[str, NoiseFloor]
    cases: tuple[CaseCalibration, ...]

    @property
    def asks(self) -> bool:
        """Whether somebody has to look at a limit."""
        return any(case.asks for case in self.cases)

    @property
    def has_failed(self) -> bool:
        """Whether a case of the suite could not run, through no fault of the machine."""
        return any(
            noise.fault and noise.perturbation.is_variant and not noise.is_skipped for noise in self.noises
        )


def calibrate(
    case: CasePlan,
    variants: Sequence[CasePlan],
    *,
    samples: SampleSet,
    whole: SampleSet,
    golden: Golden | None,
    golden_folder: Path,
    facts: Mapping[str, FactValue],
    progress: CaseProgress | None = None,
) -> GoldenCalibration:
    """Measure a case that keeps a golden, and the cases that are judged against it.

    Parameters
    ----------
    samples, whole : SampleSet
        What is run: the suite's set or a part of it; and the suite's, for labels and tags.
    golden : Golden or None
        The one on disk, for near ties as they are told now, and for whether the case still is as it says.
    facts : mapping of str to scalar
        What the project adds to every fingerprint.

    Raises
    ------
    CaseSkipped, ModelRegError
        When the case itself cannot be observed or judged. Perturbations that cannot run are on record.
    """
    with tempfile.TemporaryDirectory(prefix="modelreg-calibrate-", ignore_cleanup_errors=True) as folder:
        passes = Passes(Path(folder), samples, facts=facts, progress=progress)
        try:
            passes.expect(list_certain(case, variants))
            observation, place = passes.run(as_perturbation(case))
            now = None
            if golden is not None:
                now = _judge_now(case, observation, place, golden, golden_folder, whole)
            floor = {} if golden is None else golden.noise_floor
            base = make_base(case, observation, place, whole, floor)
            return _measure(passes, base, variants, now)
        finally:
            passes.close()


def _measure(
    passes: Passes, base: Base, variants: Sequence[CasePlan], now: CaseResult | None
) -> GoldenCalibration:
    case, observation = base.case, base.golden.observation
    listed = list_perturbations(case, observation, variants)
    passes.expect(listed.perturbations)
    limits = [read_limits(base, case, observation, base.folder)]
    noises = []
    for perturbation in listed.perturbations:
        noise, found = _try(passes, base, perturbation)
        noises.append(noise)
        limits += [] if found is None else [found]
    floors = {path: find_floor(path, record.dtype, noises) for path, record in observation.outputs.items()}
    return GoldenCalibration(
        case=case,
        observation=observation,
        now=now,
        noises=tuple(noises),
        left_out=listed.left_out,
        floors=floors,
        cases=tuple(advise_case(each, floors, noises) for each in limits),
    )


def _try(
    passes: Passes, base: Base, perturbation: Perturbation
) -> tuple[PerturbationNoise, CaseLimits | None]:
    """Run and measure one perturbation; one that cannot run is on record and ends nothing."""
    try:
        observation, folder = passes.run(perturbation)
        try:
            noise = measure_noise(base, perturbation, observation, folder)
            if not perturbation.is_variant:
                return noise, None
            return noise, read_limits(base, perturbation.plan, observation, folder)
        finally:
            passes.drop(folder)
    except ModelRegError as error:
        return note_failure(perturbation, error, is_skipped=isinstance(error, CaseSkipped)), None


def _judge_now(
    case: CasePlan,
    observation: Observation,
    folder: Path,
    golden: Golden,
    golden_folder: Path,
    whole: SampleSet,
) -> CaseResult:
    """Hold what the case produced in this run against its golden, over the samples that were run."""
    return judge_as(
        case,
        JudgeRequest(
            golden=golden,
            golden_folder=golden_folder,
            observation=observation,
            observation_folder=folder,
            samples=whole,
            outputs=case.outputs,
            checks=case.checks,
            only=frozenset(sample.id for sample in observation.samples),
        ),
    )
