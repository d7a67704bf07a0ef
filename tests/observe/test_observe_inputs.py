"""Model inputs: what is accepted, in which form, and the digest of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.observe.inputs import convert_sample, digest_sample, iterate_leaves

torch = pytest.importorskip("torch")


@given(hnp.arrays(np.float32, hnp.array_shapes(max_dims=3, max_side=4)))
def test_equal_digests_mean_bit_equal_arrays(array):
    """A tensor, an array and a strided view of the same values have one digest."""
    strided = np.repeat(array, 2, axis=-1)[..., ::2]
    digests = {digest_sample(value) for value in (array, strided, torch.from_numpy(array))}
    assert len(digests) == 1
    changed = array.copy()
    changed.reshape(-1).view(np.uint32)[0] ^= 1
    assert digest_sample(changed) not in digests


def test_digest_sees_shape_dtype_place_and_words():
    """Everything that the model is fed moves the digest."""
    x = np.zeros((2, 3), np.float32)
    samples = [
        x,
        x.T,
        x.astype(np.float64),
        {"a": x},
        {"b": x},
        (x, x),
        {"a": x, "b": "t"},
        {"a": x, "b": "u"},
    ]
    samples += [{"a": x, "b": None}, {"a": x, "b": "None"}, {"a": x, "b": b"None"}]
    assert len({digest_sample(sample) for sample in samples}) == len(samples)


def test_digest_does_not_see_the_order_of_keys():
    """A mapping is a mapping."""
    x, y = np.zeros(2), np.ones(2)
    assert digest_sample({"a": x, "b": y}) == digest_sample({"b": y, "a": x})


def test_digest_of_bfloat16():
    """A dtype that numpy lacks is digested by its bits and true name."""
    tensor = torch.ones(3, dtype=torch.bfloat16)
    assert digest_sample(tensor) != digest_sample(tensor.view(torch.int16))


def test_arrays_and_numbers_become_tensors_for_a_module():
    """Without a copy where there is none to be made."""
    array = np.zeros(3, np.float32)
    converted = convert_sample(
        {"x": array, "n": 2, "f": 0.5, "s": np.float64(1), "t": "word"}, to_tensors=True
    )
    assert converted["x"].data_ptr() == array.ctypes.data
    assert converted["n"].dtype == torch.int64
    assert converted["s"].dtype == torch.float64
    assert converted["t"] == "word"


@pytest.mark.parametrize("case", ["negative", "readonly", "byteorder"])
def test_arrays_that_torch_refuses_are_copied_without_a_warning(case):
    """A flipped, read-only or foreign array is a fine sample."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    if case == "negative":
        array = array[:, ::-1]
    elif case == "readonly":
        array.flags.writeable = False
    else:
        array = array.astype(">f4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensor = convert_sample(array, to_tensors=True)
    np.testing.assert_array_equal(tensor.numpy(), array.astype(np.float32))


def test_tensors_and_arrays_stay_what_they_are_for_a_plain_callable():
    """A callable gets what its preprocess returned."""
    tensor, array = torch.ones(2), np.ones(2)
    converted = convert_sample((tensor, array, 3), to_tensors=False)
    assert converted[0] is tensor
    assert converted[1] is array
    assert converted[2].shape == ()


def test_lists_of_numbers_are_arrays_and_other_lists_structures():
    """Token ids are one input; a list of tensors, or of rows of several lengths, is several."""
    assert convert_sample({"ids": [1, 2, 3]}, to_tensors=True)["ids"].tolist() == [1, 2, 3]
    assert convert_sample([[1, 2], [3, 4]], to_tensors=False).shape == (2, 2)
    assert [leaf.shape for leaf in convert_sample([torch.ones(2), torch.ones(3)], to_tensors=True)] == [
        (2,),
        (3,),
    ]
    assert [leaf.tolist() for leaf in convert_sample([[1], [2, 3]], to_tensors=False)] == [[1], [2, 3]]
    assert convert_sample([1, "a"], to_tensors=False)[1] == "a"
    assert len(convert_sample([1, torch.ones(2)], to_tensors=True)) == 2


def test_named_tuples_stay_named():
    """forward may read the fields."""
    from collections import namedtuple

    pair = namedtuple("pair", "x y")
    assert convert_sample(pair(1, 2), to_tensors=False)._fields == ("x", "y")


@pytest.mark.parametrize("to_tensors", [True, False])
def test_an_image_is_refused_with_what_to_do(to_tensors):
    """The most common mistake has its own message."""
    image = pytest.importorskip("PIL.Image").new("RGB", (4, 2))
    with pytest.raises(PreprocessError, match=r"x.0: a Pillow image \(RGB, 4 x 2\).*conversion to a tensor"):
        convert_sample({"x": (image,)}, to_tensors=to_tensors)


@pytest.mark.parametrize("to_tensors", [True, False])
def test_an_unknown_type_is_named_with_its_place(to_tensors):
    """An object has no digest and cannot be stacked."""
    with pytest.raises(PreprocessError, match=r"a.1: expected a tensor.*builtins.object"):
        convert_sample({"a": [1, object()]}, to_tensors=to_tensors)


def test_arrays_of_objects_are_refused():
    """Objects inside an array are still no numbers."""
    array = np.array([{}], dtype=object)
    with pytest.raises(PreprocessError, match="object"):
        convert_sample({"x": array}, to_tensors=True)
    with pytest.raises(PreprocessError, match="x: an array of dtype object"):
        digest_sample({"x": array})


@pytest.mark.parametrize("empty", [{}, (), [], {"a": ()}])
def test_an_empty_structure_is_refused(empty):
    """A sample without a leaf would be fed as nothing."""
    with pytest.raises(PreprocessError, match="empty structure"):
        digest_sample(empty)


@given(st.lists(st.integers(), max_size=3))
def test_leaves_are_found_under_their_paths(numbers):
    """Paths are keys joined by dots."""
    paths = [path for path, _ in iterate_leaves({"b": numbers, "a": 1})]
    assert paths == ["a", *(f"b.{index}" for index in range(len(numbers)))]


def test_integers_that_an_array_would_round_are_refused():
    """2**53 + 1 beside a float would become another token."""
    with pytest.raises(PreprocessError, match=r"x: .*2\*\*53"):
        convert_sample({"x": [1.5, 2**53 + 1]}, to_tensors=False)
