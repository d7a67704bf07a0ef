"""How far a perturbation moved the outputs: judged as any case is, and read off its result.

What belongs here: from a judged result to the numbers of a table. Distances are ``rel_l2`` as judging
measures it, with its floor for samples near zero; there is no second measure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult, CheckResult, StructureFinding
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.calibration.perturbation import Perturbation, Role
from pytest_modelreg.engine.judging import judge_as
from pytest_modelreg.engine.suite import CasePlan
from pytest_modelreg.judge import JudgeRequest, profile_observation


@dataclass(frozen=True, kw_only=True)
class OutputNoise:
    """What one perturbation did to one output.

    Parameters
    ----------
    largest, median : float
        ``rel_l2`` over the samples, dimensionless; infinite where a side alone is not finite.
    worst_sample : str
        Whose distance is the largest; empty where no output has a row a sample, or nothing moved.
    n_flips : int or None
        Samples whose best class is another one, near ties left out; None where no check looks.
    checks : tuple of CheckResult
        The checks of the case, as the perturbation meets them.
    """

    largest: float
    median: float
    worst_sample: str
    n_flips: int | None
    checks: tuple[CheckResult, ...]


@dataclass(frozen=True, kw_only=True)
class PerturbationNoise:
    """What one perturbation came to.

    Parameters
    ----------
    outputs : mapping of str to OutputNoise
        By output path; without those that cannot be compared.
    n_near_ties : int
        Samples whose decision flipped within the near-tie bound.
    findings : tuple of StructureFinding
        Structural differences.
    fault : str
        Why it could not run, in one line; empty where it did.
    is_skipped : bool
        Whether the machine is the reason.
    """

    perturbation: Perturbation
    outputs: Mapping[str, OutputNoise] = field(default_factory=dict)
    n_near_ties: int = 0
    findings: tuple[StructureFinding, ...] = ()
    fault: str = ""
    is_skipped: bool = False

    @property
    def is_noise(self) -> bool:
        """Whether its distance is noise of the golden it is held against."""
        return self.perturbation.role is Role.BENIGN


@dataclass(frozen=True, kw_only=True)
class Base:
    """What perturbations are held against: what the case produced in this run.

    Parameters
    ----------
    golden : Golden
        The observation as if it were accepted, with the noise floor that is in force.
    folder : pathlib.Path
        Where its arrays are.
    samples : SampleSet
        The whole sample set: labels and tags come from it.
    """

    case: CasePlan
    golden: Golden
    folder: Path
    samples: SampleSet

    def judge(
        self, plan: CasePlan, observation: Observation, folder: Path, *, checks: CheckPlan | None = None
    ) -> CaseResult:
        """Judge an observation as a case of this plan would be judged against the base.

        Raises
        ------
        JudgeError
            When a check cannot be applied, or nothing could be compared.
        """
        return judge_as(
            plan,
            JudgeRequest(
                golden=self.golden,
                golden_folder=self.folder,
                observation=observation,
                observation_folder=folder,
                samples=self.samples,
                outputs=plan.outputs,
                checks=plan.checks if checks is None else checks,
            ),
        )


def make_base(
    case: CasePlan,
    observation: Observation,
    folder: Path,
    samples: SampleSet,
    noise_floor: Mapping[str, float],
) -> Base:
    """Return an observation of this run in the place of a golden.

    Parameters
    ----------
    noise_floor : mapping of str to float
        Of the golden that there is: near ties are told as in any run.
    """
    golden = Golden(
        observation=observation,
        accepted=Acceptance(date="", reason=""),
        profiles=profile_observation(folder, observation),
        noise_floor={path: value for path, value in noise_floor.items() if path in observation.outputs},
    )
    return Base(case=case, golden=golden, folder=folder, samples=samples)


def measure_noise(
    base: Base, perturbation: Perturbation, observation: Observation, folder: Path
) -> PerturbationNoise:
    """Hold what a perturbation produced against the base.

    Raises
    ------
    JudgeError
        As :meth:`Base.judge`.
    """
    result = base.judge(perturbation.plan, observation, folder)
    return PerturbationNoise(
        perturbation=perturbation,
        outputs={path: _read_output(result, path) for path in result.outputs},
        n_near_ties=sum(sample.near_tie for sample in result.samples),
        findings=result.structure,
    )


def note_failure(perturbation: Perturbation, error: Exception, *, is_skipped: bool) -> PerturbationNoise:
    """Return a perturbation that could not run, with the first line of the reason."""
    text = (str(error).splitlines() or [type(error).__name__])[0]
    fault = text.removeprefix(f"{perturbation.plan.id}: ")
    return PerturbationNoise(perturbation=perturbation, fault=fault, is_skipped=is_skipped)


def _read_output(result: CaseResult, path: str) -> OutputNoise:
    measures = result.outputs[path]
    rows = result.measures.rel_l2.get(path, ())
    # A row of another shape stands as infinite among the samples, a side that is not finite among both.
    largest = max([measures.rel_l2, *rows])
    at = max(range(len(rows)), key=lambda index: rows[index]) if rows and max(rows) > 0.0 else None
    checks = tuple(check for check in result.checks if check.output == path)
    return OutputNoise(
        largest=largest,
        median=median(rows) if rows else measures.rel_l2,
        worst_sample="" if at is None else result.measures.ids[at],
        n_flips=_count_flips(checks, len(rows)),
        checks=checks,
    )


def _count_flips(checks: tuple[CheckResult, ...], n_samples: int) -> int | None:
    agreement = next(
        (check for check in checks if check.name == "top1_agreement" and check.tag is None), None
    )
    if agreement is None or math.isnan(agreement.value):
        return None
    return round((1.0 - agreement.value) * n_samples)
