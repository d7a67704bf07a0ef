"""Checks on which boxes both sides found, each judged sample by sample."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.judge.checks.check import Check, FloatArray, Measured, OutputFacts

LEAST_OVERLAP = 0.999
"""Least overlap of a healthy run, dimensionless. A trained MTCNN on 15 photos (threads, AVX-512 against AVX2
and against no vectors at all) leaves 1 - 1e-6 of its worst face; the largest ``rel_l2`` of any benign change,
2.6e-6, leaves 1 - 3e-4 of a box of 20 pixels at 1,000 pixels. A shift by one pixel leaves 0.98 of a box of
100 pixels and 0.998 of one of 1,000; a box without a partner leaves at most
``judge.detection.MOST_WITHOUT_PARTNER``."""


def _measure_overlap(measured: Measured) -> FloatArray:
    return np.ones(0) if measured.boxes is None else measured.boxes.overlap


def _refuse_without_boxes(facts: OutputFacts) -> str | None:
    if facts.per == "sample":
        return None
    return (
        f"expected the boxes of a sample in every row, got one row a {facts.per}; return a list with one "
        "array a sample, or declare another kind"
    )


IOU_MATCH = Check(
    name="iou_match",
    direction="min",
    summary="worst",
    measure=_measure_overlap,
    refuse=_refuse_without_boxes,
    default_limit=LEAST_OVERLAP,
    reads="boxes",
    at_best=1.0,
)
