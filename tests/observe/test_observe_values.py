"""Values that a Python test hands over: where their samples are."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.observe import observe_values
from pytest_modelreg.store import open_output

A = np.arange(12, dtype=np.float32).reshape(4, 3)


def record(tmp_path: Any, values: Any, **options: Any) -> Observation:
    """Record values of a check named ``toy``."""
    return observe_values(
        values, tmp_path / "run", **{"suite": "py", "variant": "toy", "outputs": {}, **options}
    )


def shapes(observation: Observation) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return per and shape by output path."""
    return {path: (output.per, output.shape) for path, output in observation.outputs.items()}


def test_leading_axis_is_samples(tmp_path):
    """An array of four rows is four samples, numbered."""
    found = record(tmp_path, A)
    assert [sample.id for sample in found.samples] == ["0", "1", "2", "3"]
    assert shapes(found) == {"output": ("sample", (4, 3))}
    assert np.array_equal(open_output(tmp_path / "run", found.outputs["output"]).rows(0, 4), A)


def test_numbers_are_not_padded(tmp_path):
    """Sample 3 stays sample 3 when an eleventh one comes."""
    ids = [sample.id for sample in record(tmp_path, np.zeros(11)).samples]
    assert ids == [str(index) for index in range(11)]


def test_given_ids_are_used(tmp_path):
    """Samples keep the names that their test gives them."""
    found = record(tmp_path, A, sample_ids=["cat", "dog", "owl", "elk"])
    assert [sample.id for sample in found.samples] == ["cat", "dog", "owl", "elk"]


def test_inputs_are_unknown(tmp_path):
    """Nobody saw what the values were computed from, so nothing is claimed of it."""
    assert {sample.input_digest for sample in record(tmp_path, A).samples} == {None}


def test_numbers_beside_arrays_are_recorded_once(tmp_path):
    """A loss beside logits is no row of a sample."""
    assert shapes(record(tmp_path, {"logits": A, "loss": 0.5})) == {
        "logits": ("sample", (4, 3)),
        "loss": ("batch", (1,)),
    }


PYRAMID = {"a": A, "b": A[:2], "c": [1.0, 2.0, 3.0], "d": 0.5}


def test_arrays_of_several_lengths_are_refused(tmp_path):
    """One array a sample short must not turn everything into one value, which hides samples."""
    with pytest.raises(OutputError, match=r'lengths a: 4, b: 2, c: 3; .*sample_ids=.*"b": {"per": "batch"}'):
        record(tmp_path, PYRAMID)


def test_what_is_declared_whole_is_left_out_of_the_question(tmp_path):
    """A pyramid of feature maps is recorded whole, and the rest by sample."""
    whole = OutputSpec(per="batch", per_is_declared=True)
    found = record(tmp_path, PYRAMID, outputs={"b": whole, "c": whole})
    assert shapes(found) == {
        "a": ("sample", (4, 3)),
        "b": ("batch", (1, 2, 3)),
        "c": ("batch", (1, 3)),
        "d": ("batch", (1,)),
    }
    assert len(record(tmp_path, PYRAMID, outputs={"**": whole}).samples) == 1


def test_what_is_ignored_is_left_out_of_the_question(tmp_path):
    """A cache of other lengths, and of unknown types, is no output."""
    ignore = OutputSpec(per="ignore", per_is_declared=True)
    values = {"a": A, "cache": {"keys": A[:2], "owner": object()}}
    assert shapes(record(tmp_path, values, outputs={"cache": ignore})) == {"a": ("sample", (4, 3))}


def test_list_of_arrays_holds_outputs(tmp_path):
    """As many layers as samples: a list is no batch unless ids say so."""
    layers = [A, A + 1, A[:, :2], A[:, :1]]
    assert shapes(record(tmp_path, layers)) == {
        "0": ("sample", (4, 3)),
        "1": ("sample", (4, 3)),
        "2": ("sample", (4, 2)),
        "3": ("sample", (4, 1)),
    }
    found = record(tmp_path, {"hidden": layers[:2]}, sample_ids=list("abcd"))
    assert list(found.outputs) == ["hidden.0", "hidden.1"]


