"""Checks on differences of values, each judged row by row.

A row that is not finite on one side only fails each of them.
"""

from __future__ import annotations

import numpy as np

from pytest_modelreg.judge.checks.check import Check, FloatArray, Measured, OutputFacts, refuse_nothing


def _fail_one_sided(values: FloatArray, measured: Measured, failing: float) -> FloatArray:
    return np.where(measured.rows.n_one_sided > 0, failing, values)


def _measure_rel_l2(measured: Measured) -> FloatArray:
    return measured.rows.rel_l2


def _measure_max_abs(measured: Measured) -> FloatArray:
    return _fail_one_sided(measured.rows.max_abs, measured, np.inf)


def _measure_mean_abs(measured: Measured) -> FloatArray:
    rows = measured.rows
    n_finite = np.maximum(rows.n_elements - rows.n_excluded, 1)
    return _fail_one_sided(rows.sum_abs / n_finite, measured, np.inf)


def _measure_elementwise(measured: Measured) -> FloatArray:
    return measured.rows.n_beyond.astype(np.float64)


def _measure_unequal(measured: Measured) -> FloatArray:
    # Where ``exact`` is applied, the comparison's limit is 0 and every unequal element mismatches.
    return measured.rows.n_mismatched.astype(np.float64)


def _measure_cosine(measured: Measured) -> FloatArray:
    """Return row cosines; equal rows have 1, also when both are zero, and a vanished row has 0."""
    rows = measured.rows
    vanished = np.where(rows.max_abs == 0.0, 1.0, 0.0)
    values = np.where(np.isnan(rows.cosine), vanished, rows.cosine)
    return _fail_one_sided(values, measured, np.nan)


def _refuse_cosine(facts: OutputFacts) -> str | None:
    if facts.dtype == "bool":
        return "expected numbers, got bool, which has no angle; use exact, or write `cosine: off` for it"
    return None


def _measure_snr(measured: Measured) -> FloatArray:
    """Return 20 * log10(norm of expected / norm of the difference) of every row; infinite where equal."""
    rows = measured.rows
    with np.errstate(divide="ignore"):
        signal, noise = np.log10(rows.expected_norm), np.log10(rows.difference_norm)
    # Subtracted as logarithms, whose quotient might leave float64; where both are zero, rows are equal.
    values = 20.0 * np.subtract(
        signal, noise, out=np.full(len(signal), np.inf), where=rows.difference_norm > 0
    )
    return _fail_one_sided(values, measured, np.nan)


def _refuse_snr(facts: OutputFacts) -> str | None:
    if facts.dtype == "bool":
        return "expected numbers, got bool, which has no power; use exact, or write `snr_db: off` for it"
    return None


REL_L2 = Check(
    name="rel_l2", direction="max", summary="worst", measure=_measure_rel_l2, refuse=refuse_nothing
)
MAX_ABS = Check(
    name="max_abs", direction="max", summary="worst", measure=_measure_max_abs, refuse=refuse_nothing
)
MEAN_ABS = Check(
    name="mean_abs", direction="max", summary="worst", measure=_measure_mean_abs, refuse=refuse_nothing
)
ELEMENTWISE = Check(
    name="elementwise", direction="max", summary="total", measure=_measure_elementwise, refuse=refuse_nothing
)
EXACT = Check(name="exact", direction="max", summary="total", measure=_measure_unequal, refuse=refuse_nothing)
COSINE = Check(
    name="cosine",
    direction="min",
    summary="worst",
    measure=_measure_cosine,
    refuse=_refuse_cosine,
    default_limit=0.999,
    at_best=1.0,
)
SNR_DB = Check(
    name="snr_db",
    direction="min",
    summary="worst",
    measure=_measure_snr,
    refuse=_refuse_snr,
    at_best=np.inf,
)
