"""Decisions read off scores, held against brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.compare import Comparison, Decisions, ScoreObserver

pytestmark = pytest.mark.filterwarnings("error")

Compare = Callable[..., Comparison]


def _decide(
    compare: Compare, expected: np.ndarray, actual: np.ndarray, *, epsilon: float = 0.0, top_k: int = 0
) -> Decisions:
    observer = ScoreObserver(len(expected), epsilon=epsilon, top_k=top_k)
    compare(expected, actual, observers=[observer], block_bytes=400)
    return observer.decisions


def test_a_flip_is_a_disagreement(compare: Compare) -> None:
    """Another top class lowers agreement to 0, the same one keeps it at 1."""
    decisions = _decide(compare, np.array([[3.0, 1.0], [3.0, 1.0]]), np.array([[1.0, 3.0], [2.0, 1.0]]))
    assert decisions.top1.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("margin", "is_near"), [(0.0141, True), (0.0143, False)])
def test_a_near_tie_counts_as_agreement(compare: Compare, margin: float, is_near: bool) -> None:
    """The bound is sqrt(2) * epsilon * norm of expected, here 1.414e-2, just inside and just outside."""
    expected = np.array([[math.sqrt(0.5) + margin / 2, math.sqrt(0.5) - margin / 2]])
    decisions = _decide(compare, expected, expected[:, ::-1].copy(), epsilon=0.01)
    assert decisions.top1.tolist() == [1.0 if is_near else 0.0]
    assert decisions.top1_near_tie.tolist() == [is_near]


def test_equal_expected_scores_are_a_near_tie_without_any_noise(compare: Compare) -> None:
    """Where the golden itself has two top classes, either one agrees with it."""
    decisions = _decide(compare, np.array([[5.0, 5.0, 1.0]]), np.array([[4.9, 5.0, 1.0]]))
    assert decisions.top1.tolist() == [1.0]
    assert decisions.top1_near_tie.tolist() == [True]


def test_epsilon_never_comes_from_the_difference(compare: Compare) -> None:
    """A large difference does not widen the bound: the flip stays a flip."""
    assert _decide(compare, np.array([[1.0, 0.0]]), np.array([[0.0, 9.0]]), epsilon=1e-5).top1.tolist() == [
        0.0
    ]


def test_rows_with_nan_decide_nothing(compare: Compare) -> None:
    """NaN scores have no top class, on one side or on both."""
    expected = np.array([[math.nan, 1.0], [2.0, 1.0], [2.0, 1.0]])
    actual = np.array([[math.nan, 1.0], [math.nan, 1.0], [2.0, 1.5]])
    assert np.isnan(_decide(compare, expected, actual).top1).tolist() == [True, True, False]


def test_masked_classes_do_not_disturb(compare: Compare) -> None:
    """Scores of -inf on both sides leave the decision to the others."""
    expected = np.array([[-math.inf, 2.0, 1.0]])
    decisions = _decide(compare, expected, np.array([[-math.inf, 1.0, 2.0]]), top_k=2)
    assert decisions.top1.tolist() == [0.0]
    assert decisions.topk_overlap.tolist() == [1.0]


def test_topk_overlap_counts_common_classes(compare: Compare) -> None:
    """One of three classes replaced leaves two thirds."""
    expected, actual = np.array([[9.0, 8.0, 7.0, 1.0]]), np.array([[9.0, 8.0, 1.0, 7.0]])
    assert _decide(compare, expected, actual, top_k=3).topk_overlap[0] == pytest.approx(2 / 3)


def test_a_near_tie_at_the_edge_counts_as_overlap(compare: Compare) -> None:
    """Two classes that swap over the edge within the bound are no change."""
    expected, actual = np.array([[9.0, 7.0001, 7.0, 1.0]]), np.array([[9.0, 7.0, 7.0001, 1.0]])
    decisions = _decide(compare, expected, actual, top_k=2, epsilon=1e-5)
    assert decisions.topk_overlap.tolist() == [1.0]
    assert decisions.topk_near_tie.tolist() == [True]
    assert not decisions.top1_near_tie.any()


_SCORES = hnp.arrays(np.float64, (1, 5), elements=st.integers(-3, 3).map(float))


@given(expected=_SCORES, actual=_SCORES, epsilon=st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=300, deadline=None)
def test_top1_agrees_with_brute_force(
    compare: Compare, expected: np.ndarray, actual: np.ndarray, epsilon: float
) -> None:
    """Law: agreement is an equal first maximum, or a margin within the bound."""
    before, after = expected[0].tolist(), actual[0].tolist()
    a, b = before.index(max(before)), after.index(max(after))
    bound = math.sqrt(2.0) * epsilon * math.sqrt(sum(score * score for score in before))
    is_near = a != b and before[a] - before[b] <= bound
    decisions = _decide(compare, expected, actual, epsilon=epsilon)
    assert decisions.top1.tolist() == [1.0 if a == b or is_near else 0.0]
    assert decisions.top1_near_tie.tolist() == [is_near]


@given(expected=_SCORES, actual=_SCORES, top_k=st.integers(1, 4), epsilon=st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=300, deadline=None)
def test_topk_agrees_with_brute_force(
    compare: Compare, expected: np.ndarray, actual: np.ndarray, top_k: int, epsilon: float
) -> None:
    """Law: overlap counts common classes and as many near-tie swaps as can be paired up."""
    before, after = expected[0].tolist(), actual[0].tolist()
    top = [
        set(sorted(range(5), key=lambda at, side=side: (-side[at], at))[:top_k]) for side in (before, after)
    ]
    bound = math.sqrt(2.0) * epsilon * math.sqrt(sum(score * score for score in before))
    left, entered = sorted(top[0] - top[1]), sorted(top[1] - top[0])
    n_near = max(
        (
            sum(before[a] - before[b] <= bound for a, b in zip(left, order, strict=True))
            for order in itertools.permutations(entered)
        ),
        default=0,
    )
    decisions = _decide(compare, expected, actual, top_k=top_k, epsilon=epsilon)
    assert decisions.topk_overlap[0] == pytest.approx((len(top[0] & top[1]) + n_near) / top_k)
