"""Checks on what an embedding is near to within its own set."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.judge.checks.check import Check, FloatArray, Measured, OutputFacts

N_SAMPLES = 3
"""Fewest samples among which a nearest neighbour can be another one."""


def _measure_rank_overlap(measured: Measured) -> FloatArray:
    return np.ones(0) if measured.neighbours is None else measured.neighbours.overlap


def _refuse_rank_overlap(facts: OutputFacts) -> str | None:
    is_real = facts.dtype != "bool" and not facts.dtype.startswith("complex")
    if facts.n_rows < N_SAMPLES:
        return f"expected at least {N_SAMPLES} samples, got {facts.n_rows}, whose neighbours cannot change"
    if facts.per == "sample" and is_real and -1 not in facts.row_shape:
        return None
    return (
        "expected a vector of real numbers a sample, all of one length, got "
        f"{facts.dtype} with axes ({facts.per}{''.join(f', {length}' for length in facts.row_shape)}) "
        "(-1: differs); write `rank_overlap: off` for it, or declare another kind"
    )


RANK_OVERLAP = Check(
    name="rank_overlap",
    direction="min",
    summary="mean",
    measure=_measure_rank_overlap,
    refuse=_refuse_rank_overlap,
    default_limit=1.0,
    reads="neighbours",
    at_best=1.0,
)
