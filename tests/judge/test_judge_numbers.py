"""Numbers as users meet them: what must be seen, and what must stay quiet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan, OutputChecks
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")


def _noise(values: np.ndarray, relative: float) -> np.ndarray:
    draws = np.random.default_rng(1).standard_normal(values.shape)
    return (values * (1 + relative * draws)).astype(values.dtype)


def test_two_of_24_elements_are_counted_and_placed(court: Any, side: Any) -> None:
    """Two moved elements: counts, errors and both places with both values; nothing on the other output."""
    expected = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    actual = expected.copy()
    actual[0, 1, 2] += 0.5
    actual[1, 2, 3] -= 1.0
    same = np.ones((2, 3), np.float32)
    result = court.judge(side(outputs={"y": expected, "z": same}), side(outputs={"y": actual, "z": same}))
    measures = result.outputs["y"]
    assert (measures.n_mismatched, measures.n_total, measures.max_abs) == (2, 24, 1.0)
    assert measures.mean_abs == pytest.approx(1.5 / 24)
    assert measures.rms_abs == pytest.approx(math.sqrt(1.25 / 24))
    assert [(each.sample, each.index, each.expected, each.actual) for each in measures.worst] == [
        ("s1", (2, 3), 24.0, 23.0),
        ("s0", (1, 2), 7.0, 7.5),
    ]
    assert result.outputs["z"].bit_identical
    assert "z" not in result.message


def test_noise_is_left_out_of_the_worst_elements(court: Any) -> None:
    """Where two elements moved and the others carry noise, only the two are listed."""
    expected = np.ones((2, 100), np.float32)
    actual = _noise(expected, 1e-7)
    actual[1, [3, 5]] = 2.0
    assert [each.index for each in court.judge(expected, actual).outputs["y"].worst] == [(3,), (5,)]


def test_all_zero_expected_has_no_relative_error(court: Any) -> None:
    """A golden of zeros: any difference drifts, the relative error is not defined, nothing warns."""
    zeros = np.zeros((3, 5), np.float32)
    assert court.judge(zeros, -zeros).verdict is Verdict.MATCH
    actual = zeros.copy()
    actual[1, 1] = 1e-20
    result = court.judge(zeros, actual)
    assert result.drifted_samples == ("s1",)
    assert result.outputs["y"].rel_l2 == math.inf
    assert result.outputs["y"].max_rel is None
    assert result.outputs["y"].cosine_min is None


def test_more_than_100_bad_elements_are_capped_and_counted(court: Any) -> None:
    """The list holds the 20 worst, the totals stay whole."""
    expected = np.ones((2, 200))
    actual = expected + np.arange(400).reshape(2, 200)
    measures = court.judge(expected, actual).outputs["y"]
    assert measures.n_mismatched == 399
    assert [each.actual for each in measures.worst] == [400.0 - step for step in range(20)]


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_a_new_non_finite_element_is_a_drift_whatever_is_checked(
    court: Any, ask: Any, limit: Any, poison: float
) -> None:
    """Finiteness is no check that could be switched off: the count, the sample and a note say so."""
    expected = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    actual = expected.copy()
    actual[2, 1:3] = poison
    spec = OutputSpec(kind="classification")
    checks = ask(off=["rel_l2"], y=[limit("top1_agreement", 0.0)])
    result = court.judge(expected, actual, specs={"y": spec}, checks=checks)
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("s2",)
    assert result.outputs["y"].n_one_sided == 2
    assert "y: 2 elements not finite on one side only" in result.message
    assert result.samples[0].note == ("new NaN" if np.isnan(poison) else "new infinity")


def test_nan_on_both_sides_is_equal_and_counted(court: Any) -> None:
    """NaN at the same places matches, with the count in a note."""
    expected = np.array([[np.nan, 1.0, 2.0], [1.0, np.nan, 3.0]], np.float32)
    result = court.judge(expected, _noise(expected, 1e-7))
    assert result.verdict is Verdict.MATCH
    assert (result.outputs["y"].nan_expected, result.outputs["y"].nan_actual) == (2, 2)
    assert result.notes == (
        "y: 2 NaN and 0 infinite elements at the same places on both sides, counted as equal",
    )


def test_one_logit_of_a_thousand_off_by_five_percent_is_seen(court: Any) -> None:
    """A single changed element is not drowned in a wide row."""
    expected = np.random.default_rng(0).standard_normal((8, 1000)).astype(np.float32)
    actual = expected.copy()
    actual[5, 77] *= np.float32(1.05)
    result = court.judge(expected, actual)
    assert result.drifted_samples == ("s5",)
    assert result.outputs["y"].worst[0].index == (77,)


def test_one_sample_of_ten_thousand_is_seen_and_named(court: Any) -> None:
    """A drift of one sample is not averaged away."""
    expected = np.random.default_rng(0).standard_normal((10_000, 20)).astype(np.float32)
    actual = _noise(expected, 1e-7)
    actual[1234] *= np.float32(1.01)
    result = court.judge(expected, actual)
    assert result.drifted_samples == ("s1234",)
    assert result.message.endswith("in 1 of 10000 samples (worst: s1234)")
    assert result.samples[0].id == "s1234"


def test_float16_overflow_on_one_side_is_a_drift(court: Any) -> None:
    """A value that overflowed to infinity is no large number."""
    expected = np.full((2, 4), 60000, np.float16)
    actual = expected.copy()
    actual[0, 0] = np.inf
    assert court.judge(expected, actual).drifted_samples == ("s0",)


def test_int8_differences_do_not_wrap(court: Any) -> None:
    """int8 1 against 2 is a difference of 1."""
    result = court.judge(np.array([[1]], np.int8), np.array([[2]], np.int8))
    assert result.outputs["y"].max_abs == 1.0


def _as_bfloat16(values: np.ndarray) -> np.ndarray:
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize(("factor", "verdict"), [(1.01, Verdict.MATCH), (1.05, Verdict.DRIFT)])
def test_bfloat16_is_judged_as_numbers(court: Any, side: Any, factor: float, verdict: Verdict) -> None:
    """bfloat16, stored as integers, is compared by value at its own limit."""
    values = np.linspace(1, 2, 40).reshape(2, 20)
    sides = [
        side(outputs={"y": _as_bfloat16(each)}, dtypes={"y": "bfloat16"})
        for each in (values, values * factor)
    ]
    result = court.judge(*sides)
    assert result.verdict is verdict
    assert (result.checks[0].limit, result.checks[0].source) == (2e-2, "dtype default (bfloat16)")


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (np.array([[True, False]]), np.array([[True, True]])),
        (np.array([[2**53]]), np.array([[2**53 + 1]])),
        (np.array([[2**64 - 1]], np.uint64), np.array([[2**64 - 2]], np.uint64)),
        (np.array([1.0, 2.0], np.float32), np.array([1.0, 2.001], np.float32)),
        (np.array([[1 + 1j]], np.complex64), np.array([[1 + 1.001j]], np.complex64)),
        ([np.ones((1, 4)), np.zeros((0, 4))], [np.full((1, 4), 1.001), np.zeros((0, 4))]),
    ],
)
def test_every_dtype_and_shape_matches_itself_and_sees_a_change(
    court: Any, expected: Any, actual: Any
) -> None:
    """bool, int64 beyond 2**53, scalar rows, complex and ragged outputs: equal is match, changed is drift."""
    assert court.judge(expected, expected).verdict is Verdict.MATCH
    assert court.judge(expected, actual).verdict is Verdict.DRIFT


def test_a_healthy_scalar_regressor_near_zero_matches(court: Any) -> None:
    """Noise of 1e-6 on a value near zero is held against the typical value."""
    expected = np.array([[0.8], [-1.1], [2e-5], [0.3]], np.float32)
    actual = expected + np.float32(1e-6)
    result = court.judge(expected, actual, specs={"y": OutputSpec(kind="regression")})
    assert result.verdict is Verdict.MATCH


def test_a_near_tie_matches_and_is_noted(court: Any) -> None:
    """A flip between scores closer than the dtype's noise is agreement, marked and counted."""
    expected = np.array([[5.0, 5.00001, 1.0], [3.0, 1.0, 0.0]], np.float32)
    actual = np.array([[5.00001, 5.0, 1.0], [3.0, 1.0, 0.0]], np.float32)
    result = court.judge(expected, actual, specs={"y": OutputSpec(kind="classification")})
    assert result.verdict is Verdict.MATCH
    assert result.notes == ("1 near tie, counted as agreement: s0",)
    assert (result.samples[0].id, result.samples[0].near_tie, result.samples[0].note) == (
        "s0",
        True,
        "near tie",
    )


