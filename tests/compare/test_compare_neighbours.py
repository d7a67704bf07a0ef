"""Nearest neighbours within the set, held against the whole matrix at once."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.compare import Neighbours, RowPairs, compare_neighbours

pytestmark = pytest.mark.filterwarnings("error")


def _compare(
    memory_rows: Any, expected: np.ndarray, actual: np.ndarray, *, top_k: int = 2, epsilon: float = 0.0,
    **options: Any,
) -> Neighbours:  # fmt: skip
    pairs = options.pop("pairs", RowPairs.same_order(len(expected)))
    return compare_neighbours(
        memory_rows(expected), memory_rows(actual), pairs=pairs, top_k=top_k, epsilon=epsilon, **options
    )


def _cosines(values: np.ndarray) -> np.ndarray:
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    return unit @ unit.T


def _overlap_slowly(expected: np.ndarray, actual: np.ndarray, top_k: int, epsilon: float) -> list[float]:
    before, after = _cosines(expected), _cosines(actual)
    overlaps = []
    for row in range(len(expected)):
        others = [at for at in range(len(expected)) if at != row]
        nearest = [
            set(sorted(others, key=lambda at, m=m: (-m[row, at], at))[:top_k]) for m in (before, after)
        ]
        last = min(before[row, at] for at in nearest[0])
        stayed = [
            at for at in nearest[1] if at in nearest[0] or last - before[row, at] <= 4 * epsilon + 1e-12
        ]
        overlaps.append(len(stayed) / top_k)
    return overlaps


_VECTORS = hnp.arrays(np.float64, (7, 3), elements=st.floats(-3, 3)).filter(
    lambda values: np.linalg.norm(values, axis=1).min() > 0.1
)


@given(
    expected=_VECTORS, actual=_VECTORS, top_k=st.integers(1, 5), epsilon=st.sampled_from([0.0, 0.01, 0.1]),
    block_bytes=st.sampled_from([1, 200, 10**6]),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_overlap_agrees_with_brute_force(
    memory_rows: Any, expected: np.ndarray, actual: np.ndarray, top_k: int, epsilon: float, block_bytes: int
) -> None:
    """Law: the neighbours that stayed, or whose expected cosine is within the bound of the last one's."""
    # Equal cosines are summed in another order by a larger product: where they decide, either is right.
    for side in (expected, actual):
        ordered = np.sort(_cosines(side), axis=1)
        if (np.diff(ordered, axis=1) < 1e-9).any():
            return
    found = _compare(memory_rows, expected, actual, top_k=top_k, epsilon=epsilon, block_bytes=block_bytes)
    assert found.overlap.tolist() == pytest.approx(_overlap_slowly(expected, actual, top_k, epsilon))


@given(
    expected=_VECTORS, noise=hnp.arrays(np.float64, (7, 3), elements=st.floats(-1, 1)),
    epsilon=st.sampled_from([1e-6, 1e-3, 1e-2]), top_k=st.integers(1, 5),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_noise_within_epsilon_never_lowers_the_overlap(
    memory_rows: Any, expected: np.ndarray, noise: np.ndarray, epsilon: float, top_k: int
) -> None:
    """Law: rows that are off by epsilon of their own norm keep every neighbour, the bound's derivation."""
    size = np.linalg.norm(noise, axis=1, keepdims=True)
    unit = np.divide(noise, size, out=np.zeros_like(noise), where=size > 0)
    actual = expected + 0.98 * epsilon * np.linalg.norm(expected, axis=1, keepdims=True) * unit
    assert (_compare(memory_rows, expected, actual, top_k=top_k, epsilon=epsilon).overlap == 1.0).all()


def _at_angles(*degrees: float) -> np.ndarray:
    radians = np.deg2rad(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def test_a_neighbour_that_changed_lowers_the_overlap(memory_rows: Any) -> None:
    """One of two neighbours replaced by one from far away leaves a half."""
    expected, actual = _at_angles(0, 10, 20, 80, 90), _at_angles(0, 10, 85, 20, 90)
    assert _compare(memory_rows, expected, actual).overlap[0] == 0.5


@pytest.mark.parametrize(("epsilon", "is_near"), [(1.001, True), (0.999, False)])
def test_a_near_tie_at_the_edge_counts(memory_rows: Any, epsilon: float, is_near: bool) -> None:
    """The bound is 4 * epsilon in cosine, here just inside and just outside."""
    expected, actual = _at_angles(0, 30, 31, 170), _at_angles(0, 31, 30, 170)
    margin = np.cos(np.deg2rad(30)) - np.cos(np.deg2rad(31))
    found = _compare(memory_rows, expected, actual, top_k=1, epsilon=epsilon * margin / 4)
    assert found.overlap[0] == (1.0 if is_near else 0.0)
    assert found.near_tie[0] == is_near


def test_equal_rows_are_ties_without_any_noise(memory_rows: Any) -> None:
    """Duplicates in the set: which of them is nearest says nothing."""
    expected = np.repeat(np.random.default_rng(0).standard_normal((3, 5)), 4, axis=0)
    actual = expected * np.linspace(1, 2, 12)[:, np.newaxis]
    assert (_compare(memory_rows, expected, actual, top_k=2).overlap == 1.0).all()


def test_length_does_not_matter(memory_rows: Any) -> None:
    """Cosine: rows of other length, even beyond what squares can hold, have the same neighbours."""
    expected = np.random.default_rng(0).standard_normal((8, 4))
    scale = np.array([1e-200, 1e-3, 1.0, 7.0, 1e200, 1.0, 2.0, 3.0])[:, np.newaxis]
    assert (_compare(memory_rows, expected, expected * scale, top_k=3).overlap == 1.0).all()


def test_a_row_without_direction_decides_by_itself(memory_rows: Any) -> None:
    """Zero on both sides agrees, NaN on both sides decides nothing, on one side only it is a loss."""
    expected = np.random.default_rng(0).standard_normal((8, 4))
    expected[0], expected[1] = 0.0, np.nan
    actual = expected.copy()
    actual[2] = 0.0
    overlap = _compare(memory_rows, expected, actual).overlap
    assert overlap[:3].tolist() == pytest.approx([1.0, np.nan, 0.0], nan_ok=True)
    assert not np.isnan(overlap[3:]).any()


def test_rows_are_paired(memory_rows: Any) -> None:
    """Only paired rows are neighbours, in whichever order they are stored."""
    expected = np.random.default_rng(0).standard_normal((9, 2, 3)).astype(np.float32)
    pairs = RowPairs(expected=np.array([0, 2, 4, 6, 8]), actual=np.array([4, 3, 2, 1, 0]))
    assert (_compare(memory_rows, expected, expected[8::-2], pairs=pairs).overlap == 1.0).all()


def test_memory_does_not_grow_with_the_square_of_the_set(memory_rows: Any) -> None:
    """4,000 rows have 16 million cosines: 128 MB at once, and a fraction of it block by block."""
    expected = np.random.default_rng(0).standard_normal((4000, 16)).astype(np.float32)
    tracemalloc.start()
    _compare(memory_rows, expected, expected * np.float32(1.5), block_bytes=2 * 2**20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * 2**20
