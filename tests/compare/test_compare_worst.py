"""The worst elements: which, in what order, and how many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pytest_modelreg.compare import Comparison

Compare = Callable[..., Comparison]


def test_the_largest_differences_are_kept_in_order(compare: Compare) -> None:
    """Of many differing elements the 20 largest stay, largest first, with place and both values."""
    moved = np.random.default_rng(0).permutation(200).reshape(4, 5, 10) * 0.5
    result = compare(np.zeros((4, 5, 10)), moved, block_bytes=500)
    assert [element.actual for element in result.worst] == [99.5 - 0.5 * step for step in range(20)]
    for element in result.worst:
        assert moved[(element.pair, *element.index)] == element.actual


def test_the_earliest_of_equal_differences_stay(compare: Compare) -> None:
    """Ties are kept in reading order, so that the list does not depend on blocks."""
    result = compare(np.zeros((10, 10)), np.ones((10, 10)), block_bytes=300)
    assert [(element.pair, *element.index) for element in result.worst] == [
        (at // 10, at % 10) for at in range(20)
    ]


def test_one_sided_elements_come_before_all(compare: Compare) -> None:
    """A new NaN leads the list, however large other differences are."""
    expected = np.zeros((2, 30))
    actual = np.arange(60.0).reshape(2, 30) * 1e6
    actual[1, 7] = np.nan
    result = compare(expected, actual)
    assert (result.worst[0].pair, result.worst[0].index) == (1, (7,))
    assert len(result.worst) == 20


def test_scalar_rows_have_an_empty_index(compare: Compare) -> None:
    """A row without axes has one element at the index ()."""
    assert compare(np.array([1.0, 2.0]), np.array([1.0, 3.0])).worst[0].index == ()
