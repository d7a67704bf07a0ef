"""Reviewing a run: kept observations judged again and accepted, without running a model.

What belongs here: from a run folder, also one that was downloaded from CI, to outcomes that
``acceptance`` can take. Asking is ``cli``'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import GoldenError, ModelRegError, UsageFault
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.acceptance import accept
from pytest_modelreg.engine.golden_choice import choose_golden, read_environment
from pytest_modelreg.engine.kept_case import CASE_FILE, KeptCase, digest_plan, write_decision
from pytest_modelreg.engine.kept_run import RUN_NAME
from pytest_modelreg.engine.outcome import Outcome, Place, case_folder
from pytest_modelreg.engine.planned_case import PlannedCases
from pytest_modelreg.engine.regeneration import Regeneration
from pytest_modelreg.engine.subject import Subject, describe_missing, judge_subject, subject_of_case
from pytest_modelreg.engine.values import VALUES_SUITE, samples_of
from pytest_modelreg.fingerprint import git_state
from pytest_modelreg.store import read_golden, read_observation, verify_arrays, verify_files
from pytest_modelreg.store.sealed_record import RUN_AGAIN

WAITING = (Verdict.DRIFT, Verdict.STALE, Verdict.MISSING)
"""Verdicts that somebody can accept."""


def find_run(name: str | None, base: Path, root: Path, *, holding: str = "") -> Path:
    """Return the folder of a run: a path, the id of a run of this project, or the last one.

    Parameters
    ----------
    holding : str
        Name of a file: of several runs, the last one that holds it, where any does. A run that was
        interrupted leaves none.

    Raises
    ------
    UsageFault
        When there is none.
    """
    runs = root / ".modelreg" / "runs"
    found = sorted(entry.name for entry in runs.iterdir() if entry.is_dir()) if runs.is_dir() else []
    known = [name for name in found if RUN_NAME.fullmatch(name)]  # what else lies there is nobody's last run
    if name is None:
        if not known:
            raise UsageFault(f"expected a run in {runs}, found none; `pytest --modelreg` makes one")
        whole = [each for each in known if holding and (runs / each / holding).is_file()]
        return runs / (whole or known)[-1]
    for folder in (base / name, runs / name):
        if folder.is_dir():
            return folder
    raise UsageFault(f"{name}: expected the folder or the id of a run, got neither{suggest(name, known)}")


def judge_again(
    case: KeptCase,
    planned: PlannedCases,
    root: Path,
    *,
    change: Callable[[Subject], Subject] = lambda subject: subject,
) -> Outcome:
    """Hold a kept observation against the golden that is there now, with the limits of now.

    Parameters
    ----------
    planned : PlannedCases
        The cases that the suites have now.
    root : Path
        The project's root: goldens of Python tests are below it.
    change : callable
        What becomes of the subject before it is judged: other limits, for one.

    Raises
    ------
    ModelRegError
        When the observation or the golden cannot be trusted, the suite does not have the case any
        more, or the samples are not those that were observed.
    """
    observation = read_observation(case.folder)
    if (observation.suite, observation.variant) != (case.suite, case.variant):
        got = case_id(observation.suite, observation.variant)
        raise GoldenError(
            f"{case.folder}: expected the observation of {case.id}, got the one of {got}; {RUN_AGAIN}"
        )
    verify_arrays(case.folder, observation)
    subject, samples = find_kept_subject(case, observation, planned, root)
    subject = change(subject)
    golden = read_golden(subject.place.found, golden_root=subject.place.golden_root)
    if golden is None:
        result = replace(
            subject.blank,
            verdict=Verdict.MISSING,
            message=describe_missing(subject.place),
            n_samples=len(observation.samples),
        )
    else:
        verify_files(subject.place.found, golden)
        result = judge_subject(subject, golden, observation, case.folder, samples)
    return Outcome(
        result=replace(result, command=""),
        place=subject.place,
        outputs=subject.outputs,
        checks=subject.checks,
        samples=samples,
        observation=observation,
        observation_folder=case.folder,
        golden=golden,
        case=subject.case,
        is_numbered=subject.is_numbered,
    )


def accept_kept(case: KeptCase, outcome: Outcome, regeneration: Regeneration) -> Outcome:
    """Make a kept observation the golden, and note that in the run.

    Raises
    ------
    UsageFault
        When the case is judged against another case's golden.
    ModelRegError
        As :func:`~pytest_modelreg.engine.acceptance.accept`.
    """
    if not outcome.keeps_golden:
        raise UsageFault(
            f"{case.id}: is judged against the golden of its reference, which what it observed cannot "
            "become; give it limits of its own, or write `golden: own` for it in the suite file"
        )
    accepted = accept(outcome, regeneration, git=git_state(outcome.place.root))
    write_decision(case, "accepted")
    return accepted


def reject_kept(case: KeptCase) -> None:
    """Note in the run that a kept observation is no golden; its files stay."""
    write_decision(case, "rejected")


def find_kept_subject(
    kept: KeptCase, observation: Observation, planned: PlannedCases, root: Path
) -> tuple[Subject, SampleSet]:
    """Return what a kept case is judged as, with the samples that it observed.

    Raises
    ------
    ModelRegError
        When the suite does not have the case any more, says something else of it, or has other samples.
    """
    if kept.suite == VALUES_SUITE:
        golden = _find_values_golden(kept, root)
        subject = Subject(
            blank=CaseResult(suite=kept.suite, variant=kept.variant, verdict=Verdict.ERROR, message=""),
            place=Place(golden=golden, root=root, golden_root=root / "golden"),
            outputs=kept.outputs,
            checks=kept.checks,
            command="",
            recording_command="",
            is_numbered=kept.is_numbered,
        )
        return subject, samples_of(observation)
    suite, case = planned.find(kept.id)
    samples = planned.read_samples(suite)
    observed = {sample.id: sample.sha256 for sample in observation.samples}
    if observed != {sample.id: sample.sha256 for sample in samples.samples}:
        raise ModelRegError(
            f"{kept.id}: expected the samples that the run observed, got another set in "
            f"{suite.samples.place}; run the case again, here or in CI"
        )
    if kept.plan != digest_plan(case):
        raise ModelRegError(
            f"{kept.id}: expected the suite as it was when the case ran, got one that says something else of "
            "what it runs; run the case again"
        )
    subject = subject_of_case(suite, case)
    if suite.golden_per:
        # The golden is the one of the environment that observed, not of the one that reviews.
        folder = case_folder(suite, case)
        choice = choose_golden(folder, read_environment(Path(kept.golden).name))
        subject = replace(subject, place=replace(subject.place, golden=choice.own, choice=choice))
    return subject, samples


def _find_values_golden(kept: KeptCase, root: Path) -> Path:
    """Return the golden folder of a check of a Python test, which the run folder names.

    Raises
    ------
    GoldenError
        When it is no place of such a golden, or holds the golden of something else.
    """
    base, golden = root / "golden" / VALUES_SUITE, root / kept.golden
    is_below = ".." not in golden.parts and golden.is_relative_to(base)
    if not is_below or len(golden.relative_to(base).parts) < 3:
        raise GoldenError(
            f"{kept.folder / CASE_FILE}: golden: expected the folder of a check below "
            f"golden/{VALUES_SUITE}/, got {kept.golden!r}"
        )
    held = read_golden(golden, golden_root=root / "golden")
    if held is not None and held.observation.variant != kept.variant:
        got = case_id(held.observation.suite, held.observation.variant)
        raise GoldenError(f"{kept.folder / CASE_FILE}: golden: expected the golden of {kept.id}, got {got}")
    return golden