@pytest.mark.parametrize(
    ("facts", "margin", "verdict"),
    [
        ({"gpu.name": "A100", "torch.cudnn_tf32": True}, 0.0098, Verdict.MATCH),
        ({"gpu.name": "A100", "torch.cudnn_tf32": True}, 0.0102, Verdict.DRIFT),
        ({"gpu.name": None, "torch.cudnn_tf32": True}, 0.0098, Verdict.DRIFT),
        ({"torch.mkldnn_matmul_fp32_precision": "bf16"}, 0.0102, Verdict.MATCH),
    ],
)
def test_a_near_tie_is_as_wide_as_the_precision_of_products(
    court: Any, side: Any, facts: Any, margin: float, verdict: Verdict
) -> None:
    """Under TF32 a flip is noise up to sqrt(2) * 5e-3 of the scores' norm, here about 0.01, not beyond."""
    scores = [np.array([[1.0 + margin, 1.0]], np.float32), np.array([[1.0, 1.0 + margin]], np.float32)]
    result = court.judge(
        *[side(outputs={"y": each}, facts=facts) for each in scores],
        specs={"y": OutputSpec(kind="classification")},
        checks=CheckPlan(by_output={"y": OutputChecks(off=frozenset({"rel_l2"}))}),
    )
    assert result.verdict is verdict
    assert result.samples[0].near_tie == (verdict is Verdict.MATCH)


