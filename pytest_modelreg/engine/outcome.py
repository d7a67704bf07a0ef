"""What running one case left behind, and in which words it is offered to the user."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_modelreg.domain.case import OutputSpec, case_id
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.golden_choice import GoldenChoice, choose_golden
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.fingerprint import read_environment_key
from pytest_modelreg.store import golden_folder, golden_sha256


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a case belongs on disk.

    Parameters
    ----------
    golden : Path
        The folder of its golden, whether it is there or not.
    root : Path
        The folder whose git repository vouches for it; messages are relative to it.
    choice : GoldenChoice or None
        Which golden it is held against where a suite keeps several; None: its own.
    golden_root : Path or None
        The folder that no golden leaves by a link; None: two above the golden.
    """

    golden: Path
    root: Path
    choice: GoldenChoice | None = None
    golden_root: Path | None = None

    @property
    def found(self) -> Path:
        """The folder of the golden that it is held against."""
        return self.golden if self.choice is None else self.choice.found

    @property
    def is_fallback(self) -> bool:
        """Whether that golden is another environment's."""
        return self.found != self.golden

    @property
    def shown(self) -> str:
        """The golden's folder as messages show it."""
        golden = self.golden
        return (golden.relative_to(self.root) if golden.is_relative_to(self.root) else golden).as_posix()

    @property
    def has_golden(self) -> bool:
        """Whether a golden, good or broken, would be replaced by recording the case."""
        return golden_sha256(self.golden) is not None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The verdict of one case and what it was reached from.

    Parameters
    ----------
    outputs : mapping of str to OutputSpec
        What the numbers mean, by output path.
    checks : CheckPlan
        What is asked of them.
    observation : Observation or None
        None when the case could not run.
    observation_folder : Path or None
        Where its arrays are, or were: those of a match are removed.
    golden : Golden or None
        What it was judged against; None when there is none or it cannot be read.
    golden_fault : str or None
        Why a golden that is there cannot be read, in a run that replaces all goldens.
    case : CasePlan or None
        None for values of a Python test.
    is_numbered : bool
        Whether its samples have no names but their numbers.
    """

    result: CaseResult
    place: Place
    outputs: Mapping[str, OutputSpec] = field(default_factory=dict)
    checks: CheckPlan = field(default_factory=CheckPlan)
    samples: SampleSet | None = None
    observation: Observation | None = None
    observation_folder: Path | None = None
    golden: Golden | None = None
    golden_fault: str | None = None
    case: CasePlan | None = None
    is_numbered: bool = False

    @property
    def keeps_golden(self) -> bool:
        """Whether the golden is the case's own: what a variant observed never becomes the reference's."""
        return self.case is None or self.case.keeps_golden

    @property
    def replaces(self) -> bool:
        """Whether accepting this would replace a golden."""
        return (self.golden is not None or self.golden_fault is not None) and not self.place.is_fallback

    @property
    def needs_reason(self) -> bool:
        """Whether accepting this changes what is true: of a golden, or against another environment's.

        Elsewhere nothing is replaced, but a drift that is recorded without a word would be the truth there.
        """
        return self.replaces or (self.place.is_fallback and self.waits)

    @property
    def waits(self) -> bool:
        """Whether behaviour differs from the golden, so that somebody has to decide."""
        return self.result.verdict in (Verdict.DRIFT, Verdict.STALE)


def place_of(suite: Suite, case: CasePlan) -> Place:
    """Return where a suite's case belongs in this environment, and which golden it is held against.

    A variant without a golden of its own belongs to the reference's.
    """
    folder = case_folder(suite, case)
    environment = read_environment_key(suite.golden_per, device=case.template.device)
    choice = choose_golden(folder, environment)
    return Place(golden=choice.own, root=suite.root, choice=choice, golden_root=suite.golden_root)


def case_folder(suite: Suite, case: CasePlan) -> Path:
    """Return the golden folder of a case, above those of its environments where it has several."""
    return golden_folder(suite.golden_root, suite.name, case.golden_variant)


def recording_command(case: CasePlan) -> str:
    """Return the one command that records the golden that a case is missing."""
    return f"modelreg regen {shlex.quote(case_id(case.template.suite, case.golden_variant))}"


def accepting_command(case: CasePlan) -> str:
    """Return the one command that makes what was seen the case's golden."""
    return f'modelreg regen {shlex.quote(case.id)} --reason "why it changed"'


def accepting_advice(case: CasePlan) -> str:
    """Return what to do before :func:`accepting_command`; empty where nothing is."""
    if case.keeps_golden:
        return ""
    return (
        f"give {case.variant} limits of its own (`checks`) or write `golden: own` for it in the suite file, "
        "which the command then records"
    )
