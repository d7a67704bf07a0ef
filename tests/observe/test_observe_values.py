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


def test_numbers_sort_as_text(tmp_path):
    """Ids are padded, so that reports list sample 2 before sample 10."""
    ids = [sample.id for sample in record(tmp_path, np.zeros(11)).samples]
    assert ids == sorted(ids)
    assert ids[-1] == "10"


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


def test_arrays_of_several_lengths_are_values_as_a_whole(tmp_path):
    """A pyramid of feature maps has no sample axis to guess."""
    found = record(tmp_path, {"a": A, "b": A[:2], "c": [1.0, 2.0, 3.0]})
    assert shapes(found)["a"] == ("batch", (1, 4, 3))
    assert shapes(found)["b"] == ("batch", (1, 2, 3))
    assert len(found.samples) == 1


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
    """Three ids for four rows: the message names the output and both lengths."""
    with pytest.raises(OutputError, match=r"3 samples along axis 0, got shape \[4, 3\]"):
        record(tmp_path, A, sample_ids=["a", "b", "c"])


def test_declared_per_wins(tmp_path):
    """What the test says of an output is not guessed at."""
    spec = OutputSpec(per="batch", per_is_declared=True)
    assert shapes(record(tmp_path, A, outputs={"output": spec})) == {"output": ("batch", (1, 4, 3))}


def test_text_is_refused(tmp_path):
    """What is no number is named, with its type."""
    with pytest.raises(OutputError, match="str"):
        record(tmp_path, {"a": A, "b": "text"})