def test_a_widened_limit_does_not_widen_near_ties(court: Any, ask: Any, limit: Any) -> None:
    """A suite that allows rel_l2 of 1 still sees a flip; a calibrated noise floor makes it a near tie."""
    expected, actual = np.array([[1.0, 0.9]], np.float32), np.array([[0.9, 1.0]], np.float32)
    options = {"specs": {"y": OutputSpec(kind="classification")}, "checks": ask(y=[limit("rel_l2", 1.0)])}
    result = court.judge(expected, actual, **options)
    assert {check.name: check.ok for check in result.checks} == {"rel_l2": True, "top1_agreement": False}
    assert court.judge(expected, actual, noise_floor={"y": 0.06}, **options).verdict is Verdict.MATCH


@given(
    limits=st.tuples(st.floats(1e-9, 1.0), st.floats(1e-9, 1.0)), relative=st.sampled_from([1e-7, 1e-4, 1e-2])
)
@settings(max_examples=40, deadline=None)
def test_a_wider_limit_never_drifts_more(
    court: Any, ask: Any, limit: Any, limits: tuple[float, float], relative: float
) -> None:
    """Law: drifted samples under a wider limit are drifted under a narrower one."""
    expected = np.random.default_rng(0).standard_normal((6, 9)).astype(np.float32)
    actual = _noise(expected, relative)
    narrow, wide = (
        set(court.judge(expected, actual, checks=ask(limit("rel_l2", value))).drifted_samples)
        for value in sorted(limits)
    )
    assert wide <= narrow
