"""Divergence of distributions, held against the plain formula in long arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.compare import Comparison, DivergenceObserver
from pytest_modelreg.compare.divergence import diverge_scores

pytestmark = pytest.mark.filterwarnings("error")

Compare = Callable[..., Comparison]


def _diverge(compare: Compare, expected: np.ndarray, actual: np.ndarray) -> list[float]:
    observer = DivergenceObserver(len(expected))
    compare(expected, actual, observers=[observer], block_bytes=400)
    return observer.divergence.tolist()


_SCORES = hnp.arrays(np.float64, (4, 5), elements=st.floats(-30, 30)).map(
    lambda scores: scores - 1.0 - scores.max()  # no distribution: all are negative
)


@given(expected=_SCORES, actual=_SCORES)
@settings(max_examples=200, deadline=None)
def test_scores_agree_with_brute_force(compare: Compare, expected: np.ndarray, actual: np.ndarray) -> None:
    """Law: sum p * log(p / q) of the softmax; never negative, 0 for equal rows."""
    found = _diverge(compare, expected, actual)
    for row, (before, after) in enumerate(zip(expected.tolist(), actual.tolist(), strict=True)):
        p, q = ([math.exp(score) for score in scores] for scores in (before, after))
        total_p, total_q = math.fsum(p), math.fsum(q)
        plain = math.fsum(
            a / total_p * (math.log(a / total_p) - math.log(b / total_q)) for a, b in zip(p, q, strict=True)
        )
        assert found[row] == pytest.approx(plain, rel=1e-9, abs=1e-13)
        assert found[row] >= 0.0


@given(expected=_SCORES, shift=st.floats(-1e3, 1e3))
@settings(max_examples=100, deadline=None)
def test_a_shift_of_all_scores_is_no_divergence(compare: Compare, expected: np.ndarray, shift: float) -> None:
    """Law: softmax does not see a constant that is added to every class."""
    assert max(_diverge(compare, expected, expected + shift)) <= 1e-9


def test_probabilities_are_taken_as_they_are(compare: Compare) -> None:
    """A distribution gets no second softmax: half a nat is half a nat."""
    expected = np.array([[0.5, 0.5], [0.9, 0.1]])
    actual = np.array([[0.9, 0.1], [0.9, 0.1]])
    plain = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    assert _diverge(compare, expected, actual) == pytest.approx([plain, 0.0])


def test_probabilities_that_lost_their_sum_diverge(compare: Compare) -> None:
    """Scaled by 1.2 they are no distribution: sum p log(p / q) alone would be negative and pass."""
    expected = np.array([[0.6, 0.4]])
    assert _diverge(compare, expected, 1.2 * expected) == pytest.approx([0.2 - math.log(1.2)])


@pytest.mark.parametrize("actual", [[1.0, 0.0], [1.1, -0.1]])
def test_a_possible_class_that_became_impossible_is_infinite(compare: Compare, actual: list[float]) -> None:
    """No limit passes it."""
    assert _diverge(compare, np.array([[0.9, 0.1]]), np.array([actual])) == [math.inf]


def test_scores_of_any_size_are_stable(compare: Compare) -> None:
    """Neither overflow of exp nor classes whose probability underflows turn into NaN or infinity."""
    expected = np.array([[1000.0, 0.0, -1000.0], [1e308, -1e308, 0.0], [0.0, 900.0, 0.0]])
    actual = np.array([[1000.0, 1.0, 999.0], [1e308, 1e308, 0.0], [0.0, 0.0, 900.0]])
    assert _diverge(compare, expected, actual) == pytest.approx(
        [math.log1p(math.exp(-1)), math.log(2), 900.0], rel=1e-12
    )


def test_what_is_not_finite_alike_is_left_out_or_takes_everything(compare: Compare) -> None:
    """NaN on both sides is no class, -inf an impossible one, +inf the only one; the others still count."""
    expected = np.array([[math.nan, 0.0, 1.0], [-math.inf, 0.0, 1.0], [math.inf, 0.0, 1.0]])
    actual = expected.copy()
    actual[:, 1] = 1.0
    two = diverge_scores(np.array([[0.0, 1.0]]), np.array([[1.0, 1.0]]))[0]
    assert _diverge(compare, expected, actual) == pytest.approx([two, two, 0.0])


def test_one_row_of_scores_that_sums_to_one_is_no_distribution(compare: Compare) -> None:
    """Scores such as (1, 0, 0) are probabilities only where all rows are; else nothing here is infinite."""
    expected = np.array([[1.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
    actual = np.array([[0.0, 1.0, 0.0], [4.0, 1.0, 0.0]])
    plain = diverge_scores(expected, actual)
    assert _diverge(compare, expected, actual) == pytest.approx(plain.tolist())
    assert np.isfinite(plain).all()


def test_one_sided_nan_is_infinite(compare: Compare) -> None:
    """A row that is NaN on one side only passes no limit."""
    assert _diverge(compare, np.array([[0.0, 1.0]]), np.array([[0.0, math.nan]])) == [math.inf]


def test_float32_noise_is_no_divergence(compare: Compare) -> None:
    """Probabilities in float32 whose last bits differ stay far below any limit."""
    scores = np.random.default_rng(0).standard_normal((20, 1000)).astype(np.float32)
    weights = np.exp(scores)
    expected = weights / weights.sum(axis=1, keepdims=True)
    actual = np.nextafter(expected, np.float32(1))
    assert max(_diverge(compare, expected, actual)) < 1e-6
