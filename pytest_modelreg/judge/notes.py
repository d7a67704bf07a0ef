"""Facts worth a line that change no verdict."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_modelreg.domain.environment import EnvironmentChange
from pytest_modelreg.domain.observation import STRIPPED_KEYS
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge.alignment import Alignment, name_some
from pytest_modelreg.judge.environment import describe_changes
from pytest_modelreg.judge.inputs import note_inputs
from pytest_modelreg.judge.message import ALL_NON_FINITE
from pytest_modelreg.judge.output import OutputJudgement
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.standings import SampleStandings
from pytest_modelreg.judge.wording import count_of

N_CHANGES = 6
N_DIGITS = 12
N_WARNINGS = 3

STILL_TRAINING = "still in train mode after eval()"
"""How the warning of an observation begins whose model has modules that ``eval()`` did not reach."""


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

    A drift leads with its environment changes, so only other verdicts note them here.
    """
    notes: list[str] = []
    has_drifted = verdict is Verdict.DRIFT
    training, others = _note_warnings(request) if has_drifted else ([], [])
    notes += training
    notes += note_inputs(request, alignment, has_drifted=has_drifted)
    if not (has_drifted and alignment.changed_inputs and alignment.knows_inputs):
        # Where the inputs of a drift differ too, they are its causes.
        notes += [f"preprocess: {habit.summary}" for habit in request.observation.habits]
    if has_drifted:
        notes += _note_weights(request)
        notes += others
    elif changes:
        notes.append(f"environment differs from the golden's: {describe_changes(changes, n_named=N_CHANGES)}")
    if not has_drifted:  # among the warnings of a drift it is told already
        notes += _note_checkpoint(request)
    notes += _note_decisions(standings)
    for judgement in judgements:
        notes += _note_non_finite(judgement)
        notes += judgement.plan.notes
        notes += _note_untouched_tags(request, judgement)
    return tuple(notes)


def _note_warnings(request: JudgeRequest) -> tuple[list[str], list[str]]:
    """Return notes on modules in train mode, and on other warnings that the golden's run had not.

    Dropout in train mode drifts from run to run, whichever run had it first. Modules that were in
    train mode before ``eval()`` are no news: it was applied.
    """
    known = frozenset(request.golden.observation.warnings)
    warnings = request.observation.warnings
    training = [
        f"warning in {'both runs' if text in known else 'this run only'}: {text}"
        for text in warnings
        if text.startswith(STILL_TRAINING)
    ]
    new = [text for text in warnings if text not in known and not text.startswith(STILL_TRAINING)]
    n_shown = max(1, N_WARNINGS - len(training))
    others = [f"warning in this run only: {text}" for text in new[:n_shown]]
    if len(new) > n_shown:
        others[-1] += f" (and {count_of(len(new) - n_shown, 'more warning')})"
    return training, others


def _note_checkpoint(request: JudgeRequest) -> list[str]:
    """Return that a checkpoint's keys were changed so that it fits, where the golden's were not."""
    known = frozenset(request.golden.observation.warnings)
    warnings = request.observation.warnings
    return [text for text in warnings if text.startswith(STRIPPED_KEYS) and text not in known]


def _note_weights(request: JudgeRequest) -> list[str]:
    before, after = request.golden.observation.weights_digest, request.observation.weights_digest
    if before == after or after is None:
        return []
    if request.is_variant and (request.declares("checkpoint") or request.allows_other_dtype):
        return []  # what it declares makes other weights
    sides = " -> ".join("none" if side is None else side[:N_DIGITS] for side in (before, after))
    return [f"weights differ from the golden's (digest {sides})"]


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
    if standings.tolerated_labels:
        notes.append(
            f"{count_of(len(standings.tolerated_labels), 'sample')} with labels that changed, "
            f"within the limit: {name_some(standings.tolerated_labels)}"
        )
    if standings.tolerated_boxes:
        notes.append(
            f"{count_of(len(standings.tolerated_boxes), 'sample')} with boxes that one side lacks, "
            f"within the limit: {name_some(standings.tolerated_boxes)}"
        )
    return notes


def _note_non_finite(judgement: OutputJudgement) -> list[str]:
    measures = judgement.measures
    if measures.n_one_sided or not (measures.nan_expected or measures.inf_expected):
        return []
    if not judgement.has_compared:
        return [f"{judgement.paired.path}: {ALL_NON_FINITE}; its values were not compared"]
    return [
        f"{judgement.paired.path}: {measures.nan_expected} NaN and {measures.inf_expected} infinite elements "
        "at the same places on both sides, counted as equal"
    ]


def _note_untouched_tags(request: JudgeRequest, judgement: OutputJudgement) -> list[str]:
    """Note tags with a limit of which no sample is common with the golden."""
    if not judgement.plan.tags:
        return []
    names = set(judgement.paired.names)
    carried = {tag for sample in request.samples.samples if sample.id in names for tag in sample.tags}
    return [
        f"{judgement.paired.path}: {name} for tag {tag}: not judged, "
        "none of its samples is in the golden as it is now"
        for name, tag in judgement.plan.tags
        if tag not in carried
    ]
