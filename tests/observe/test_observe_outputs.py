"""Flattening: every structure a model returns, and every reason to refuse one."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe import Leaf, flatten_outputs
from pytest_modelreg.observe.outputs import choose_bare_name

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def flatten(outputs: Any, batch_size: int = 3, bare_name: str = "output", **specs: str) -> dict[str, Leaf]:
    """Flatten one batch; keywords declare outputs."""
    declared = {path: OutputSpec(per=per, per_is_declared=True) for path, per in specs.items()}
    return flatten_outputs(outputs, batch_size=batch_size, specs=declared, bare_name=bare_name)


def refuse(outputs: Any, **kwargs: Any) -> str:
    """Return the message with which outputs are refused."""
    with pytest.raises(OutputError) as caught:
        flatten(outputs, **kwargs)
    return str(caught.value)


def test_bare_array_takes_the_bare_name():
    """A result without a key has the name it is given."""
    leaves = flatten(X, bare_name="logits")
    assert list(leaves) == ["logits"]
    assert (leaves["logits"].per, leaves["logits"].dtype) == ("sample", "float32")
    np.testing.assert_array_equal(leaves["logits"].rows, X)


def test_bare_name_is_the_only_declared_output():
    """With none or several declared, it is "output"."""
    one, two = {"a": OutputSpec()}, {"a": OutputSpec(), "b": OutputSpec()}
    assert [choose_bare_name(specs) for specs in ({}, one, two)] == ["output", "a", "output"]


def test_mappings_tuples_and_lists_nest():
    """Keys and positions are joined by dots, in the order returned."""
    leaves = flatten({"head": {"a": X, 1: X}, "pyramid": (X, [X, X])})
    assert list(leaves) == ["head.a", "head.1", "pyramid.0", "pyramid.1.0", "pyramid.1.1"]


def test_named_tuples_and_dataclasses_use_field_names():
    """A field's name says more than its position."""

    @dataclass
    class Result:
        scores: Any
        extra: Any = None

    pair = namedtuple("pair", "boxes labels")
    assert list(flatten(pair(X, X))) == ["boxes", "labels"]
    assert list(flatten(Result(scores=X))) == ["scores"]


def test_model_outputs_of_libraries_are_mappings():
    """An OrderedDict that is a dataclass too, and an object with keys() and to_tuple()."""

    @dataclass
    class ModelOutput(OrderedDict):
        logits: Any = field(default=None)

        def __post_init__(self):
            self["logits"] = self.logits

    class Keyed:
        def keys(self):
            return ["y"]

        def __getitem__(self, key):
            return X

        def to_tuple(self):
            return (X,)

    assert list(flatten(ModelOutput(logits=X))) == ["logits"]
    assert list(flatten(Keyed())) == ["y"]


def test_none_is_skipped():
    """An output that was not asked for is not an output."""
    assert list(flatten({"logits": X, "loss": None})) == ["logits"]


def test_torch_return_types_are_tuples():
    """torch.max returns a structure of its own kind."""
    torch = pytest.importorskip("torch")
    assert list(flatten(torch.ones(3, 2).max(dim=1))) == ["0", "1"]


@given(st.permutations(["a", "b", "c", "d"]))
def test_key_order_does_not_matter(order):
    """The same outputs in another order of keys are the same outputs."""
    values = {key: X + index for index, key in enumerate("abcd")}
    leaves = flatten({key: values[key] for key in order})
    assert {key: leaf.rows.tolist() for key, leaf in leaves.items()} == {
        key: value.tolist() for key, value in values.items()
    }


@given(st.integers(1, 5), st.integers(0, 4))
def test_list_as_long_as_the_batch_equals_the_stacked_result(batch_size, width):
    """One result a sample and one tensor for all are the same rows."""
    stacked = np.arange(batch_size * width, dtype=np.float64).reshape(batch_size, width)
    one = flatten({"y": stacked}, batch_size)["y"]
    other = flatten([{"y": row} for row in stacked], batch_size)["y"]
    assert (one.per, one.dtype) == (other.per, other.dtype)
    np.testing.assert_array_equal(one.rows, other.rows)


