"""Laws of comparing that hold for any input, and a slow reference that it agrees with."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.compare import Comparison

pytestmark = pytest.mark.filterwarnings("error")

Compare = Callable[..., Comparison]


@st.composite
def _two_sides(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    dtype = draw(
        st.sampled_from(
            [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64, np.bool_, np.complex64]
        )
    )
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
    arrays = hnp.arrays(dtype, shape)
    expected = draw(arrays)
    actual = expected.copy() if draw(st.booleans()) else draw(arrays)
    return expected, actual


@given(sides=_two_sides(), block_bytes=st.sampled_from([1, 100, 500, 3000]))
@settings(max_examples=300, deadline=None)
def test_block_size_changes_nothing(
    compare: Compare, sides: tuple[np.ndarray, np.ndarray], block_bytes: int
) -> None:
    """Law: however the pass is cut, every count is equal and every sum equal but for noise."""
    whole, cut = compare(*sides), compare(*sides, block_bytes=block_bytes)
    for name in (
        "n_elements",
        "n_one_sided",
        "n_excluded",
        "nan_expected",
        "nan_actual",
        "inf_actual",
        "max_abs",
    ):
        np.testing.assert_array_equal(getattr(cut.rows, name), getattr(whole.rows, name))
    for name in ("rel_l2", "expected_norm", "sum_abs"):
        np.testing.assert_allclose(getattr(cut.rows, name), getattr(whole.rows, name), rtol=1e-12)
    assert repr(cut.worst) == repr(whole.worst)
    assert cut.max_rel == whole.max_rel


def _refer(expected: np.ndarray, actual: np.ndarray, r: float) -> float:
    """Return rel_l2 of one row, slowly, in Python floats."""
    before, after = expected.reshape(-1).tolist(), actual.reshape(-1).tolist()
    pairs = [(e, a) for e, a in zip(before, after, strict=True) if math.isfinite(e) and math.isfinite(a)]
    for e, a in zip(before, after, strict=True):
        alike = e == a or (math.isnan(e) and math.isnan(a))
        if not (math.isfinite(e) and math.isfinite(a)) and not alike:
            return math.inf
    distance = math.sqrt(math.fsum((a - e) ** 2 for e, a in pairs))
    norm = math.sqrt(math.fsum(e * e for e, _ in pairs))
    floor = max(norm, (1.0 if len(before) < 8 else 0.01) * r)
    return distance / floor if floor else (math.inf if distance else 0.0)


@given(
    sides=st.integers(1, 12).flatmap(
        lambda width: st.tuples(*[hnp.arrays(np.float32, (3, width), elements=st.floats(width=32))] * 2)
    )
)
@settings(max_examples=300, deadline=None)
def test_gate_agrees_with_a_slow_reference(compare: Compare, sides: tuple[np.ndarray, np.ndarray]) -> None:
    """Law: rel_l2 is what math.fsum makes of its definition, non-finite elements included."""
    expected, actual = sides
    norms = [
        math.sqrt(math.fsum(value * value for value in row.tolist() if math.isfinite(value)))
        for row in expected
    ]
    r = math.sqrt(math.fsum(norm * norm for norm in norms) / len(norms))
    result = compare(expected, actual)
    reference = [_refer(before, after, r) for before, after in zip(expected, actual, strict=True)]
    np.testing.assert_allclose(result.rows.rel_l2, reference, rtol=1e-9)


@given(sides=_two_sides(), limit=st.floats(0.0, 1.0))
@settings(max_examples=200, deadline=None)
def test_a_drifting_row_has_a_mismatched_element(
    compare: Compare, sides: tuple[np.ndarray, np.ndarray], limit: float
) -> None:
    """Law: a row beyond its limit never reports zero mismatched elements."""
    rows = compare(*sides, limit=limit).rows
    assert (rows.n_mismatched[rows.rel_l2 > limit] > 0).all()
    assert (rows.n_mismatched <= rows.n_elements).all()


@given(sides=_two_sides(), limits=st.tuples(st.floats(0.0, 2.0), st.floats(0.0, 2.0)))
@settings(max_examples=150, deadline=None)
def test_a_wider_limit_never_counts_more(
    compare: Compare, sides: tuple[np.ndarray, np.ndarray], limits: tuple[float, float]
) -> None:
    """Law: mismatched elements never grow with the limit."""
    narrow, wide = (compare(*sides, limit=limit).rows.n_mismatched for limit in sorted(limits))
    assert (wide <= narrow).all()


@given(
    values=hnp.arrays(np.float64, (2, 5), elements=st.floats(-1e6, 1e6)),
    place=st.tuples(st.integers(0, 1), st.integers(0, 4)),
    poison=st.sampled_from([math.nan, math.inf, -math.inf]),
    on_expected=st.booleans(),
)
@settings(deadline=None)
def test_one_sided_non_finite_never_passes(
    compare: Compare, values: np.ndarray, place: tuple[int, int], poison: float, on_expected: bool
) -> None:
    """Law: a NaN or infinity on one side makes its row's error infinite, on whichever side."""
    poisoned = values.copy()
    poisoned[place] = poison
    sides = (poisoned, values) if on_expected else (values, poisoned)
    result = compare(*sides, limit=1e9)
    assert result.rows.rel_l2[place[0]] == math.inf
    assert (result.worst[0].pair, result.worst[0].index) == (place[0], (place[1],))