@dataclasses.dataclass
class Unset:
    """A result whose field was forgotten."""

    logits: Any = dataclasses.field(init=False)


def test_structure_that_cannot_be_walked_is_named(tmp_path):
    """Loops, fields that were never set and properties that raise are faults of the values."""
    ring: dict[str, Any] = {"x": A}
    ring["again"] = {"ring": ring}
    deep: Any = A
    for _ in range(5000):
        deep = [deep]

    class Raising(dict[str, Any]):
        def items(self) -> Any:
            raise KeyError("gone")

    for values, words in (
        (ring, "output 'again.ring': .*contains itself"),
        (deep, "at most 100 levels"),
        ({"a": Unset()}, "output 'a': .*Unset .*none for logits"),
        ({"a": Raising()}, "output 'a': .*raised KeyError"),
    ):
        for ids in (None, list("abcd")):
            with pytest.raises(OutputError, match=words):
                record(tmp_path, values, sample_ids=ids)


def test_structure_that_occurs_twice_is_no_loop(tmp_path):
    """Tied outputs are the same object at two paths."""
    pair = {"x": A}
    assert list(record(tmp_path, {"a": pair, "b": pair}).outputs) == ["a.x", "b.x"]


@pytest.mark.parametrize("numbers", [[2**60 + 1, 0.5], [[1, 2**53 + 1], [0.5, 1]], [2**63, -1]])
def test_integers_that_numpy_would_round_are_refused(tmp_path, numbers):
    """A token id beside a score must not change."""
    with pytest.raises(OutputError, match=r"output 'a': expected integers of at most 2\*\*53"):
        record(tmp_path, {"a": numbers})


def test_integers_that_a_float_holds_are_taken(tmp_path):
    """Just inside."""
    assert shapes(record(tmp_path, [2**53, 0.5])) == {"output": ("sample", (2,))}


def test_list_of_boxes_holds_samples(tmp_path):
    """Boxes differ in number, so that a list without ids is the only way to hand them over."""
    boxes = [np.zeros((2, 4), np.float32), np.zeros((0, 4), np.float32)]
    found = record(tmp_path, boxes, outputs={"found": OutputSpec(kind="detection")})
    assert [sample.id for sample in found.samples] == ["0", "1"]
    assert shapes(found) == {"found": ("sample", (2, -1, 4))}


def test_boxes_that_are_named_by_their_place_are_an_output(tmp_path):
    """Then the list holds outputs, as every other list without ids does."""
    outputs = {"0": OutputSpec(kind="detection", scores="1")}
    found = record(tmp_path, [np.zeros((3, 2, 4)), np.zeros((3, 2))], outputs=outputs)
    assert shapes(found) == {"0": ("sample", (3, 2, 4)), "1": ("sample", (3, 2))}


def test_single_number_is_a_value(tmp_path):
    """An accuracy can be pinned too."""
    assert shapes(record(tmp_path, 0.93)) == {"output": ("batch", (1,))}


def test_list_of_numbers_is_one_value_a_sample(tmp_path):
    """Scores as python floats are samples."""
    assert shapes(record(tmp_path, [0.1, 0.2, 0.3])) == {"output": ("sample", (3,))}


def test_list_with_ids_holds_one_result_a_sample(tmp_path):
    """Boxes: as many rows a sample as there are."""
    found = record(tmp_path, [A[:2], A[:3]], sample_ids=["a", "b"])
    assert shapes(found) == {"output": ("sample", (2, -1, 3))}


@dataclasses.dataclass
class Answer:
    """What a model may return."""

    logits: np.ndarray
    hidden: Any = None