def test_list_per_sample_with_unequal_shapes_is_ragged():
    """Detections: every sample has its own number of rows."""
    leaves = flatten([{"boxes": np.ones((n, 4))} for n in (0, 2, 1)])
    rows = leaves["boxes"].rows
    assert isinstance(rows, tuple)
    assert [row.shape for row in rows] == [(0, 4), (2, 4), (1, 4)]


def test_list_of_numbers_per_sample_is_a_row():
    """Token ids are one output, not one output a position."""
    leaves = flatten([[1, 2, 3], [4], []])
    assert [row.tolist() for row in leaves["output"].rows] == [[1, 2, 3], [4], []]
    assert leaves["output"].dtype == "int64"
    boxes = flatten([[[1, 2]], [[3, 4], [5, 6]], []])["output"]
    assert [row.shape for row in boxes.rows] == [(1, 2), (2, 2), (0, 2)]
    assert flatten([0.5, 1.5, 2.5])["output"].rows.tolist() == [0.5, 1.5, 2.5]


def test_empty_row_does_not_decide_the_dtype():
    """torch.tensor([]) is float32 where there is no label."""
    leaves = flatten([{"labels": np.zeros(0, np.float32)}, {"labels": np.ones(2, np.int64)}], 2)
    assert leaves["labels"].dtype == "int64"
    assert {row.dtype for row in leaves["labels"].rows} == {np.dtype("int64")}


def test_samples_of_several_dtypes_are_refused():
    """Rows of one output have one dtype."""
    message = refuse([np.ones(2, np.float32), np.ones(2, np.float64)], batch_size=2)
    assert "one dtype" in message
    assert "float32, float64" in message


def test_samples_of_different_structure_are_named():
    """The odd sample is said, not only that there is one."""
    with pytest.raises(OutputError, match=r"a, b for 'cat' and a for 'dog'"):
        flatten_outputs(
            [{"a": X, "b": X}, {"a": X}],
            batch_size=2,
            specs={},
            bare_name="output",
            sample_ids=["cat", "dog"],
        )


def test_list_of_another_length_is_a_structure():
    """A pyramid of two maps in a batch of three is two outputs."""
    assert list(flatten([X, X])) == ["0", "1"]


@pytest.mark.parametrize("value", [np.ones((4, 2)), np.float32(1.0), 3, np.ones(())])
def test_undeclared_output_without_batch_axis_is_refused(value):
    """The message says what was got and both ways to declare it."""
    message = refuse({"loss": value})
    assert "output 'loss'" in message
    assert f"shape {list(np.shape(value))}" in message
    assert "3 samples" in message
    assert "outputs: {loss: {per: batch}}" in message
    assert "{per: ignore}" in message


def test_declared_per_sample_is_checked_too():
    """Declaring per: sample does not make a wrong axis right."""
    assert "3 samples" in refuse({"y": np.ones((4, 2))}, y="sample")
    assert list(flatten({"y": X}, y="sample")) == ["y"]


def test_squeezed_batch_of_one_gets_a_hint():
    """A model that squeezes loses the axis only at batch 1."""
    assert "squeeze" in refuse({"y": np.ones(10)}, batch_size=1)


def test_per_batch_is_one_row():
    """Of any shape, scalars included."""
    leaves = flatten({"loss": 0.5, "prototypes": np.ones((7, 2))}, loss="batch", prototypes="batch")
    assert leaves["loss"].rows.shape == (1,)
    assert leaves["prototypes"].rows.shape == (1, 7, 2)
    assert leaves["loss"].per == "batch"


def test_per_batch_contradicted_by_a_list_per_sample_is_refused():
    """One result a sample is no result a batch."""
    assert "per: batch" in refuse([{"y": X}] * 3, y="batch")


def test_per_ignore_drops_a_leaf_or_a_whole_branch():
    """A cache of an unknown type is ignored before it is looked at."""
    leaves = flatten({"y": X, "cache": object(), "state": {"h": 1}}, cache="ignore", state="ignore")
    assert list(leaves) == ["y"]
    assert list(flatten([{"y": X, "note": "text"}] * 3, note="ignore")) == ["y"]


