"""Collation: what the default makes of a batch, and what it refuses."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.observe.collate import collate_batch, find_unequal_shapes

torch = pytest.importorskip("torch")


def collate(*samples, collate=None):
    """Collate samples s0, s1, ..."""
    ids = [f"s{index}" for index in range(len(samples))]
    return collate_batch(samples, sample_ids=ids, collate=collate, reference="m:collate")


def test_equal_shapes_are_stacked_leaf_by_leaf():
    """Structures are kept, a batch axis is put in front."""
    pair = namedtuple("pair", "x y")
    assert collate(torch.ones(2), torch.ones(2)).shape == (2, 2)
    assert collate(np.ones(2)).shape == (1, 2)
    batch = collate(*[pair({"a": np.ones((3, 1))}, [np.asarray(1)])] * 2)
    assert batch._fields == ("x", "y")
    assert batch.x["a"].shape == (2, 3, 1)
    assert batch.y[0].tolist() == [1, 1]


def test_unequal_shapes_become_a_list_of_that_leaf_alone():
    """The other leaves are still stacked."""
    batch = collate(*[{"image": torch.ones(n, 2), "size": torch.tensor(n)} for n in (1, 3)])
    assert [part.shape for part in batch["image"]] == [(1, 2), (3, 2)]
    assert batch["size"].tolist() == [1, 3]


def test_words_become_lists():
    """Text is handed on as it is."""
    assert collate({"t": "a", "x": np.ones(1)}, {"t": "b", "x": np.ones(1)})["t"] == ["a", "b"]
    assert collate("a", "b") == ["a", "b"]


@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2,), (3,))])
@pytest.mark.parametrize("make", [np.zeros, torch.zeros])
def test_nothing_shares_memory_with_a_sample(make, shapes):
    """A model that works in place must not reach what preprocess holds."""
    samples = [make(shape) for shape in shapes]
    batch = collate(*samples)
    for part in batch:
        part += 1
    assert all(float(sample.sum()) == 0 for sample in samples)


@pytest.mark.parametrize(
    "other",
    [
        {"b": np.ones(2)},
        (np.ones(2),),
        {"a": np.ones(2, np.float32)},
        {"a": torch.ones(2, dtype=torch.float64)},
    ],
    ids=["keys", "kind", "dtype", "framework"],
)
def test_samples_that_differ_in_structure_or_dtype_are_named(other):
    """Stacking would promote a dtype silently: at batch 1 the model would see another."""
    with pytest.raises(PreprocessError, match=r"'s0' and .* for 's1'"):
        collate({"a": np.ones(2)}, other)


def test_own_collate_gets_the_list_and_its_error_names_the_samples():
    """The suite's function decides; its exception leads to it."""
    assert collate(1, 2, collate=sum) == 3

    def broken(samples):
        raise ValueError("ragged")

    with pytest.raises(
        PreprocessError, match=r"samples 's0' to 's1'.*'m:collate'.*ValueError: ragged.*\.py:\d+"
    ):
        collate(1, 2, collate=broken)


def test_unequal_shapes_are_told_with_two_samples():
    """The clause names the first shape and the first that differs."""
    clause = find_unequal_shapes([{"x": np.ones(2)}, {"x": np.ones(2)}, {"x": np.ones(3)}], ["a", "b", "c"])
    assert clause == "'a' has [2] and 'c' [3] at x"
    assert find_unequal_shapes([np.ones(2)] * 2, ["a", "b"]) is None


def test_own_collate_that_returns_none_is_refused():
    """A forgotten return would feed the model nothing."""
    with pytest.raises(PreprocessError, match=r"collate 'm:c' returned None: is a `return` missing\?"):
        collate_batch([1, 2], sample_ids=["a", "b"], collate=lambda samples: None, reference="m:c")
