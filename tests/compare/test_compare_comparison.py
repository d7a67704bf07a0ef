"""What a comparison measures, dtype by dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.compare import Comparison, ElementwiseLimit, RowPairs

pytestmark = pytest.mark.filterwarnings("error")

Compare = Callable[..., Comparison]


def test_equal_arrays_have_no_difference(compare: Compare) -> None:
    """Equal values measure zero, with a cosine of exactly 1."""
    values = np.random.default_rng(0).standard_normal((5, 30)).astype(np.float32)
    result = compare(values, values.copy())
    assert not result.rows.rel_l2.any()
    assert (result.rows.cosine == 1.0).all()
    assert result.worst == ()
    assert result.max_rel == 0.0


def test_int8_is_widened_before_it_is_subtracted(compare: Compare) -> None:
    """1 against 2 differs by 1 and -128 against 127 by 255: nothing wraps around."""
    result = compare(np.array([[1], [-128]], np.int8), np.array([[2], [127]], np.int8), limit=0.0)
    assert result.rows.max_abs.tolist() == [1.0, 255.0]
    assert result.rows.n_mismatched.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("dtype", "expected", "actual", "distance"),
    [
        (np.int64, 2**53, 2**53 + 1, 1.0),
        (np.int64, -(2**63), 2**63 - 1, 2.0**64),
        (np.uint64, 2**64 - 1, 2**64 - 2, 1.0),
        (np.uint64, 0, 2**64 - 1, 2.0**64),
        (np.uint8, 0, 255, 255.0),
        (np.bool_, False, True, 1.0),
    ],
)
def test_integers_differ_exactly(
    compare: Compare, dtype: Any, expected: int, actual: int, distance: float
) -> None:
    """Neighbours beyond 2**53 stay different, and distances beyond int64 do not overflow."""
    result = compare(np.array([[expected]], dtype), np.array([[actual]], dtype), limit=0.0)
    assert result.rows.max_abs.tolist() == [distance]
    assert result.rows.n_mismatched.tolist() == [1]
    assert (result.worst[0].expected, result.worst[0].actual) == (expected, actual)


def test_negative_zero_equals_zero(compare: Compare) -> None:
    """-0.0 is no difference, whatever the limit."""
    result = compare(np.zeros((1, 3)), np.full((1, 3), -0.0), limit=0.0)
    assert result.rows.n_mismatched.tolist() == [0]
    assert result.rows.rel_l2.tolist() == [0.0]


def test_all_zero_expected_has_no_relative_error(compare: Compare) -> None:
    """Where R is 0 any difference is infinite, and no elementwise ratio is defined."""
    result = compare(np.zeros((2, 3), np.float32), np.array([[0, 0, 0], [0, 1e-30, 0]], np.float32))
    assert result.rows.rel_l2.tolist() == [0.0, math.inf]
    assert result.max_rel is None
    assert result.rows.n_mismatched.tolist() == [0, 1]


def test_relative_error_ignores_zero_expected(compare: Compare) -> None:
    """The elementwise ratio is taken over non-zero expected only."""
    assert compare(np.array([[0.0, 2.0]]), np.array([[5.0, 3.0]])).max_rel == 0.5


def test_complex_values_differ_by_modulus(compare: Compare) -> None:
    """A difference of 3+4j is 5, and a rotation by 90 degrees has cosine 0."""
    result = compare(np.array([[1 + 1j], [1 + 0j]], np.complex64), np.array([[4 + 5j], [1j]], np.complex64))
    assert result.rows.max_abs[0] == 5.0
    assert result.rows.cosine[1] == 0.0
    assert result.rows.difference_norm.tolist() == pytest.approx([5.0, math.sqrt(2.0)])


def test_float16_overflow_on_one_side_is_infinite(compare: Compare) -> None:
    """An overflow to infinity makes the row's error infinite and is counted."""
    result = compare(np.array([[60000.0, 1.0]], np.float16), np.array([[np.inf, 1.0]], np.float16))
    assert result.rows.rel_l2.tolist() == [math.inf]
    assert result.rows.inf_actual.tolist() == [1]
    assert result.rows.n_one_sided.tolist() == [1]


@pytest.mark.parametrize(
    ("expected", "actual", "n_one_sided"),
    [
        (math.nan, math.nan, 0),
        (math.inf, math.inf, 0),
        (math.inf, -math.inf, 1),
        (math.nan, math.inf, 1),
        (1.0, math.nan, 1),
        (-math.inf, 1.0, 1),
    ],
)
def test_non_finite_elements_are_equal_only_alike(
    compare: Compare, expected: float, actual: float, n_one_sided: int
) -> None:
    """NaN equals NaN and an infinity its like; everything else non-finite is one-sided."""
    result = compare(np.array([[expected, 2.0]]), np.array([[actual, 2.0]]))
    assert result.rows.n_one_sided.tolist() == [n_one_sided]
    assert result.rows.n_mismatched.tolist() == [n_one_sided]
    assert result.rows.rel_l2.tolist() == [math.inf if n_one_sided else 0.0]


