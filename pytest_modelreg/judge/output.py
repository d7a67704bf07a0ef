"""One output judged: measured in one pass (or known to be equal), then every check applied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_modelreg.domain.result import OutputMeasures
from pytest_modelreg.judge.applied import OutputPlan
from pytest_modelreg.judge.checks import Measured
from pytest_modelreg.judge.evaluation import Evaluation, evaluate_check
from pytest_modelreg.judge.functions import evaluate_functions
from pytest_modelreg.judge.measurement import may_lack_numbers, measure, take_as_equal
from pytest_modelreg.judge.pairing import PairedOutput
from pytest_modelreg.judge.request import JudgeRequest

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
        """Whether a value was compared: an element that is not NaN or infinite on both sides alike.

        That there is no box, on both sides of every sample, is compared too.
        """
        measures = self.measures
        if self.measured.boxes is not None and not measures.n_total:
            return True
        return measures.n_one_sided > 0 or measures.n_total > measures.nan_expected + measures.inf_expected


def judge_output(request: JudgeRequest, paired: PairedOutput, plan: OutputPlan) -> OutputJudgement:
    """Measure one output and apply its checks.

    Raises
    ------
    JudgeError
        If a check finds nothing to compare in the rows that it looks at, or one of the suite's own
        cannot be carried out.
    """
    profile = request.golden.profiles[paired.path]
    tagged = _find_tagged_rows(request, paired, plan)
    # Equal bytes pass every check, unless NaN and infinity may leave one of them nothing to compare.
    take = paired.stored is None and not may_lack_numbers(paired, plan, profile, tagged)
    measured, measures = (take_as_equal if take else measure)(request, paired, plan, profile)
    evaluations = [
        evaluation
        for applied in plan.checks
        for evaluation in evaluate_check(applied, measured, path=paired.path, tagged=tagged)
    ]
    evaluations += evaluate_functions(request, paired, plan, measured, tagged)
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


def _find_tagged_rows(request: JudgeRequest, paired: PairedOutput, plan: OutputPlan) -> dict[str, MaskArray]:
    wanted = {tag for _, tag in plan.tags}
    if not wanted:
        return {}
    tags_of = {sample.id: sample.tags for sample in request.samples.samples}
    return {
        tag: np.array([tag in tags_of.get(name, ()) for name in paired.names], dtype=np.bool_)
        for tag in wanted
    }
