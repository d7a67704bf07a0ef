"""Checks on labels of many places: a sample's labels that are on or off, an image's pixels."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.judge.checks.check import Check, FloatArray, Measured, OutputFacts
from pytest_modelreg.judge.defaults import is_exact, is_floating


def _measure_agreement(measured: Measured) -> FloatArray:
    return np.ones(0) if measured.labelling is None else measured.labelling.agreement


def _measure_miou(measured: Measured) -> FloatArray:
    return np.ones(0) if measured.labelling is None else measured.labelling.miou


def _refuse_without_labels(facts: OutputFacts) -> str | None:
    if is_floating(facts.dtype) and len(facts.row_shape) == 1:
        return None
    return (
        f"expected floating scores, axes (samples, labels), got {facts.dtype} with axes "
        f"(samples{''.join(f', {length}' for length in facts.row_shape)}); "
        "write `label_agreement: off` for it, or declare another kind"
    )


def _refuse_without_pixels(facts: OutputFacts) -> str | None:
    n_axes = len(facts.row_shape)
    if (is_floating(facts.dtype) or is_exact(facts.dtype)) and n_axes in (2, 3):
        return None
    return (
        "expected scores, axes (samples, classes, height, width), or a mask, axes (samples, height, width), "
        f"got {facts.dtype} with axes (samples{''.join(f', {length}' for length in facts.row_shape)}); "
        "write `pixel_agreement: off` and `miou: off` for it, or declare another kind"
    )


LABEL_AGREEMENT = Check(
    name="label_agreement",
    direction="min",
    summary="mean",
    measure=_measure_agreement,
    refuse=_refuse_without_labels,
    default_limit=1.0,
    reads="labelling",
    at_best=1.0,
)
PIXEL_AGREEMENT = Check(
    name="pixel_agreement",
    direction="min",
    summary="worst",
    measure=_measure_agreement,
    refuse=_refuse_without_pixels,
    default_limit=1.0,
    reads="labelling",
    at_best=1.0,
)
MIOU = Check(
    name="miou",
    direction="min",
    summary="worst",
    measure=_measure_miou,
    refuse=_refuse_without_pixels,
    default_limit=1.0,
    reads="labelling",
    at_best=1.0,
)
