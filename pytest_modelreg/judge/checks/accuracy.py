"""Checks on decisions against the truth, over the samples that carry a label.

A near tie keeps the golden's decision, so that noise neither breaks nor mends anything.
"""

from __future__ import annotations

import numpy as np

from pytest_modelreg.judge.checks.agreement import refuse_without_scores
from pytest_modelreg.judge.checks.check import Check, FloatArray, Measured, OutputFacts


def _measure_negative_flips(measured: Measured) -> FloatArray:
    """Return 1 where the golden was right and this run is wrong; NaN without a label or a decision."""
    was_right, _ = _find_right(measured)
    return was_right


def _measure_accuracy_drop(measured: Measured) -> FloatArray:
    """Return 1 where a right decision was lost, -1 where one was gained; their mean is the drop."""
    was_right, is_right = _find_right(measured)
    return was_right - is_right


def _find_right(measured: Measured) -> tuple[FloatArray, FloatArray]:
    """Return which flipped rows were right before and after; rows that did not flip are 0 in both."""
    decisions, labels = measured.decisions, measured.labels
    if decisions is None or labels is None:
        return np.ones(0), np.ones(0)
    undecided = np.isnan(decisions.top1) | (labels < 0)
    sides = [
        np.where(undecided, np.nan, (top == labels).astype(np.float64))
        for top in (decisions.expected_top, decisions.actual_top)
    ]
    return sides[0], sides[1]


def _refuse_without_samples(facts: OutputFacts) -> str | None:
    if facts.per != "sample":
        return f"expected an output per sample, whose labels could be looked up, got one per {facts.per}"
    return refuse_without_scores(facts)


NEGATIVE_FLIPS = Check(
    name="negative_flips",
    direction="max",
    summary="mean",
    measure=_measure_negative_flips,
    refuse=_refuse_without_samples,
    reads="labels",
)
ACCURACY_DROP = Check(
    name="accuracy_drop",
    direction="max",
    summary="mean",
    measure=_measure_accuracy_drop,
    refuse=_refuse_without_samples,
    reads="labels",
)
