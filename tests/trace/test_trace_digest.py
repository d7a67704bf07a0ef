"""Digests of named arrays: what must and what must not change them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.trace import ArrayHasher, digest_arrays

DTYPES = st.sampled_from(["bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex128"])
ARRAYS = DTYPES.flatmap(
    lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
)


def _digest(array: np.ndarray, dtype: str | None = None, name: str = "x") -> str:
    return digest_arrays([(name, dtype or array.dtype.name, array)])


@given(array=ARRAYS)
def test_layout_does_not_change_digest(array: np.ndarray) -> None:
    """Bit-equal arrays have one digest whatever their strides and byte order."""
    padded = np.zeros([2 * length for length in array.shape], array.dtype)
    window = padded[(..., *(slice(0, 2 * length, 2) for length in array.shape))]
    window[...] = array
    expected = _digest(np.ascontiguousarray(array).reshape(array.shape))
    assert _digest(np.asfortranarray(array).reshape(array.shape, order="A")) == expected
    assert _digest(window) == expected
    assert _digest(array[..., ::-1][..., ::-1] if array.ndim else array) == expected
    assert _digest(array.astype(array.dtype.newbyteorder(">")), array.dtype.name) == expected


def test_transposed_view_larger_than_a_block_equals_its_copy() -> None:
    """Walking a view in blocks gives the bytes of its contiguous copy."""
    array = np.random.default_rng(0).normal(size=(700, 900)).T[1:, ::3]
    assert _digest(array) == _digest(np.ascontiguousarray(array))


def test_blocks_count_as_the_array_that_they_make_up() -> None:
    """Whatever their lengths; and their sum is part of the header."""
    whole = np.arange(200, dtype=np.uint8)
    for cuts in ([], [1, 7, 7, 150]):
        hasher = ArrayHasher()
        blocks = [part.tobytes() for part in np.split(whole, cuts)]
        hasher.add_blocks("x", "uint8", whole.size, iter(blocks))
        assert hasher.hexdigest() == _digest(whole)


@pytest.mark.parametrize(
    "other",
    [
        [("x", "float32", np.zeros((3, 2), np.float32))],
        [("x", "int32", np.zeros((2, 3), np.int32))],
        [("y", "float32", np.zeros((2, 3), np.float32))],
        [("x", "float32", -np.zeros((2, 3), np.float32))],
        [("x", "float32", np.zeros((1, 3), np.float32)), ("x", "float32", np.zeros((1, 3), np.float32))],
        [],
    ],
    ids=["shape", "dtype", "name", "negative zero", "split in two", "nothing"],
)
def test_every_difference_changes_digest(other: list) -> None:
    """Shape, dtype, name, the sign of zero and the number of arrays all count."""
    assert digest_arrays(other) != digest_arrays([("x", "float32", np.zeros((2, 3), np.float32))])


def test_nan_payload_changes_digest() -> None:
    """Equality is of bits, not of values."""
    quiet, other = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32).reshape(2, 1)
    assert _digest(quiet) != _digest(other)


def test_order_of_arrays_counts() -> None:
    """Names do not sort themselves: the caller's order is part of the digest."""
    a, b = ("a", "float32", np.ones(1, np.float32)), ("b", "float32", np.ones(1, np.float32))
    assert digest_arrays([a, b]) != digest_arrays([b, a])


def test_stored_digest_stays_the_same_between_releases() -> None:
    """Goldens keep digests, so the byte stream is part of the format."""
    arrays = [
        ("w", "bfloat16", np.arange(4, dtype=np.uint16).reshape(2, 2)),
        ("b", "float32", np.float32([1.5])),
    ]
    assert digest_arrays(arrays) == "4e47820c7d43246943c7d9491185106e8b5f4f014e5bcc028aac18067e4c699e"


def test_hasher_is_lazy() -> None:
    """A generator is asked for one array at a time, so memory stays at one tensor."""
    alive = []

    def arrays():
        for index in range(3):
            alive.append(index)
            yield str(index), "float32", np.full(4, index, np.float32)

    hasher = ArrayHasher()
    for index, item in enumerate(arrays()):
        hasher.add(*item)
        assert alive == list(range(index + 1))
    assert hasher.hexdigest() == digest_arrays(arrays())


def test_view_is_not_copied_whole() -> None:
    """A transposed array of 32 MB costs a block, not a second array."""
    array = np.ones((2000, 2000)).T
    tracemalloc.start()
    _digest(array)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


def test_another_algorithm_is_another_digest_of_the_same_stream():
    """sha1 tells the same differences apart, in half the time."""
    one, other = [("x", "int8", np.int8([1]))], [("x", "int8", np.int8([2]))]
    assert len(digest_arrays(one, algorithm="sha1")) == 40
    assert digest_arrays(one, algorithm="sha1") == digest_arrays(list(one), algorithm="sha1")
    assert digest_arrays(one, algorithm="sha1") != digest_arrays(other, algorithm="sha1")
