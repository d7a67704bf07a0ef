"""Judging a run again: the limits of now, or those of a command, on what was observed then.

What belongs here: which cases of a run are judged again, with which limits, and why one cannot be.
Nothing is run, decoded or written. Holding one observation against its golden is ``review``'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.errors import ModelRegError, UsageFault
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.kept_case import KeptCase
from pytest_modelreg.engine.kept_run import KeptRun, RunCase
from pytest_modelreg.engine.planned_case import PlannedCases
from pytest_modelreg.engine.review import judge_again
from pytest_modelreg.engine.subject import Subject
from pytest_modelreg.engine.suite_file.override import Override, apply_overrides
from pytest_modelreg.engine.values import VALUES_SUITE
from pytest_modelreg.store import read_observation

KEEPING = "pytest --modelreg --modelreg-keep-outputs"
"""The command whose run keeps the outputs of every case."""


@dataclass(frozen=True, kw_only=True)
class Rejudgement:
    """What became of one case of a run when it was judged again.

    Parameters
    ----------
    before : Verdict
        What the run said.
    result : CaseResult
        What is said now; ``error`` with the reason for a case that could not be judged.
    is_refused : bool
        Whether it could not.
    fingerprint : Fingerprint or None
        The environment that observed it.
    """

    before: Verdict
    result: CaseResult
    is_refused: bool = False
    fingerprint: Fingerprint | None = None

    @property
    def is_judged(self) -> bool:
        """Whether something was compared, or could have been: neither refused nor left out."""
        return not self.is_refused and self.result.verdict is not Verdict.SKIPPED


def choose_run_cases(run: KeptRun, ids: Sequence[str]) -> list[RunCase]:
    """Return the cases of these ids, each once, in the run's order; all for none.

    Raises
    ------
    UsageFault
        When the run has no such case, or none at all.
    """
    known = {case.id: case for case in run.cases}
    unknown = [name for name in dict.fromkeys(ids) if name not in known]
    if unknown:
        faults = [
            f"{name}: expected a case of the run {run.folder.name}, got none{suggest(name, known)}"
            for name in unknown
        ]
        raise UsageFault("\n".join([*faults, f"it has: {', '.join(known) or 'none'}"]))
    if not known:
        raise UsageFault(f"{run.folder}: expected a run with cases, got one without any")
    return [case for case in run.cases if case.id in ids or not ids]


def list_golden_roots(cases: Sequence[RunCase], planned: PlannedCases, root: Path) -> list[Path]:
    """Return the folders of the goldens that the cases are held against.

    Raises
    ------
    SuiteFileError
        When a suite file is faulty now.
    """
    roots = [root / "golden"]
    for case in cases:
        if case.kept is not None and case.suite != VALUES_SUITE:
            with suppress(UsageFault):  # that a suite has lost the case is said when it is judged
                roots.append(planned.find(case.id)[0].golden_root)
    return list(dict.fromkeys(roots))


def rejudge(
    cases: Sequence[RunCase],
    overrides: Sequence[Override],
    *,
    planned: PlannedCases,
    root: Path,
    is_chosen: bool,
) -> Iterator[Rejudgement]:
    """Judge cases of a run again, one after the other.

    Parameters
    ----------
    overrides : sequence of Override
        Limits in the place of those that stand in the suite files.
    root : Path
        The project's root: goldens of Python tests are below it.
    is_chosen : bool
        Whether the cases were named one by one, so that a skipped one is missed too.

    Raises
    ------
    SuiteFileError
        When a suite file is faulty now.
    UsageFault
        Before anything is judged, when a limit of ``overrides`` is for an output that no case has, or fits
        none.
    """
    _require_effect(overrides, cases, planned)
    for case in cases:
        if case.kept is not None:
            yield _judge(case, case.kept, overrides, planned, root)
        elif case.verdict is Verdict.SKIPPED and not (is_chosen or case.fault):
            yield Rejudgement(before=case.verdict, result=_blank(case, Verdict.SKIPPED, case.message))
        else:
            yield _refuse(case, _describe_absence(case))


def _judge(
    case: RunCase, kept: KeptCase, overrides: Sequence[Override], planned: PlannedCases, root: Path
) -> Rejudgement:
    def change(subject: Subject) -> Subject:
        checks = apply_overrides(overrides, subject.checks, subject.outputs)
        plan = None if subject.case is None else replace(subject.case, checks=checks)
        return replace(subject, checks=checks, case=plan)

    try:
        outcome = judge_again(kept, planned, root, change=change)
    except ModelRegError as error:
        return _refuse(case, str(error).removeprefix(f"{case.id}: "))
    observation = outcome.observation
    return Rejudgement(
        before=case.verdict,
        result=outcome.result,
        fingerprint=None if observation is None else observation.fingerprint,
    )


def _refuse(case: RunCase, reason: str) -> Rejudgement:
    message, _, details = reason.partition("\n")
    result = _blank(case, Verdict.ERROR, f"not judged: {message}")
    return Rejudgement(before=case.verdict, result=replace(result, details=details), is_refused=True)


def _blank(case: RunCase, verdict: Verdict, message: str) -> CaseResult:
    return CaseResult(suite=case.suite, variant=case.variant, verdict=verdict, message=message)


def _describe_absence(case: RunCase) -> str:
    if case.fault:
        return case.fault
    if case.verdict in (Verdict.ERROR, Verdict.SKIPPED):
        return f"the run observed nothing of it ({case.message or case.verdict.value}); run it again"
    return (
        f"the run kept no outputs of it (it was {case.verdict.value}); keep those of all cases with {KEEPING}"
    )


def _require_effect(overrides: Sequence[Override], cases: Sequence[RunCase], planned: PlannedCases) -> None:
    """Refuse limits that would change nothing: whoever misspelt an output would believe the verdicts."""
    kinds: dict[str, set[str]] = {}
    for case in cases if overrides else ():
        for path, kind in _list_outputs(case, planned).items():
            kinds.setdefault(path, set()).add(kind)
    if not kinds:
        return  # nothing is asked, or no observation can be read, which every case says
    named = ", ".join(f"{path} ({'/'.join(sorted(found))})" for path, found in kinds.items())
    faults = []
    for each in overrides:
        if any(each.applies_to(path, kind) for path, found in kinds.items() for kind in found):
            continue
        what = f"an output that {each.check} fits"
        if each.output:
            near = "" if each.output in kinds else suggest(each.output, kinds)
            what = f"{what} at {each.output}{near}"
        faults.append(f"--checks {each.text}: expected {what}, got {named}")
    if faults:
        raise UsageFault("\n".join(faults))


def _list_outputs(case: RunCase, planned: PlannedCases) -> dict[str, str]:
    """Return the kind of every output that a case observed, by path; nothing where that cannot be read."""
    if case.kept is None:
        return {}
    try:
        observation = read_observation(case.kept.folder)
        is_handed_over = case.suite == VALUES_SUITE
        outputs = case.kept.outputs if is_handed_over else planned.find(case.id)[1].outputs
    except ModelRegError:  # said when the case is judged
        return {}
    return {path: (find_entry(path, outputs) or OutputSpec()).kind for path in observation.outputs}
