"""Checks ``kl`` and ``snr_db``: just inside, just outside, and what no limit passes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

SCORES = {"y": OutputSpec(kind="classification", top_k=2)}


def _spread(divergence_of: float) -> tuple[np.ndarray, np.ndarray]:
    """Return four even distributions, and the same of which row 2 is uneven by a share."""
    expected = np.full((4, 2), 0.5)
    actual = expected.copy()
    actual[2] = [0.5 + divergence_of, 0.5 - divergence_of]
    return expected, actual


@pytest.mark.parametrize(("share", "verdict"), [(0.099, Verdict.MATCH), (0.101, Verdict.DRIFT)])
def test_kl_draws_the_line_at_its_limit(
    court: Any, ask: Any, limit: Any, share: float, verdict: Verdict
) -> None:
    """The worst sample's divergence in nats is held against the limit, and that sample is named."""
    at_limit = -0.5 * math.log(0.6 / 0.5) - 0.5 * math.log(0.4 / 0.5)
    checks = ask(off=["rel_l2", "top1_agreement"], y=[limit("kl", at_limit)])
    result = court.judge(*_spread(share), specs=SCORES, checks=checks)
    assert result.verdict is verdict
    assert [(check.name, check.direction) for check in result.checks] == [("kl", "max")]
    assert result.drifted_samples == (("s2",) if verdict is Verdict.DRIFT else ())


def test_kl_of_equal_bytes_is_zero(court: Any, ask: Any, limit: Any) -> None:
    """A limit of 0 passes what did not change."""
    checks = ask(off=["top1_agreement"], y=[limit("kl", 0.0)])
    expected, _ = _spread(0.1)
    result = court.judge(expected, expected, specs=SCORES, checks=checks)
    assert (result.verdict, result.message) == (Verdict.MATCH, "4 samples, bit-identical")


def test_kl_by_tag(court: Any, ask: Any, limit: Any) -> None:
    """A tag's own limit is stricter for its samples."""
    checks = ask(off=["rel_l2", "top1_agreement"], y=[limit("kl", 1.0, tags={"critical": 1e-3})])
    options = {"specs": SCORES, "checks": checks}
    assert court.judge(*_spread(0.1), tags={"s2": ("critical",)}, **options).drifted_samples == ("s2",)
    assert court.judge(*_spread(0.1), tags={"s1": ("critical",)}, **options).verdict is Verdict.MATCH


def test_kl_never_passes_a_one_sided_nan(court: Any, ask: Any, limit: Any) -> None:
    """A class that became NaN is infinitely far away."""
    expected, actual = _spread(0.0)
    actual[1, 1] = np.nan
    checks = ask(off=["rel_l2", "top1_agreement"], y=[limit("kl", 1e9)])
    result = court.judge(expected, actual, specs=SCORES, checks=checks)
    assert (result.drifted_samples, result.checks[0].value) == (("s1",), math.inf)


def test_kl_needs_class_scores(court: Any, ask: Any, limit: Any) -> None:
    """Integers are no distribution."""
    with pytest.raises(JudgeError, match="kl: expected floating class scores"):
        court.judge(np.ones((3, 2), int), np.ones((3, 2), int), checks=ask(y=[limit("kl", 1.0)]))


def _noisy(decibels: float) -> tuple[np.ndarray, np.ndarray]:
    """Return four rows of norm 5, and the same with noise in row 1 that leaves this ratio."""
    expected = np.zeros((4, 10))
    expected[:, :2] = [3.0, 4.0]
    actual = expected.copy()
    actual[1, 7] = 5.0 * 10 ** (-decibels / 20)
    return expected, actual


@pytest.mark.parametrize(("decibels", "verdict"), [(40.1, Verdict.MATCH), (39.9, Verdict.DRIFT)])
def test_snr_draws_the_line_at_its_limit(
    court: Any, ask: Any, limit: Any, decibels: float, verdict: Verdict
) -> None:
    """20 * log10 of the norms' ratio, the smallest over samples, beyond 1 as well as below it."""
    result = court.judge(*_noisy(decibels), checks=ask(limit("snr_db", 40.0), off=["rel_l2"]))
    assert result.verdict is verdict
    assert result.checks[0].value == pytest.approx(decibels)
    assert result.drifted_samples == (("s1",) if verdict is Verdict.DRIFT else ())


def test_snr_of_equal_rows_is_infinite(court: Any, ask: Any, limit: Any) -> None:
    """Nothing but signal, whether all bytes are equal or all elements (-0.0 is 0.0), zero or not."""
    checks = ask(limit("snr_db", 200.0), off=["rel_l2"])
    for actual in (np.zeros((2, 3)), np.full((2, 3), -0.0)):
        result = court.judge(np.zeros((2, 3)), actual, checks=checks)
        assert (result.verdict, result.checks[0].value) == (Verdict.MATCH, math.inf)


def test_snr_of_noise_alone_is_minus_infinity(court: Any, ask: Any, limit: Any) -> None:
    """A row that was zero and is not has no signal; a row that is NaN on one side has no ratio."""
    expected, actual = _noisy(100.0)
    expected[2] = 0.0
    checks = ask(limit("snr_db", -1e9), off=["rel_l2"])
    result = court.judge(expected, actual, checks=checks)
    assert (result.drifted_samples, result.checks[0].value) == (("s2",), -math.inf)
    actual[2], actual[0, 0] = 0.0, np.nan
    assert court.judge(expected, actual, checks=checks).drifted_samples == ("s0",)


def test_snr_of_bool_is_refused(court: Any, ask: Any, limit: Any) -> None:
    """A mask has no power."""
    with pytest.raises(JudgeError, match="snr_db: expected numbers, got bool"):
        court.judge(np.ones((2, 3), bool), np.ones((2, 3), bool), checks=ask(limit("snr_db", 9.0)))
