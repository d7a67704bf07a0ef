"""Rows of probes: what two of them say of each other, and what they admit not to know."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.trace import CountSketch, count_columns, estimate_rel_l2, is_known, make_row


def row(*values: float) -> np.ndarray:
    """Return the row of one vector."""
    sketch = CountSketch(256)
    sketch.add(np.array(values, np.float64))
    return make_row(sketch)


def test_row_is_buckets_norm_and_count_of_non_finite() -> None:
    """The columns are the format of a file: their order is fixed."""
    found = row(3.0, math.nan, 4.0)
    assert found.dtype == np.float64
    assert found.shape == (count_columns(256),) == (258,)
    assert found[-2:].tolist() == [5.0, 1.0]


def test_row_of_nan_knows_nothing() -> None:
    """What was never sketched is told from what is zero."""
    assert is_known(row(0.0))
    assert not is_known(np.full(258, np.nan))


@given(
    vector=hnp.arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e6, 1e6, width=32)),
    at=st.integers(0, 49),
    share=st.sampled_from([1e-7, 1e-5, 0.5]),
)
def test_one_element_that_moved_is_its_share_of_the_norm(vector, at, share) -> None:
    """Relative to the expected side, as every other distance here."""
    vector[at % vector.size] = 3.0
    other = vector.copy()
    other[at % vector.size] += share
    expected = abs(other - vector).max() / np.linalg.norm(vector)
    assert estimate_rel_l2(row(*vector), row(*other)) == pytest.approx(expected, rel=1e-6)


def test_scale_is_exact() -> None:
    """A picture in 0..255 in place of 0..1 is 254 times its norm away, whatever it shows."""
    vector = np.random.default_rng(0).random(1000)
    distance = estimate_rel_l2(row(*vector), row(*(255 * vector)))
    assert distance == pytest.approx(254, rel=0.3)


def test_expected_zero_is_infinitely_far_from_anything_else() -> None:
    """No division by zero, and no silence."""
    assert estimate_rel_l2(row(0.0, 0.0), row(0.0, 1e-30)) == math.inf


def test_another_count_of_non_finite_elements_is_infinitely_far() -> None:
    """A NaN on one side only is never within a limit."""
    assert estimate_rel_l2(row(1.0, 2.0), row(1.0, math.nan)) == math.inf
    assert estimate_rel_l2(row(1.0, math.inf), row(1.0, 0.0)) == math.inf


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ((0.0, 1.0), (-0.0, 1.0)),
        ((math.nan, 1.0), (math.inf, 1.0)),
        ((math.nan, 0.0, 1.0), (0.0, math.nan, 1.0)),
    ],
    ids=["sign of zero", "NaN for infinity", "NaN elsewhere"],
)
def test_difference_that_is_in_no_bucket_is_unknown(expected, actual) -> None:
    """Unknown is not zero: zero would pass as another CPU's rounding."""
    assert estimate_rel_l2(row(*expected), row(*actual)) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [((1e300, 1.0), (1e300, 2.0)), ((1e200, 1e200), (1e200, -1e200)), ((1.0, 1.0), (1e300, 1.0))],
    ids=["norm overflows", "difference overflows", "actual overflows"],
)
def test_norm_beyond_float64_is_never_within_a_limit(expected, actual) -> None:
    """Anything finite over infinity is zero, which would pass for another CPU's rounding."""
    distance = estimate_rel_l2(row(*expected), row(*actual))
    assert distance is None or distance > 1e-5
