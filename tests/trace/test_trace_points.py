"""Points of arrays: the same places everywhere, with all channels, and statistics of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.trace import (
    N_VALUES,
    count_places,
    list_places,
    measure_channels,
    read_points,
    seed_points,
    split_channels,
)


def test_places_are_the_recorded_ones():
    """Goldens hold values without their places: another version of numpy must find the same."""
    assert list_places(50176, 6, 7).tolist() == [19560, 842, 45196, 29249, 22701, 12515]
    assert list_places(100, 6, 7).tolist() == [84, 1, 71, 44, 31, 43]
    assert seed_points("s1") == 9791369308001451240
    assert list_places(1 << 20, 4, 9791369308001451240).tolist() == [300177, 619198, 448150, 655818]


@given(st.integers(1, 10_000), st.integers(1, 300), st.integers(0, 2**64 - 1))
def test_places_lie_in_the_array_and_fewer_are_the_first_of_more(n_places, n_wanted, seed):
    """A golden that may keep less keeps the beginning; all places come in order."""
    places = list_places(n_places, n_wanted, seed)
    assert places.size == min(n_places, n_wanted)
    assert places.min() >= 0
    assert places.max() < n_places
    if n_places <= n_wanted:
        assert places.tolist() == list(range(n_places))
    elif n_wanted > 1:
        assert list_places(n_places, n_wanted // 2, seed).tolist() == places[: n_wanted // 2].tolist()
    if n_places <= 4096:
        assert len(set(places.tolist())) == places.size


def test_places_are_spread_over_the_whole():
    """No quarter of an array is missed, whichever the sample."""
    for name in ("a", "b", "c"):
        places = list_places(224 * 224, 85, seed_points(name))
        assert np.histogram(places, 4, (0, 224 * 224))[0].min() > 8


@pytest.mark.parametrize(
    ("shape", "axis", "n_channels", "n_places"),
    [
        ((3, 224, 224), 0, 3, 85),
        ((224, 224, 3), 2, 3, 85),
        ((1, 28, 28), 0, 1, 256),
        ((2, 16000), 0, 2, 128),
        ((16000,), None, 1, 256),
        ((64, 20, 30), None, 1, 256),
        ((10,), None, 1, 10),
        ((), None, 1, 1),
        ((0, 4), None, 1, 0),
    ],
)
def test_all_channels_are_read_at_each_place(shape, axis, n_channels, n_places):
    """A short axis that looks like channels is one: an order of channels can be told from points."""
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    points = read_points(array, N_VALUES, 7)
    assert points.axis == axis
    assert points.values.shape == (n_channels, n_places)
    assert count_places(shape, axis, N_VALUES) == n_places
    channels = split_channels(array, axis)
    places = list_places(channels.shape[1], n_places, 7)
    np.testing.assert_array_equal(points.values, channels[:, places])


def test_statistics_are_of_the_whole():
    """Mean, deviation, smallest and largest of each channel; what is not finite counts for nothing."""
    array = np.stack([np.full((9, 9), 2.0), np.arange(81.0).reshape(9, 9), np.full((9, 9), np.nan)])
    array[1, 0, 0] = np.inf
    rest = np.arange(1.0, 81.0)
    expected = [[2, 0, 2, 2], [rest.mean(), rest.std(), 1, 80], [np.nan] * 4]
    np.testing.assert_allclose(read_points(array, N_VALUES, 0).statistics, expected)


def test_statistics_of_a_large_array_are_of_evenly_spread_elements():
    """They take a few milliseconds, whatever the size, and are near those of all."""
    channels = np.random.default_rng(0).normal(3.0, 2.0, (2, 1 << 19))
    found = measure_channels(channels)
    np.testing.assert_allclose(found[:, 0], 3.0, atol=0.05)
    np.testing.assert_allclose(found[:, 1], 2.0, atol=0.05)
