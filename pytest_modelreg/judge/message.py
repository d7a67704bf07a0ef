"""The one line that says what became of a case."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pytest_modelreg.domain.environment import EnvironmentChange
from pytest_modelreg.domain.result import StructureFinding
from pytest_modelreg.judge.alignment import Alignment, describe_difference
from pytest_modelreg.judge.environment import describe_changes
from pytest_modelreg.judge.evaluation import Evaluation
from pytest_modelreg.judge.kinds.detection import count_boxes
from pytest_modelreg.judge.output import OutputJudgement
from pytest_modelreg.judge.structure import describe_finding
from pytest_modelreg.judge.tie_order import TieOrder
from pytest_modelreg.judge.wording import count_of

N_CLAUSES = 3
N_CHANGES = 3
"""Environment changes that a drift names before its numbers; the report tabulates all."""

ALL_NON_FINITE = "every element is NaN or infinite on both sides"


def describe_drift(
    findings: Sequence[StructureFinding],
    judgements: Sequence[OutputJudgement],
    alignment: Alignment,
    changes: Sequence[EnvironmentChange],
    tie_orders: Sequence[TieOrder] = (),
) -> str:
    """Return what drifted: structure, then finiteness, then the checks that failed.

    Parameters
    ----------
    changes : sequence of EnvironmentChange
        Most telling first. Where there are any, they lead: whoever reads numbers first looks for
        the fault in the code.
    tie_orders : sequence of TieOrder
        Outputs of which nothing but the order of ties changed.
    """
    scores_of = {order.output: order.scores for order in tie_orders}
    clauses = [describe_finding(finding) for finding in findings]
    clauses += [clause for judgement in judgements for clause in _describe_finiteness(judgement)]
    clauses += [
        _describe_check(evaluation, judgement) + _describe_tie_order(scores_of.get(judgement.paired.path))
        for judgement in judgements
        for evaluation in judgement.evaluations
        # Where NaN or infinity is the reason, every check fails by it: said once, above.
        if not evaluation.result.ok
        and (evaluation.summary == "function" or not _fails_by_finiteness_alone(evaluation, judgement))
    ]
    shown = "; ".join(clauses[:N_CLAUSES])
    rest = f"; and {len(clauses) - N_CLAUSES} more" if len(clauses) > N_CLAUSES else ""
    stale = f" (the sample set differs too: {describe_difference(alignment.difference)})"
    lead = f"environment differs ({describe_changes(changes, n_named=N_CHANGES)}); " if changes else ""
    return f"{lead}{shown}{rest}{stale if alignment.difference else ''}"


def describe_match(judgements: Sequence[OutputJudgement], n_samples: int) -> str:
    """Return ``64 samples, largest rel_l2 4.1e-07 of 1e-05``; no samples where none has a row."""
    if all(map(_is_undivided, judgements)):
        return _describe_margin(judgements)
    return f"{count_of(n_samples, 'sample')}, {_describe_margin(judgements)}"


def describe_stale(judgements: Sequence[OutputJudgement], alignment: Alignment) -> str:
    """Return how the sample set differs, and what the common samples say."""
    lead = f"the sample set differs from the golden's: {describe_difference(alignment.difference)}"
    n_common = len(alignment.common)
    if not any(judgement.has_compared for judgement in judgements):
        return f"{lead}; nothing could be compared"
    agree = "agrees" if n_common == 1 else "agree"
    return f"{lead}; {count_of(n_common, 'common sample')} {agree}, {_describe_margin(judgements)}"


def _describe_margin(judgements: Sequence[OutputJudgement]) -> str:
    if all(judgement.measures.bit_identical for judgement in judgements):
        return "bit-identical"
    gates = [
        evaluation.result
        for judgement in judgements
        for evaluation in judgement.evaluations
        if evaluation.result.name == "rel_l2" and evaluation.result.tag is None
    ]
    if not gates:
        return count_of(sum(len(judgement.evaluations) for judgement in judgements), "check") + " passed"
    nearest = max(gates, key=lambda gate: gate.value / gate.limit if gate.limit else 0.0)
    place = f" ({nearest.output})" if len(judgements) > 1 else ""
    value = f"{nearest.value:.1e}" if nearest.value else "0"
    return f"largest rel_l2 {value} of {nearest.limit:g}{place}"


def _describe_finiteness(judgement: OutputJudgement) -> list[str]:
    measures = judgement.measures
    if not measures.n_one_sided:
        return []
    rows = np.flatnonzero(judgement.measured.rows.n_one_sided > 0)
    counts = [
        f"{word} expected {expected}, got {actual}"
        for word, expected, actual in (
            ("NaN", measures.nan_expected, measures.nan_actual),
            ("infinite", measures.inf_expected, measures.inf_actual),
        )
        if expected or actual
    ]
    first = judgement.paired.name_of(int(rows[0]))
    what = (
        f"{judgement.paired.path}: {count_of(measures.n_one_sided, 'element')} not finite on one side only "
        f"({'; '.join(counts)})"
    )
    if _is_undivided(judgement):
        return [what]
    return [f"{what} in {_describe_share(judgement, len(rows), len(judgement.failed))} (first: {first})"]


def _fails_by_finiteness_alone(evaluation: Evaluation, judgement: OutputJudgement) -> bool:
    return not (evaluation.failed & (judgement.measured.rows.n_one_sided == 0)).any()


def _describe_check(evaluation: Evaluation, judgement: OutputJudgement) -> str:
    result = evaluation.result
    name = result.name if result.tag is None else f"{result.name}[{result.tag}]"
    if evaluation.summary == "function":
        return f"{result.output} {name} {_format_beyond(evaluation)}"
    failed = np.flatnonzero(evaluation.failed)
    values = np.nan_to_num(evaluation.values[failed], nan=np.inf if result.direction == "max" else -np.inf)
    worst = failed[values.argmax() if result.direction == "max" else values.argmin()]
    if evaluation.summary == "mean":
        # All flips count alike; the one whose scores moved most is worth a look first.
        worst = failed[judgement.measured.rows.rel_l2[failed].argmax()]
    if _is_undivided(judgement):
        return f"{result.output} {name} {_format_beyond(evaluation)}"
    return (
        f"{result.output} {name} {_format_beyond(evaluation)} in "
        f"{_describe_share(judgement, len(failed), len(evaluation.failed))} "
        f"(worst: {judgement.paired.name_of(int(worst))}){_describe_boxes(evaluation, judgement)}"
    )


def _describe_boxes(evaluation: Evaluation, judgement: OutputJudgement) -> str:
    """Return how many boxes of the samples that failed have no partner."""
    boxes = judgement.measured.boxes
    if boxes is None or evaluation.result.name != "iou_match":
        return ""
    counts = [
        f"{count_boxes(int(numbers[evaluation.failed].sum()))} {word}"
        for numbers, word in (
            (boxes.n_lost, "lost"),
            (boxes.n_new, "new"),
            (boxes.n_relabelled, "of another class"),
        )
        if numbers[evaluation.failed].any()
    ]
    return f": {', '.join(counts)}" if counts else ""


def _is_undivided(judgement: OutputJudgement) -> bool:
    """Whether the output is one row that is no sample's: a share of it would say nothing."""
    return judgement.paired.actual.per == "batch" and len(judgement.paired.row_names) == 1


def _describe_tie_order(scores: str | None) -> str:
    return "" if scores is None else f", tie order only: the swapped entries score alike in {scores}"


def _describe_share(judgement: OutputJudgement, n_failed: int, n_rows: int) -> str:
    noun = "sample" if judgement.paired.actual.per == "sample" else "batch"
    return f"{n_failed} of {count_of(n_rows, noun)}"


def _format_beyond(evaluation: Evaluation) -> str:
    """Return ``3.0e-04 > 1e-05`` with as many digits as show on which side of the limit it is."""
    result = evaluation.result
    sign = ">" if result.direction == "max" else "<"
    if not math.isfinite(result.value):
        return f"{result.value} {sign} {result.limit:g}"
    if evaluation.summary == "total":
        return f"{result.value:.0f} {sign} {result.limit:g}"
    form, least = ("e", 1) if result.direction == "max" and result.value < 1e-2 else ("g", 3)
    text = ""
    for digits in range(least, 17):
        text = f"{result.value:.{digits}{form}}"
        is_beyond = float(text) > result.limit if result.direction == "max" else float(text) < result.limit
        if is_beyond:
            break
    return f"{text} {sign} {result.limit:g}"
