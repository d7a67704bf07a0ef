"""The checks known by name.

To add one: a :class:`Check` in the module of its subject, listed in :data:`CHECKS` and in
``domain.check.CHECK_NAMES``.
"""

from __future__ import annotations

from pytest_modelreg.judge.checks.accuracy import ACCURACY_DROP, NEGATIVE_FLIPS
from pytest_modelreg.judge.checks.agreement import TOP1_AGREEMENT, TOPK_OVERLAP
from pytest_modelreg.judge.checks.check import Check, Measured, OutputFacts, Reads
from pytest_modelreg.judge.checks.differences import (
    COSINE,
    ELEMENTWISE,
    EXACT,
    MAX_ABS,
    MEAN_ABS,
    REL_L2,
    SNR_DB,
)
from pytest_modelreg.judge.checks.distribution import KL
from pytest_modelreg.judge.checks.labelling import LABEL_AGREEMENT, MIOU, PIXEL_AGREEMENT
from pytest_modelreg.judge.checks.matching import IOU_MATCH
from pytest_modelreg.judge.checks.neighbourhood import N_SAMPLES, RANK_OVERLAP

CHECKS = {
    check.name: check
    for check in (
        REL_L2,
        MAX_ABS,
        MEAN_ABS,
        ELEMENTWISE,
        COSINE,
        SNR_DB,
        EXACT,
        KL,
        TOP1_AGREEMENT,
        TOPK_OVERLAP,
        NEGATIVE_FLIPS,
        ACCURACY_DROP,
        RANK_OVERLAP,
        IOU_MATCH,
        LABEL_AGREEMENT,
        PIXEL_AGREEMENT,
        MIOU,
    )
}
"""By name, in the order in which reports list them."""

__all__ = ["CHECKS", "Check", "Measured", "N_SAMPLES", "OutputFacts", "Reads"]
