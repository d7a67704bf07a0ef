"""One output judged: measured in one pass (or known to be equal), then every check applied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import (
    Comparison,
    Decisions,
    ElementwiseLimit,
    Gate,
    RowMeasures,
    ScoreObserver,
    compare_rows,
)
from pytest_modelreg.domain.golden import OutputProfile
from pytest_modelreg.domain.result import ElementDifference, OutputMeasures
from pytest_modelreg.judge.checks import Measured
from pytest_modelreg.judge.evaluation import Evaluation, evaluate_check
from pytest_modelreg.judge.pairing import PairedOutput
from pytest_modelreg.judge.plan import OutputPlan
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.store import open_output

MaskArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputJudgement:
    """What judging one output came to.

    Parameters
    ----------
    paired : PairedOutput
        What was compared.
    plan : OutputPlan
        What was applied.
    measures : OutputMeasures
        Whole-output statistics.
    measured : Measured
        Numbers per row.
    evaluations : tuple of Evaluation
        The applied checks.
    failed : ndarray of bool, axes (pair,)
        Rows that failed a check or are not finite on one side only.
    """

    paired: PairedOutput
    plan: OutputPlan
    measures: OutputMeasures
    measured: Measured
    evaluations: tuple[Evaluation, ...]
    failed: MaskArray

    @property
    def has_drifted(self) -> bool:
        """Whether a check failed, or a side alone is not finite: that is no check to switch off."""
        return self.measures.n_one_sided > 0 or any(
            not evaluation.result.ok for evaluation in self.evaluations
        )

    @property
    def has_compared(self) -> bool:
        """Whether a value was compared: an element that is not NaN or infinite on both sides alike."""
        measures = self.measures
        return measures.n_one_sided > 0 or measures.n_total > measures.nan_expected + measures.inf_expected


def judge_output(request: JudgeRequest, paired: PairedOutput, plan: OutputPlan) -> OutputJudgement:
    """Measure one output and apply its checks.

    Raises
    ------
    JudgeError
        If a check finds nothing to compare in the rows that it looks at.
    """
    profile = request.golden.profiles[paired.path]
    reads_scores = any(applied.check.reads_scores for applied in plan.checks)
    tagged = _find_tagged_rows(request, paired, plan)
    # Equal bytes pass every check, unless NaN and infinity may leave one of them nothing to compare.
    if paired.stored is None and not _may_lack_numbers(paired, profile, tagged, reads_scores=reads_scores):
        measured, measures = _take_as_equal(paired, profile, request)
    else:
        measured, measures = _measure(request, paired, plan, profile, reads_scores=reads_scores)
    evaluations = [
        evaluation
        for applied in plan.checks
        for evaluation in evaluate_check(applied, measured, path=paired.path, tagged=tagged)
    ]
    failed = measured.rows.n_one_sided > 0
    for evaluation in evaluations:
        failed |= evaluation.failed
    return OutputJudgement(
        paired=paired,
        plan=plan,
        measures=measures,
        measured=measured,
        evaluations=tuple(evaluations),
        failed=failed,
    )


def _may_lack_numbers(
    paired: PairedOutput, profile: OutputProfile, tagged: Mapping[str, MaskArray], *, reads_scores: bool
) -> bool:
    """Whether the golden has enough NaN and infinity to fill all rows that some check looks at."""
    n_tagged = [int(rows.sum()) for rows in tagged.values() if rows.any()]
    # A single NaN leaves a row undecided; a check of values needs one number anywhere in its rows.
    if reads_scores and profile.n_nan >= min([len(paired.row_names), *n_tagged]):
        return True
    n_elements = 1 if paired.actual.is_ragged else math.prod(paired.actual.shape[1:])
    n_non_finite = profile.n_nan + profile.n_inf
    return n_non_finite > 0 and any(n_non_finite >= n_rows * n_elements for n_rows in n_tagged)


def _take_as_equal(
    paired: PairedOutput, profile: OutputProfile, request: JudgeRequest
) -> tuple[Measured, OutputMeasures]:
    """Return the measures of equal bytes without reading them."""
    n_pairs = len(paired.pairs)
    rows = RowMeasures.of_equal_rows(n_pairs)
    rows.cosine[:] = 1.0
    decisions = Decisions(
        top1=np.ones(n_pairs),
        topk_overlap=np.ones(n_pairs),
        top1_near_tie=np.zeros(n_pairs, dtype=np.bool_),
        topk_near_tie=np.zeros(n_pairs, dtype=np.bool_),
    )
    has_nonzero = profile.rms_row_norm > 0.0
    measures = OutputMeasures(
        dtype=paired.actual.dtype,
        shape=paired.actual.shape,
        n_total=_count_elements(paired, request),
        n_mismatched=0,
        rel_l2=0.0,
        max_abs=0.0,
        mean_abs=0.0,
        rms_abs=0.0,
        max_rel=0.0 if has_nonzero else None,
        cosine_min=1.0 if has_nonzero and paired.actual.dtype != "bool" else None,
        nan_expected=profile.n_nan,
        nan_actual=profile.n_nan,
        inf_expected=profile.n_inf,
        inf_actual=profile.n_inf,
        n_one_sided=0,
        bit_identical=True,
    )
    return Measured(rows=rows, decisions=decisions), measures


def _count_elements(paired: PairedOutput, request: JudgeRequest) -> int:
    record = paired.actual
    if not record.is_ragged:
        return math.prod(record.shape)
    stored = open_output(request.observation_folder, record)
    return sum(math.prod(stored.row_shape(row)) for row in range(stored.n_rows))


def _measure(
    request: JudgeRequest,
    paired: PairedOutput,
    plan: OutputPlan,
    profile: OutputProfile,
    *,
    reads_scores: bool,
) -> tuple[Measured, OutputMeasures]:
    expected, actual = paired.stored or (
        open_output(request.golden_folder, paired.expected),
        open_output(request.observation_folder, paired.actual),
    )
    scores = ScoreObserver(
        len(paired.pairs),
        epsilon=plan.epsilon,
        top_k=request.spec_of(paired.path).top_k if plan.find("topk_overlap") else 0,
    )
    elementwise = plan.find("elementwise")
    comparison = compare_rows(
        expected,
        actual,
        pairs=paired.pairs,
        gate=Gate(rms_row_norm=profile.rms_row_norm, limit=plan.share_limit),
        elementwise=None
        if elementwise is None
        else ElementwiseLimit(rtol=elementwise.rtol, atol=elementwise.atol),
        observers=[scores] if reads_scores else [],
    )
    measured = Measured(rows=comparison.rows, decisions=scores.decisions if reads_scores else None)
    return measured, _summarise_comparison(paired, comparison)


def _summarise_comparison(paired: PairedOutput, comparison: Comparison) -> OutputMeasures:
    rows = comparison.rows
    cosines = rows.cosine[~np.isnan(rows.cosine)]
    has_cosine = len(cosines) > 0 and paired.actual.dtype != "bool"
    return OutputMeasures(
        dtype=paired.actual.dtype,
        shape=paired.actual.shape,
        n_total=comparison.n_total,
        n_mismatched=int(rows.n_mismatched.sum()),
        rel_l2=float(rows.rel_l2.max(initial=0.0)),
        max_abs=float(rows.max_abs.max(initial=0.0)),
        mean_abs=comparison.mean_abs,
        rms_abs=comparison.rms_abs,
        max_rel=comparison.max_rel,
        cosine_min=float(cosines.min()) if has_cosine else None,
        nan_expected=int(rows.nan_expected.sum()),
        nan_actual=int(rows.nan_actual.sum()),
        inf_expected=int(rows.inf_expected.sum()),
        inf_actual=int(rows.inf_actual.sum()),
        n_one_sided=int(rows.n_one_sided.sum()),
        bit_identical=paired.stored is None,
        worst=_name_worst(paired, comparison),
    )


def _name_worst(paired: PairedOutput, comparison: Comparison) -> tuple[ElementDifference, ...]:
    """Name the worst elements; noise is left out where others are beyond their share."""
    allowance = comparison.rows.allowance
    beyond = [element for element in comparison.worst if element.absolute > allowance[element.pair]]
    return tuple(
        ElementDifference(
            sample=paired.row_names[int(paired.positions[element.pair])],
            index=element.index,
            expected=element.expected,
            actual=element.actual,
        )
        for element in beyond or comparison.worst
    )


def _find_tagged_rows(request: JudgeRequest, paired: PairedOutput, plan: OutputPlan) -> dict[str, MaskArray]:
    wanted = {tag for applied in plan.checks for tag in applied.tags}
    if not wanted:
        return {}
    tags_of = {sample.id: sample.tags for sample in request.samples.samples}
    return {
        tag: np.array([tag in tags_of.get(name, ()) for name in paired.names], dtype=np.bool_)
        for tag in wanted
    }