def test_complex_nan_is_equal_part_by_part(compare: Compare) -> None:
    """nan+1j equals nan+1j and differs from nan+2j."""
    expected = np.array([[complex(math.nan, 1.0)], [complex(math.nan, 1.0)]])
    actual = np.array([[complex(math.nan, 1.0)], [complex(math.nan, 2.0)]])
    assert compare(expected, actual).rows.n_one_sided.tolist() == [0, 1]


def test_both_sided_non_finite_elements_leave_the_sums(compare: Compare) -> None:
    """Elements that are NaN on both sides are counted and change no statistic."""
    expected = np.array([[math.nan, 3.0, 4.0, math.inf]])
    result = compare(expected, expected + np.array([[0.0, 0.5, 0.0, 0.0]]))
    assert result.rows.nan_expected.tolist() == result.rows.nan_actual.tolist() == [1]
    assert result.rows.inf_expected.tolist() == [1]
    assert result.rows.rel_l2[0] == pytest.approx(0.1)
    assert result.mean_abs == pytest.approx(0.25)
    assert result.rms_abs == pytest.approx(math.sqrt(0.125))


@pytest.mark.parametrize("scale", [1e-200, 5e-324, 1e200, 1e308])
def test_extreme_values_keep_their_relative_error(compare: Compare, scale: float) -> None:
    """Rows whose squares leave float64's range are measured as any other."""
    result = compare(np.array([[scale, 0.0]]), np.array([[0.0, 0.0]]))
    assert result.rows.rel_l2.tolist() == [1.0]
    assert result.rows.n_mismatched.tolist() == [1]


def test_differences_beyond_float64_stay_comparable(compare: Compare) -> None:
    """A difference that overflows float64 still has a finite relative error."""
    result = compare(np.array([[1.7e308, 1.7e308]]), np.array([[-1.7e308, 1.7e308]]))
    assert result.rows.rel_l2[0] == pytest.approx(math.sqrt(2.0))


def test_empty_rows_are_equal(compare: Compare) -> None:
    """Rows without elements have nothing to differ in."""
    result = compare(np.zeros((3, 0, 4)), np.zeros((3, 0, 4)))
    assert result.n_total == 0
    assert result.rows.rel_l2.tolist() == [0.0, 0.0, 0.0]
    assert (result.mean_abs, result.rms_abs, result.max_rel) == (0.0, 0.0, None)


def test_ragged_rows_are_compared_in_their_own_shape(compare: Compare) -> None:
    """Rows of different shapes, also empty ones, are measured one by one."""
    expected = [np.ones((2, 4)), np.zeros((0, 4)), np.full((3, 4), 2.0)]
    actual = [row.copy() for row in expected]
    actual[2][1, 3] = 2.5
    result = compare(expected, actual)
    assert result.rows.rel_l2[:2].tolist() == [0.0, 0.0]
    assert result.rows.n_elements.tolist() == [8, 0, 12]
    assert (result.worst[0].pair, result.worst[0].index) == (2, (1, 3))


def test_rows_of_other_shape_are_never_broadcast(compare: Compare) -> None:
    """(3, 1) against (1, 3) is refused."""
    with pytest.raises(ValueError, match=r"expected shape \(3, 1\), got \(1, 3\)"):
        compare(np.ones((2, 3, 1)), np.ones((2, 1, 3)))


def test_pairs_may_reorder_and_skip_rows(compare: Compare) -> None:
    """Rows are compared by pair, so that a reordered sample set matches."""
    expected = np.arange(12.0).reshape(4, 3)
    pairs = RowPairs(expected=np.array([3, 0, 1]), actual=np.array([0, 1, 2]))
    result = compare(expected, expected[[3, 0, 1]], pairs=pairs)
    assert not result.rows.rel_l2.any()


@pytest.mark.parametrize(("moved", "n_beyond"), [(0.0299, 0), (0.0301, 1)])
def test_elementwise_counts_what_is_beyond(compare: Compare, moved: float, n_beyond: int) -> None:
    """An element may differ by atol + rtol * |expected| and no more."""
    result = compare(
        np.array([[2.0, 1.0]]),
        np.array([[2.0 + moved, 1.0]]),
        elementwise=ElementwiseLimit(rtol=0.01, atol=0.01),
    )
    assert result.rows.n_beyond.tolist() == [n_beyond]


def test_scalar_rows_are_held_against_the_typical_row(compare: Compare) -> None:
    """A regressor's value near zero does not fail by its own tiny norm."""
    expected = np.array([1.0, -2.0, 1e-6, 1.5])
    result = compare(expected, expected + 1e-6)
    assert result.rows.rel_l2.max() < 1e-5


def test_long_rows_are_held_against_themselves(compare: Compare) -> None:
    """From 8 elements on a row's own norm counts, down to a hundredth of the typical one."""
    expected = np.ones((2, 8))
    expected[1] = 0.1
    result = compare(expected, expected * 1.2)
    assert result.rows.rel_l2 == pytest.approx([0.2, 0.2])
