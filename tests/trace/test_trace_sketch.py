"""Count sketches: the laws by which two rows of numbers tell how far two long vectors are apart."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.trace.sketch import CountSketch, estimate_distance

N_BUCKETS = 256
STANDARD_ERROR = 1 / math.sqrt(2 * N_BUCKETS)
BLOCK = 1 << 16

# Multiples of 1/8 up to 2**20: sums of a few thousand are exact, so that laws hold to the last bit.
EIGHTHS = st.integers(-(1 << 23), 1 << 23).map(lambda number: number / 8)
VECTORS = hnp.arrays(np.float64, st.integers(0, 40), elements=EIGHTHS)


def sketch(*arrays: np.ndarray, n_buckets: int = N_BUCKETS) -> CountSketch:
    """Return the sketch of arrays, fed one after the other."""
    made = CountSketch(n_buckets)
    for array in arrays:
        made.add(array)
    return made


@pytest.mark.parametrize(
    ("n_before", "expected"),
    [
        (0, [0.0, -15296.0, 32.0, -36592.0, -134.0, 0.0, -2560.0, -8189.0]),
        (BLOCK - 6, [-8704.0, -16382.0, -64.0, 32767.0, 0.0, -1920.0, 4.0, -3792.0]),
    ],
    ids=["from the beginning", "over the edge of a block"],
)
def test_hash_never_changes(n_before: int, expected: list[float]) -> None:
    """Goldens keep sketches for years: another place or sign for one element makes all of them useless.

    Powers of two, so that every subset of elements has a sum of its own.
    """
    made = sketch(np.zeros(n_before), 2.0 ** np.arange(16), n_buckets=8)
    assert made.buckets.tolist() == expected


def test_every_element_lies_in_one_bucket_and_signs_are_even() -> None:
    """A hash that favoured one bucket or one sign would make every estimate wrong."""
    places = [sketch(np.zeros(at), np.ones(1)).buckets for at in range(2000)]
    assert all(np.count_nonzero(place) == 1 and abs(place.sum()) == 1 for place in places)
    total = np.abs(places).sum(axis=0)
    assert 0 < total.min() <= total.max() < 25  # 7.8 in the mean
    assert abs(np.sum(places)) < 5 * math.sqrt(2000)


@given(data=st.data(), vector=VECTORS)
def test_is_linear(data: st.DataObject, vector: np.ndarray) -> None:
    """The sketch of a sum is the sum of sketches: what the estimate of a difference rests on."""
    other = data.draw(hnp.arrays(np.float64, vector.shape, elements=EIGHTHS))
    np.testing.assert_array_equal(
        sketch(vector - other).buckets, sketch(vector).buckets - sketch(other).buckets
    )
    np.testing.assert_array_equal(sketch(4 * vector).buckets, 4 * sketch(vector).buckets)


@given(vector=VECTORS, cuts=st.lists(st.integers(0, 40), max_size=5))
def test_does_not_depend_on_chunks(vector: np.ndarray, cuts: list[int]) -> None:
    """Feeding parts is feeding the whole: position counts over all arrays."""
    whole, parts = sketch(vector), sketch(*np.split(vector, sorted(cuts)))
    np.testing.assert_array_equal(parts.buckets, whole.buckets)
    assert (parts.n_elements, parts.n_non_finite) == (whole.n_elements, whole.n_non_finite)
    assert parts.norm == pytest.approx(whole.norm, rel=1e-12)


def test_chunks_over_the_edges_of_blocks() -> None:
    """Whatever the cuts, also where an array ends in the middle of a block and spans two more."""
    vector = np.random.default_rng(0).integers(-1000, 1000, 3 * BLOCK + 17).astype(np.float64)
    whole = sketch(vector)
    for cuts in ([1], [BLOCK - 1, BLOCK + 1], [BLOCK], [5, 2 * BLOCK + 3, 3 * BLOCK + 16]):
        np.testing.assert_array_equal(sketch(*np.split(vector, cuts)).buckets, whole.buckets)


@given(
    vector=VECTORS.filter(lambda vector: vector.size > 0), data=st.data(), change=EIGHTHS.filter(lambda x: x)
)
def test_one_element_that_moved_is_exact(vector: np.ndarray, data: st.DataObject, change: float) -> None:
    """One element has one bucket: nothing is estimated."""
    other = vector.copy()
    other[data.draw(st.integers(0, vector.size - 1))] += change
    assert estimate_distance(sketch(vector).buckets, sketch(other).buckets) == abs(change)


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-7, 1e-3, 1.0, 50.0]))
def test_estimate_is_within_a_few_standard_errors(seed: int, scale: float) -> None:
    """The documented error is the real one: six of it are never passed by a dense difference."""
    rng = np.random.default_rng(seed)
    before = rng.standard_normal(5000)
    difference = scale * rng.standard_normal(5000)
    estimated = estimate_distance(sketch(before).buckets, sketch(before + difference).buckets)
    assert abs(estimated / np.linalg.norm(difference) - 1) < 6 * STANDARD_ERROR


def test_standard_error_is_the_documented_one() -> None:
    """4.4 % at 256 buckets: neither hidden nor exaggerated."""
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(200):
        difference = rng.standard_normal(3000)
        ratios.append(np.linalg.norm(sketch(difference).buckets) / np.linalg.norm(difference))
    assert np.mean(ratios) == pytest.approx(1, abs=0.02)
    assert np.std(ratios) == pytest.approx(STANDARD_ERROR, rel=0.25)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[True, False], [True, True]]),
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.arange(6, dtype=np.int64),
        np.linspace(-1, 1, 6, dtype=np.float16),
        np.linspace(-1, 1, 6).astype(">f4"),
        np.array(3.5, np.float32),
    ],
    ids=lambda array: array.dtype.str,
)
def test_every_real_dtype_is_taken_by_value(array: np.ndarray) -> None:
    """An image in uint8 and the same numbers in float64 have one sketch."""
    np.testing.assert_array_equal(sketch(array).buckets, sketch(array.astype(np.float64)).buckets)


def test_order_is_that_of_the_axes_not_of_memory() -> None:
    """A transposed copy of the same tensor is the same tensor."""
    array = np.arange(24.0).reshape(2, 3, 4)
    laid_out = np.asfortranarray(array)
    np.testing.assert_array_equal(sketch(laid_out).buckets, sketch(array).buckets)
    assert not np.array_equal(sketch(array.transpose(2, 0, 1)).buckets, sketch(array).buckets)


def test_complex_numbers_are_two_elements_each() -> None:
    """Real and imaginary part, in this order."""
    array = np.array([1 + 2j, -3 + 0.5j], np.complex64)
    expected = sketch(np.array([1, 2, -3, 0.5]))
    np.testing.assert_array_equal(sketch(array).buckets, expected.buckets)
    assert sketch(array).norm == expected.norm


def test_non_finite_elements_count_apart_and_spoil_nothing() -> None:
    """One NaN must not make a sketch useless, and must be seen."""
    made = sketch(np.array([1.0, np.nan, np.inf, -np.inf, 2.0], np.float32))
    assert made.n_non_finite == 3
    np.testing.assert_array_equal(made.buckets, sketch(np.array([1.0, 0, 0, 0, 2.0])).buckets)
    assert made.norm == math.sqrt(5)


def test_array_is_left_as_it_is() -> None:
    """What is fed to the model afterwards must not have lost its NaNs."""
    array = np.array([1.0, np.nan])
    sketch(array)
    assert np.isnan(array[1])


def test_nothing_fed_is_all_zero() -> None:
    """An empty tensor is no fault."""
    made = sketch(np.zeros((0, 3)))
    assert (made.norm, made.n_elements, np.count_nonzero(made.buckets)) == (0.0, 0, 0)


def test_hash_overflows_in_silence() -> None:
    """Integer arithmetic modulo 2**64 is meant: no warning under ``-W error``."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sketch(np.ones(10), n_buckets=1 << 10)


@pytest.mark.parametrize("n_buckets", [0, -4, 3, 100])
def test_number_of_buckets_is_a_power_of_two(n_buckets: int) -> None:
    """The bucket is taken from the hash's lowest bits."""
    with pytest.raises(ValueError, match="power of two"):
        CountSketch(n_buckets)
    CountSketch(1)
