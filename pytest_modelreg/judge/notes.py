"""Facts worth a line that change no verdict."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_modelreg.domain.environment import EnvironmentChange, FactValue
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge.alignment import Alignment, name_some
from pytest_modelreg.judge.message import count_of
from pytest_modelreg.judge.output import OutputJudgement
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.samples import SampleStandings

N_CHANGES = 6
N_DIGITS = 12


def gather_notes(
    request: JudgeRequest,
    *,
    verdict: Verdict,
    alignment: Alignment,
    judgements: Sequence[OutputJudgement],
    standings: SampleStandings,
    changes: Sequence[EnvironmentChange],
) -> tuple[str, ...]:
    """Return the notes of a case, what explains a drift first.

    A drift reports its environment changes apart, so only other verdicts note them here.
    """
    notes: list[str] = []
    if verdict is Verdict.DRIFT:
        notes += _note_inputs(alignment)
        notes += _note_weights(request)
    elif changes:
        notes.append(_note_environment(changes))
    notes += _note_decisions(standings)
    for judgement in judgements:
        notes += _note_non_finite(judgement)
        notes += _note_untouched_tags(request, judgement)
    return tuple(notes)


def _note_inputs(alignment: Alignment) -> list[str]:
    n_common, changed = len(alignment.common), alignment.changed_inputs
    if not n_common:
        return []
    if not changed:
        return [f"inputs: bit-identical for all {count_of(n_common, 'sample')}"]
    return [
        f"inputs differ for {len(changed)} of {count_of(n_common, 'sample')}, e.g. {name_some(changed)}: "
        "the change is at or before the preprocessed tensors"
    ]


def _note_weights(request: JudgeRequest) -> list[str]:
    before, after = request.golden.observation.weights_digest, request.observation.weights_digest
    if before == after:
        return []
    sides = " -> ".join("none" if side is None else side[:N_DIGITS] for side in (before, after))
    return [f"weights differ from the golden's (digest {sides})"]


def _note_environment(changes: Sequence[EnvironmentChange]) -> str:
    shown = ", ".join(
        f"{change.key} {_format_fact(change.expected)} -> {_format_fact(change.actual)}"
        for change in changes[:N_CHANGES]
    )
    rest = f" and {len(changes) - N_CHANGES} more" if len(changes) > N_CHANGES else ""
    return f"environment differs from the golden's: {shown}{rest}"


def _format_fact(value: FactValue) -> str:
    return "unknown" if value is None else str(value)


def _note_decisions(standings: SampleStandings) -> list[str]:
    notes = []
    if standings.near_ties:
        notes.append(
            f"{count_of(len(standings.near_ties), 'near tie')}, counted as agreement: "
            f"{name_some(standings.near_ties)}"
        )
    if standings.tolerated_flips:
        notes.append(
            f"{count_of(len(standings.tolerated_flips), 'top-1 flip')} within the limit: "
            f"{name_some(standings.tolerated_flips)}"
        )
    return notes


def _note_non_finite(judgement: OutputJudgement) -> list[str]:
    measures = judgement.measures
    if measures.n_one_sided or not (measures.nan_expected or measures.inf_expected):
        return []
    return [
        f"{judgement.paired.path}: {measures.nan_expected} NaN and {measures.inf_expected} infinite elements "
        "at the same places on both sides, counted as equal"
    ]


def _note_untouched_tags(request: JudgeRequest, judgement: OutputJudgement) -> list[str]:
    """Note tags with a limit of which no sample is common with the golden."""
    names = set(judgement.paired.names)
    carried = {tag for sample in request.samples.samples if sample.id in names for tag in sample.tags}
    return [
        f"{judgement.paired.path}: {applied.check.name} for tag {tag}: not judged, "
        "none of its samples is in the golden as it is now"
        for applied in judgement.plan.checks
        for tag in applied.tags
        if tag not in carried
    ]
