"""The weights of a model: a module's state dict, the arrays of any other object."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.observe.model_state import read_state


class Step:
    """Holds an array, a count and a word."""

    def __init__(self, value):
        self.coef_ = np.full(2, value)
        self.n_calls = 3
        self.name = "step"
        self.words = np.array(["a", "b"])

    def predict(self, x):
        """Return nothing."""


class Pipeline:
    """Like a pipeline of scikit-learn."""

    def __init__(self):
        self.steps = [("scale", Step(1.0)), ("classify", Step(2.0))]
        self.extra = {"bias": np.zeros(1)}
        self.itself = self


def test_arrays_are_found_by_their_way():
    """Through lists, tuples, mappings and objects that hold themselves; numbers and words are no weights."""
    state = read_state(Pipeline())
    assert sorted(state) == ["extra.bias", "steps.0.1.coef_", "steps.1.1.coef_"]
    assert state["steps.1.1.coef_"].tolist() == [2.0, 2.0]


def test_a_method_is_its_objects():
    """What is called is often bound to what it knows."""
    assert list(read_state(Step(1.0).predict)) == ["coef_"]


@pytest.mark.parametrize("model", [None, len, lambda x: x, 3, "word", Step])
def test_what_holds_nothing_has_no_weights(model):
    """A class is code, and so is a function."""
    assert read_state(model) == {}


def test_an_endless_structure_has_an_end():
    """Just inside of the depth an array is found, beyond it is not."""
    state: object = np.zeros(1)
    for _ in range(7):
        state = [state]
    assert list(read_state(state)) == ["0.0.0.0.0.0.0"]
    assert read_state([state]) == {}


def test_a_module_has_its_state_dict():
    """Names as torch has them."""
    torch = pytest.importorskip("torch")
    assert list(read_state(torch.nn.Linear(2, 1))) == ["weight", "bias"]
