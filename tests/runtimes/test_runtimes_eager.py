"""The eager runtime: how a model is called."""

from __future__ import annotations

from collections import namedtuple

import pytest

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.runtimes import RunRequest, find_runtime
from pytest_modelreg.runtimes.calling import call_model


def recall(*args, **kwargs):
    """Return how it was called."""
    return args, kwargs


def open_eager(model, **request):
    """Open a model in the eager runtime."""
    return find_runtime("eager").open(model, RunRequest(case="toy[reference]", **request))


def test_a_batch_is_passed_by_its_type():
    """A tuple is positional, a mapping by name, anything else the one argument."""
    pair = namedtuple("pair", "x y")
    assert call_model(recall, (1, 2)) == ((1, 2), {})
    assert call_model(recall, pair(1, 2)) == ((1, 2), {})
    assert call_model(recall, {"x": 1}) == ((), {"x": 1})
    assert call_model(recall, [1, 2]) == (([1, 2],), {})
    assert call_model(recall, "tensor") == (("tensor",), {})


def test_own_forward_replaces_the_rule():
    """It gets the model and the batch as collated."""
    runner = open_eager(recall, forward=lambda model, batch: model(batch, again=batch))
    assert runner((1, 2)) == (((1, 2),), {"again": (1, 2)})


def test_forward_runs_without_gradients():
    """Inference mode inside the pass only."""
    torch = pytest.importorskip("torch")
    runner = open_eager(lambda x: (x * 2, torch.is_inference_mode_enabled()))
    outputs, inside = runner((torch.ones(1, requires_grad=True),))
    assert inside
    assert not outputs.requires_grad
    assert not torch.is_inference_mode_enabled()


def test_options_are_refused():
    """An option that does nothing is refused, never ignored."""
    with pytest.raises(RuntimeUnavailable, match=r"toy\[reference\].*expected no options, got opset, speed"):
        open_eager(recall, options={"speed": 1, "opset": 17})


def test_facts_name_the_kind():
    """The fingerprint says which runtime it was."""
    assert open_eager(recall).facts() == {"kind": "eager"}


def test_close_lets_go_of_the_model():
    """The next case needs the memory."""
    import weakref

    class Model:
        def __call__(self, x):
            return x

    model = Model()
    gone = weakref.ref(model)
    runner = open_eager(model)
    del model
    assert runner(1) == 1
    runner.close()
    assert gone() is None
