"""What is judged, whether a case of a suite or values of a Python test: names, place, words.

What belongs here: bringing both to one form, and judging that form. The order of things is
``session``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.judging import judge_as
from pytest_modelreg.engine.outcome import (
    Outcome,
    Place,
    accepting_advice,
    accepting_command,
    place_of,
    recording_command,
)
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.engine.values import VALUES_SUITE, ValuesCase
from pytest_modelreg.judge import JudgeRequest


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a case is to the session, whether it came from a suite or from a Python test.

    Parameters
    ----------
    blank : CaseResult
        Its names, without anything found.
    command, recording_command : str
        What accepts a difference, and what records a golden that is missing.
    advice : str
        What to do before ``command``.
    case : CasePlan or None
        None for values of a Python test.
    is_numbered : bool
        Whether samples have no names but their numbers.
    only : frozenset of str or None
        Samples to which the judgement is confined; None: all.
    """

    blank: CaseResult
    place: Place
    outputs: Mapping[str, OutputSpec]
    checks: CheckPlan
    command: str
    recording_command: str
    advice: str = ""
    case: CasePlan | None = None
    is_numbered: bool = False
    only: frozenset[str] | None = None


def subject_of_case(suite: Suite, case: CasePlan) -> Subject:
    """Return what a suite's case is to the session."""
    return Subject(
        blank=CaseResult(
            suite=suite.name, variant=case.variant, axes=case.axes, verdict=Verdict.ERROR, message=""
        ),
        place=place_of(suite, case),
        outputs=case.outputs,
        checks=case.checks,
        command=accepting_command(case),
        recording_command=recording_command(case),
        advice=accepting_advice(case),
        case=case,
    )


def subject_of_values(case: ValuesCase) -> Subject:
    """Return what a check of a Python test is to the session."""
    return Subject(
        blank=CaseResult(suite=VALUES_SUITE, variant=case.variant, verdict=Verdict.ERROR, message=""),
        place=case.place,
        outputs=case.outputs,
        checks=case.checks,
        command=case.command,
        recording_command=case.recording_command,
        is_numbered=case.sample_ids is None,
    )


def judge_subject(
    subject: Subject, golden: Golden, observation: Observation, folder: Path, samples: SampleSet
) -> CaseResult:
    """Hold what was observed against the golden, with the functions that the suite asks for.

    Raises
    ------
    JudgeError
        As :func:`~pytest_modelreg.judge.judge_case`.
    ImportReferenceError
        When a function cannot be imported.
    """
    request = JudgeRequest(
        golden=golden,
        golden_folder=subject.place.found,
        observation=observation,
        observation_folder=folder,
        samples=samples,
        outputs=subject.outputs,
        checks=subject.checks,
        is_handed_over=subject.case is None,
        is_numbered=subject.is_numbered,
        only=subject.only,
    )
    return judge_as(subject.case, request)


def describe_missing(place: Place, *, fate: str = "nothing was compared") -> str:
    """Return that there is no golden, or none for this environment where others have one.

    Parameters
    ----------
    fate : str
        What comes of that.
    """
    if place.choice is not None and place.choice.others:
        return (
            f"no golden for this environment ({place.golden.name}), {fate}; there are goldens "
            f"for {'; '.join(place.choice.others)}"
        )
    return f"no golden at {place.shown}: {fate}"


def failed(subject: Subject, text: str) -> Outcome:
    """Return the outcome of a subject that could not be judged."""
    return with_error(Outcome(place=subject.place, result=subject.blank, case=subject.case), text)


def skipped(subject: Subject, reason: str) -> Outcome:
    """Return the outcome of a subject that was left out."""
    result = replace(subject.blank, verdict=Verdict.SKIPPED, message=reason)
    return Outcome(place=subject.place, result=result, case=subject.case)


def with_error(outcome: Outcome, text: str) -> Outcome:
    """Return an outcome with verdict ``error`` and this explanation."""
    message, _, details = text.removeprefix(f"{outcome.result.id}: ").partition("\n")
    result = replace(outcome.result, verdict=Verdict.ERROR, message=message, details=details, command="")
    return replace(outcome, result=result)
