"""Checks on the distribution over classes, each judged row by row."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.judge.checks.agreement import refuse_without_scores
from pytest_modelreg.judge.checks.check import Check, FloatArray, Measured


def _measure_kl(measured: Measured) -> FloatArray:
    return np.zeros(0) if measured.divergence is None else measured.divergence


KL = Check(
    name="kl",
    direction="max",
    summary="worst",
    measure=_measure_kl,
    refuse=refuse_without_scores,
    reads="divergence",
)
