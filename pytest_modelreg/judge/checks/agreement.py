"""Checks on decisions, judged over the set: how many samples may decide otherwise is the limit."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.judge.checks.check import Check, FloatArray, Measured, OutputFacts
from pytest_modelreg.judge.defaults import is_floating


def _measure_top1(measured: Measured) -> FloatArray:
    return np.ones(0) if measured.decisions is None else measured.decisions.top1


def _measure_topk(measured: Measured) -> FloatArray:
    return np.ones(0) if measured.decisions is None else measured.decisions.topk_overlap


def refuse_without_scores(facts: OutputFacts) -> str | None:
    """Refuse rows that are no class scores."""
    if is_floating(facts.dtype) and len(facts.row_shape) == 1 and facts.row_shape[0] >= 2:
        return None
    return (
        f"expected floating class scores, axes (samples, classes) with 2 classes or more, got {facts.dtype} "
        f"with axes (samples{''.join(f', {length}' for length in facts.row_shape)}); "
        "write `top1_agreement: off` and no other check of classes for it, or declare another kind"
    )


def _refuse_topk(facts: OutputFacts) -> str | None:
    refusal = refuse_without_scores(facts)
    if refusal is not None:
        return refusal
    n_classes = facts.row_shape[0]
    if 1 <= facts.top_k < n_classes:
        return None
    return (
        f"expected top_k from 1 to {n_classes - 1} for {n_classes} classes, got {facts.top_k}, "
        "where the overlap cannot change; set top_k for the output"
    )


TOP1_AGREEMENT = Check(
    name="top1_agreement",
    direction="min",
    summary="mean",
    measure=_measure_top1,
    refuse=refuse_without_scores,
    default_limit=1.0,
    reads="scores",
    at_best=1.0,
)
TOPK_OVERLAP = Check(
    name="topk_overlap",
    direction="min",
    summary="mean",
    measure=_measure_topk,
    refuse=_refuse_topk,
    reads="scores",
    at_best=1.0,
)
