"""What is measured on one output: in one pass over both sides, or known because the bytes are equal."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import (
    BandObserver,
    Comparison,
    Decisions,
    DivergenceObserver,
    ElementwiseLimit,
    Gate,
    Labelling,
    LabelObserver,
    Neighbours,
    RowMeasures,
    ScoreObserver,
    compare_neighbours,
    compare_rows,
)
from pytest_modelreg.domain.golden import OutputProfile
from pytest_modelreg.domain.result import ElementDifference, OutputMeasures
from pytest_modelreg.judge.applied import OutputPlan
from pytest_modelreg.judge.checks import Measured
from pytest_modelreg.judge.labelling import choose_reader
from pytest_modelreg.judge.pairing import PairedOutput
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.store import open_output

MaskArray = npt.NDArray[np.bool_]


def may_lack_numbers(
    paired: PairedOutput, plan: OutputPlan, profile: OutputProfile, tagged: Mapping[str, MaskArray]
) -> bool:
    """Whether the golden has enough NaN and infinity to fill all rows that some check looks at."""
    n_tagged = [int(rows.sum()) for rows in tagged.values() if rows.any()]
    # A single NaN leaves a row undecided; a check of values needs one number anywhere in its rows.
    n_undecided = 0
    if plan.reads("scores") or plan.reads("labels"):
        n_undecided = profile.n_nan
    if plan.reads("neighbours"):
        n_undecided = profile.n_nan + profile.n_inf
    if n_undecided and n_undecided >= min([len(paired.row_names), *n_tagged]):
        return True
    n_elements = 1 if paired.actual.is_ragged else math.prod(paired.actual.shape[1:])
    n_non_finite = profile.n_nan + profile.n_inf
    return n_non_finite > 0 and any(n_non_finite >= n_rows * n_elements for n_rows in n_tagged)


def take_as_equal(
    request: JudgeRequest, paired: PairedOutput, plan: OutputPlan, profile: OutputProfile
) -> tuple[Measured, OutputMeasures]:
    """Return the measures of equal bytes without reading them."""
    n_pairs = len(paired.pairs)
    rows = RowMeasures.of_equal_rows(n_pairs)
    rows.cosine[:] = 1.0
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
    measured = Measured(
        rows=rows,
        decisions=Decisions.of_equal_rows(n_pairs),
        divergence=np.zeros(n_pairs),
        neighbours=Neighbours.of_equal_rows(n_pairs),
        labels=plan.labels,
        boxes=paired.boxes,
        labelling=Labelling.of_equal_rows(n_pairs) if plan.reads("labelling") else None,
    )
    return measured, measures


def _count_elements(paired: PairedOutput, request: JudgeRequest) -> int:
    record = paired.actual
    if not record.is_ragged:
        return math.prod(record.shape)
    stored = open_output(request.observation_folder, record)
    return sum(math.prod(stored.row_shape(row)) for row in range(stored.n_rows))


def measure(
    request: JudgeRequest, paired: PairedOutput, plan: OutputPlan, profile: OutputProfile
) -> tuple[Measured, OutputMeasures]:
    """Compare both sides, looking only at what the plan's checks ask for."""
    expected, actual = paired.compared or (
        open_output(request.golden_folder, paired.expected),
        open_output(request.observation_folder, paired.actual),
    )
    n_pairs, top_k = len(paired.pairs), request.spec_of(paired.path).top_k
    scores = divergence = None
    observers: list[BandObserver] = []
    if plan.reads("scores") or plan.reads("labels"):
        scores = ScoreObserver(n_pairs, epsilon=plan.epsilon, top_k=top_k if plan.find("topk_overlap") else 0)
        observers.append(scores)
    if plan.reads("divergence"):
        divergence = DivergenceObserver(n_pairs)
        observers.append(divergence)
    labels = None
    if plan.reads("labelling"):
        spec, record = request.spec_of(paired.path), paired.expected
        reader = choose_reader(spec, record.dtype, record.shape[1:], epsilon=plan.epsilon)
        labels = LabelObserver(n_pairs, reader=reader, ignored=spec.ignore_index)
        observers.append(labels)
    elementwise = plan.find("elementwise")
    comparison = compare_rows(
        expected,
        actual,
        pairs=paired.pairs,
        gate=Gate(rms_row_norm=_find_typical_norm(paired, profile), limit=plan.share_limit),
        elementwise=None
        if elementwise is None
        else ElementwiseLimit(rtol=elementwise.rtol, atol=elementwise.atol),
        observers=observers,
    )
    _measure_parts(paired, plan, comparison.rows)
    neighbours = None
    if plan.reads("neighbours"):
        # With all others for neighbours nothing could change: a small set is looked at more closely.
        neighbours = compare_neighbours(
            expected, actual, pairs=paired.pairs, top_k=min(top_k, n_pairs - 2), epsilon=plan.epsilon
        )
    measured = Measured(
        rows=comparison.rows,
        decisions=None if scores is None else scores.decisions,
        divergence=None if divergence is None else divergence.divergence,
        neighbours=neighbours,
        labels=plan.labels,
        boxes=paired.boxes,
        labelling=None if labels is None else labels.labelling,
    )
    return measured, _summarise_comparison(paired, comparison)


def _find_typical_norm(paired: PairedOutput, profile: OutputProfile) -> float:
    """Return R of the gate, of one box where rows hold boxes, the output's unit."""
    if paired.detection is None or paired.stored is None:
        return profile.rms_row_norm
    return paired.detection.compute_typical_norm(paired.stored[0])


def _measure_parts(paired: PairedOutput, plan: OutputPlan, rows: RowMeasures) -> None:
    """Gate coordinates, scores and classes that are columns of one output each by itself.

    A score that fell by a tenth is nothing beside coordinates of a thousand pixels.
    """
    detection, stored = paired.detection, paired.stored
    if detection is None or stored is None:
        return
    parts = detection.list_parts(paired.path, paired.expected.shape)
    if not parts:
        return
    rows.rel_l2[:], rows.n_mismatched[:], rows.allowance[:] = 0.0, 0, np.inf
    for columns in parts:
        expected, actual = detection.view(stored, columns)
        norm = detection.compute_typical_norm(stored[0], columns)
        gate = Gate(rms_row_norm=norm, limit=plan.share_limit)
        part = compare_rows(expected, actual, pairs=paired.pairs, gate=gate).rows
        np.maximum(rows.rel_l2, part.rel_l2, out=rows.rel_l2)
        np.minimum(rows.allowance, part.allowance, out=rows.allowance)
        rows.n_mismatched[:] += part.n_mismatched


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
            index=paired.place_of(element.pair, element.index),
            expected=element.expected,
            actual=element.actual,
        )
        for element in beyond or comparison.worst
    )