def test_ignoring_a_bare_name_does_not_swallow_a_structure():
    """The only declared name is a leaf's, not that of everything around it."""
    assert list(flatten({"y": X, "z": 1}, z="ignore", bare_name="z")) == ["y"]


@pytest.mark.parametrize("value", ["cat", b"cat", object(), {1, 2}, iter([]), OutputSpec])
def test_unknown_types_are_named_with_a_way_out(value):
    """Strings and objects cannot be compared as numbers."""
    message = refuse({"y": X, "odd": value})
    assert "output 'odd'" in message
    assert type(value).__name__ in message
    assert "in forward" in message


def test_two_outputs_on_one_path_are_refused():
    """A dotted key and a nested one, or a key and its text, would overwrite each other."""
    assert "'a.b': two outputs" in refuse({"a.b": X, "a": {"b": X}})
    assert "'1': two outputs" in refuse({1: X, "1": X})


def test_keys_that_are_no_text_are_joined_as_text():
    """Dots in keys and keys of other types are taken as they are."""
    assert list(flatten({("a", 1): X, "b.c": X})) == ["('a', 1)", "b.c"]


def test_declared_path_that_is_not_returned_is_an_error_with_the_nearest():
    """A misspelt output would leave its checks without anything to compare."""
    message = refuse({"logits": X}, logit="sample")
    assert "output 'logit': declared but not returned (did you mean logits?)" in message
    assert "returned logits" in message


@pytest.mark.parametrize("value", [None, {}, [], (), {"a": None}])
def test_nothing_to_record_is_an_error(value):
    """A model that returns nothing would pass with nothing compared."""
    assert "at least one output" in refuse(value)


def test_all_faults_are_told_at_once():
    """Two bad outputs are one message."""
    message = refuse({"a": 1, "b": "text", "c": X})
    assert "output 'a'" in message
    assert "output 'b'" in message
    assert "output 'c'" not in message


def test_tensor_dtypes_reach_the_leaf():
    """bfloat16 is named, its rows are bits."""
    torch = pytest.importorskip("torch")
    leaf = flatten([torch.ones(2, dtype=torch.bfloat16)] * 3)["output"]
    assert (leaf.dtype, leaf.rows.dtype, leaf.rows.shape) == ("bfloat16", np.uint16, (3, 2))


def flatten_faulty(outputs: object, ids: list[str]) -> str:
    """Return the message about outputs that cannot be recorded."""
    with pytest.raises(OutputError) as caught:
        flatten_outputs(outputs, batch_size=len(ids), specs={}, bare_name="output", sample_ids=ids)
    return str(caught.value)


def test_one_cause_in_all_samples_is_one_line():
    """Text for every sample is one fault, with the first samples and their number."""
    message = flatten_faulty(["cat", "dog", "eel", "fox", "gnu"], list("abcde"))
    assert message.count("expected a tensor") == 1
    assert message.startswith("output 'output' of 'a', 'b', 'c' and 2 more: ")
    assert "got str 'cat'" in message


def test_one_cause_in_some_samples_names_them_only():
    """Just inside: samples that are fine are not named, nor told to differ in structure."""
    message = flatten_faulty([{"y": np.ones(1)}, {"y": "cat"}, {"y": b"dog"}], list("abc"))
    assert [line.split(": ")[0] for line in message.splitlines()] == [
        "output 'y' of 'b'",
        "output 'y' of 'c'",
    ]


def test_many_faults_are_capped_with_their_number():
    """A list of a thousand words of another length than the batch must not print a thousand lines."""
    lines = flatten_faulty(["word"] * 30, ["a"]).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 10 more faults"


@pytest.mark.parametrize(
    "returned",
    [
        [np.zeros((2, 4), np.float32), np.zeros((2, 1), np.int64)],
        [{"scores": np.zeros((2, 4))}, {"boxes": np.zeros((2, 4))}],
    ],
)
def test_a_list_that_may_hold_outputs_is_explained(returned):
    """Two outputs of two samples each, in a list, are taken for results of the samples: say so."""
    with pytest.raises(OutputError, match="return a tuple or a dict for several outputs"):
        flatten_outputs(returned, batch_size=2, specs={}, bare_name="output")
