"""One case judged: sample set, structure, finiteness, values, decisions, in this order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_modelreg.domain.environment import EnvironmentChange, environment_changes
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.result import CaseResult, SampleSetDifference
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge.alignment import Alignment, align_samples
from pytest_modelreg.judge.applied import OutputPlan
from pytest_modelreg.judge.cause import find_causes
from pytest_modelreg.judge.environment import drop_declared, rank_changes
from pytest_modelreg.judge.message import ALL_NON_FINITE, describe_drift, describe_match, describe_stale
from pytest_modelreg.judge.notes import gather_notes
from pytest_modelreg.judge.output import OutputJudgement, judge_output
from pytest_modelreg.judge.pairing import PairedOutput
from pytest_modelreg.judge.plan import plan_output
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.samples import describe_samples
from pytest_modelreg.judge.standings import rank_samples
from pytest_modelreg.judge.structure import Structure, compare_shapes, list_runtime_findings, pair_outputs
from pytest_modelreg.judge.tie_order import find_tie_orders


def judge_case(request: JudgeRequest) -> CaseResult:
    """Hold one observation against one golden.

    Parameters
    ----------
    request : JudgeRequest
        Both sides and what the suite asks.

    Returns
    -------
    CaseResult
        With verdict ``match``, ``drift`` or ``stale``.

    Raises
    ------
    JudgeError
        If a check cannot be applied (all such faults at once), if the suite names an output or a
        tag that does not exist, or if nothing was compared.
    """
    alignment = align_samples(
        request.golden.observation.samples, request.observation.samples, only=request.only
    )
    structure: Structure | None = None
    if request.is_numbered and alignment.difference:
        structure = compare_shapes(request)
        alignment = replace(alignment, difference=SampleSetDifference())
    elif alignment.common:  # without one, rows of another shape prove nothing about the model
        structure = pair_outputs(request, alignment)
    judgements: list[OutputJudgement] = []
    if structure is not None:
        judgements = [
            judge_output(request, paired, plan) for paired, plan in _plan_outputs(request, structure.outputs)
        ]
        if not alignment.difference:
            _require_comparison(request, structure, judgements)
    return _assemble(request, alignment, structure, judgements)


def _plan_outputs(
    request: JudgeRequest, outputs: Sequence[PairedOutput]
) -> list[tuple[PairedOutput, OutputPlan]]:
    plans: list[tuple[PairedOutput, OutputPlan]] = []
    faults: list[str] = []
    for paired in outputs:
        plan, found = plan_output(request, paired)
        faults += found
        if plan is not None:
            plans.append((paired, plan))
    if faults:
        raise JudgeError("\n".join(f"{request.case}: {fault}" for fault in faults))
    return plans


def _require_comparison(
    request: JudgeRequest, structure: Structure, judgements: Sequence[OutputJudgement]
) -> None:
    if structure.findings or any(judgement.has_compared for judgement in judgements):
        return
    reasons = [*structure.notes]
    reasons += [
        f"{judgement.paired.path}: {ALL_NON_FINITE if judgement.measures.n_total else 'has no elements'}"
        for judgement in judgements
    ]
    by_test = request.is_handed_over
    absence = "the test gave no output" if by_test else "the model returned no output"
    raise JudgeError(
        f"{request.case}: nothing was compared: {'; '.join(reasons) or absence}; "
        f"{'check' if by_test else 'let the suite compare'} at least one output that holds a finite number"
    )


def _assemble(
    request: JudgeRequest,
    alignment: Alignment,
    structure: Structure | None,
    judgements: Sequence[OutputJudgement],
) -> CaseResult:
    findings = (*list_runtime_findings(request), *(() if structure is None else structure.findings))
    unfit = {} if structure is None else structure.unfit
    standings = rank_samples(alignment.common, judgements, unfit=unfit)
    changes = rank_changes(_find_changes(request))
    has_drifted = bool(findings) or any(judgement.has_drifted for judgement in judgements)
    tie_orders = find_tie_orders(request, judgements)
    if has_drifted:
        verdict = Verdict.DRIFT
        message = describe_drift(findings, judgements, alignment, changes, tie_orders)
    elif alignment.difference:
        verdict, message = Verdict.STALE, describe_stale(judgements, alignment)
    else:
        verdict, message = Verdict.MATCH, describe_match(judgements, len(alignment.common))
    notes = gather_notes(
        request,
        verdict=verdict,
        alignment=alignment,
        judgements=judgements,
        standings=standings,
        changes=changes,
    )
    return CaseResult(
        suite=request.observation.suite,
        variant=request.observation.variant,
        axes=request.observation.axes,
        verdict=verdict,
        message=message,
        outputs={judgement.paired.path: judgement.measures for judgement in judgements},
        checks=tuple(evaluation.result for judgement in judgements for evaluation in judgement.evaluations),
        n_samples=len(alignment.common),
        samples=describe_samples(request, standings, judgements, unfit=unfit, has_drifted=has_drifted),
        drifted_samples=standings.drifted,
        measures=standings.measures,
        inputs_identical=(
            not alignment.changed_inputs if alignment.common and alignment.knows_inputs else None
        ),
        structure=findings,
        sample_set=alignment.difference,
        causes=find_causes(
            request,
            alignment,
            has_compared=any(judgement.has_compared for judgement in judgements),
            has_drifted=has_drifted,
            tie_orders=tie_orders,
        ),
        environment_changes=changes,
        notes=(*notes, *(() if structure is None else structure.notes)),
    )


def _find_changes(request: JudgeRequest) -> tuple[EnvironmentChange, ...]:
    changes = environment_changes(request.golden.observation.fingerprint, request.observation.fingerprint)
    return drop_declared(changes, request.observation.axes) if request.is_variant else changes