class ModelOutput(OrderedDict[str, Any]):
    """Like Hugging Face's: a mapping that also becomes a tuple."""

    def to_tuple(self) -> tuple[Any, ...]:
        """Return the values."""
        return tuple(self.values())


Pair = namedtuple("Pair", "logits hidden")


@pytest.mark.parametrize(
    "values", [Answer(A), ModelOutput(logits=A), Pair(A, None), {"logits": A, "hidden": None}]
)
def test_structures_are_walked(tmp_path, values):
    """Dataclasses, model outputs, named tuples and mappings give the same output path."""
    assert shapes(record(tmp_path, values)) == {"logits": ("sample", (4, 3))}


@pytest.mark.parametrize(("ids", "got"), [(["a", "a", "b", "c"], "'a' twice"), ([], "none")])
def test_ids_are_one_a_sample(tmp_path, ids, got):
    """An id that is repeated could not be told apart in a report."""
    with pytest.raises(OutputError, match=got):
        record(tmp_path, A, sample_ids=ids)


def test_ids_that_do_not_fit_the_values_are_refused(tmp_path):
    """Two ids for four rows: the message names the output and both lengths."""
    for values, ids, words in (
        ({"x": A}, "ab", "2 sample_ids for 4 rows of output 'x'; give one id a row"),
        (
            {"x": A, "y": A[:1], "z": A[:2]},
            "ab",
            "2 sample_ids for 4 rows of output 'x', 1 row of output 'y';",
        ),
        ([A, A[:2]], "abc", "3 sample_ids for 4 rows of output '0', 2 rows of output '1', in a list"),
        (0.5, "a", "1 sample_ids for output 'output', a single number"),
    ):
        with pytest.raises(OutputError, match=words):
            record(tmp_path, values, sample_ids=list(ids))


def test_numbers_beside_named_samples_are_recorded_once(tmp_path):
    """As without ids: a loss is no sample's."""
    for beside, shape in ((A, (4, 3)), ([A[:2], A[:1], A, A], (4, -1, 3))):
        values = {"logits": beside, "loss": 0.5, "scale": np.float32(2)}
        found = record(tmp_path, values, sample_ids=list("abcd"))
        assert shapes(found) == {
            "logits": ("sample", shape),
            "loss": ("batch", (1,)),
            "scale": ("batch", (1,)),
        }


@pytest.mark.parametrize("name", ["", " ", "a\n", "\x1b[31m", "a\0b"])
def test_id_that_cannot_be_read_is_refused(tmp_path, name):
    """It would break tables and terminals."""
    with pytest.raises(OutputError, match=r"sample_ids\[2\]: expected an id that can be read"):
        record(tmp_path, A, sample_ids=["a", "b", name, "c"])


@pytest.mark.parametrize("name", ["a b", "名前", "é", "👩\u200d🔬"])
def test_id_of_any_script_is_taken(tmp_path, name):
    """Just inside: joined emoji and scripts need characters that show nothing."""
    assert record(tmp_path, A[:1], sample_ids=[name]).samples[0].id == name


def test_messages_speak_of_the_test(tmp_path):
    """There is no forward to mend and no model that returned anything."""
    for values, outputs, words in (
        ({"a": A, "b": "text"}, {}, "convert it to tensors, or declare"),
        ({"a": A}, {"b": OutputSpec()}, "declared but not given; the test gave a"),
        ({"a.b": A, "a": {"b": A}}, {}, "two outputs have this path; rename a key$"),
    ):
        with pytest.raises(OutputError, match=words):
            record(tmp_path, values, outputs=outputs)


def test_declared_per_wins(tmp_path):
    """What the test says of an output is not guessed at."""
    spec = OutputSpec(per="batch", per_is_declared=True)
    assert shapes(record(tmp_path, A, outputs={"output": spec})) == {"output": ("batch", (1, 4, 3))}


def test_text_is_refused(tmp_path):
    """What is no number is named, with its type."""
    with pytest.raises(OutputError, match="str"):
        record(tmp_path, {"a": A, "b": "text"})
