"""What follows for the limits of one case: what it has now, what it misses, what to propose.

What belongs here: gathering a case's numbers for ``limit_rule``, through judging and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult, CheckResult
from pytest_modelreg.engine.calibration.floor import NoiseFloor
from pytest_modelreg.engine.calibration.limit_rule import (
    PLANTED,
    LimitAdvice,
    PresentLimit,
    advise,
    is_coarser_than_planted,
)
from pytest_modelreg.engine.calibration.noise import Base, PerturbationNoise
from pytest_modelreg.engine.calibration.perturbation import Role, as_perturbation
from pytest_modelreg.engine.calibration.planted_change import plant_change
from pytest_modelreg.engine.suite import CasePlan

GATE = "rel_l2"


@dataclass(frozen=True, kw_only=True)
class CaseLimits:
    """What a case's limits are, and which outputs they leave open.

    Parameters
    ----------
    presents : mapping of str to PresentLimit
        By output path.
    missing : frozenset of str
        Outputs on which the planted change passes.
    """

    case: CasePlan
    presents: Mapping[str, PresentLimit]
    missing: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class CaseCalibration:
    """What follows for one case.

    Parameters
    ----------
    advices : tuple of LimitAdvice
        One an output, in the golden's order.
    failing : tuple of (str, CheckResult)
        Checks other than ``rel_l2`` that benign changes fail, with the perturbation's name.
    """

    case: CasePlan
    advices: tuple[LimitAdvice, ...]
    failing: tuple[tuple[str, CheckResult], ...] = ()

    @property
    def asks(self) -> bool:
        """Whether somebody has to look at a limit of it."""
        return bool(self.failing) or any(advice.asks for advice in self.advices)


def read_limits(base: Base, case: CasePlan, observation: Observation, folder: Path) -> CaseLimits:
    """Judge a case as it is and with a planted change, and read off what its limits are worth.

    Raises
    ------
    JudgeError
        When its checks cannot be applied.
    """
    result = base.judge(case, observation, folder)
    default = _judge_by_default(base, case, observation, folder)
    planted = plant_change(observation, folder, base.golden.profiles, size=PLANTED)
    caught = base.judge(case, planted, folder)
    return CaseLimits(
        case=case,
        presents={path: _read_present(result, default, path) for path in result.outputs},
        missing=frozenset(
            path
            for path in caught.outputs
            if not is_coarser_than_planted(observation.outputs[path].dtype)
            and all(check.ok for check in caught.checks if check.output == path)
        ),
    )


def advise_case(
    limits: CaseLimits, floors: Mapping[str, NoiseFloor], noises: Sequence[PerturbationNoise]
) -> CaseCalibration:
    """Return what follows for a case from the floors of its golden and its own distance."""
    case = limits.case
    own = next((noise for noise in noises if noise.perturbation.plan.id == case.id), None)
    is_declared = as_perturbation(case).role is Role.DECLARED
    advices = []
    for path, present in limits.presents.items():
        if path not in floors:
            continue
        measured = own.outputs.get(path) if own is not None and is_declared else None
        advices.append(
            advise(
                path,
                present,
                floors[path],
                distance=None if measured is None else measured.largest,
                misses_planted=path in limits.missing,
            )
        )
    return CaseCalibration(case=case, advices=tuple(advices), failing=_list_failing(case, noises))


def _list_failing(case: CasePlan, noises: Sequence[PerturbationNoise]) -> tuple[tuple[str, CheckResult], ...]:
    """List the checks of a case that benign changes fail; a variant meets only its own run."""
    return tuple(
        (noise.perturbation.name, check)
        for noise in noises
        if noise.is_noise and _concerns(noise, case)
        for output in noise.outputs.values()
        for check in output.checks
        if not check.ok and check.name not in (GATE, "exact")
    )


def _concerns(noise: PerturbationNoise, case: CasePlan) -> bool:
    perturbation = noise.perturbation
    return perturbation.plan.id == case.id if perturbation.is_variant else case.keeps_golden


def _judge_by_default(
    base: Base, case: CasePlan, observation: Observation, folder: Path
) -> CaseResult | None:
    """Judge a case as if its suite wrote no limit; None where a dtype has no default."""
    try:
        return base.judge(case, observation, folder, checks=CheckPlan())
    except JudgeError:
        return None


def _read_present(result: CaseResult, default: CaseResult | None, path: str) -> PresentLimit:
    own, usual = _find_gate(result, path), None if default is None else _find_gate(default, path)
    return PresentLimit(
        value=None if own is None or own.name != GATE else own.limit,
        source="" if own is None else own.source,
        default=None if usual is None else usual.limit,
        is_exact=own is not None and own.name != GATE,
    )


def _find_gate(result: CaseResult, path: str) -> CheckResult | None:
    """Return the check of values over all samples: ``exact`` where there is one, else ``rel_l2``."""
    found = [check for check in result.checks if check.output == path and check.tag is None]
    return next((check for name in ("exact", GATE) for check in found if check.name == name), None)
