"""Models of no framework: numpy in, numpy out, an object or one of its methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.errors import ModelError, RuntimeUnavailable
from pytest_modelreg.runtimes import find_runtime
from pytest_modelreg.runtimes.conformance import RuntimeConformance
from pytest_modelreg.runtimes.graph.structure import list_places, replace_leaves

X = np.arange(6, dtype=np.float32).reshape(3, 2)


class TestCallable(RuntimeConformance):
    """A torch model behind a function of arrays."""

    @pytest.fixture(autouse=True)
    def _framework(self) -> None:
        pytest.importorskip("torch")

    def make_runtime(self):
        """Built in."""
        return find_runtime("callable")

    def adapt_model(self, model: Any) -> Any:
        """Return a function that is handed arrays and returns arrays."""
        import torch

        def map_leaves(node: Any, convert: Any) -> Any:
            return replace_leaves(node, iter([convert(place.value) for place in list_places(node)]))

        def call(*args: Any, **kwargs: Any) -> Any:
            leaves = [place.value for place in list_places((args, kwargs))]
            assert all(isinstance(leaf, np.ndarray) for leaf in leaves)
            args, kwargs = map_leaves((args, kwargs), torch.from_numpy)
            with torch.no_grad():
                return map_leaves(model(*args, **kwargs), torch.Tensor.numpy)

        return call


class Card:
    """Like an estimator of scikit-learn: it is not callable."""

    def predict_proba(self, x):
        """Return axes (sample, class)."""
        return np.stack([1 - x[:, 0], x[:, 0]], axis=1)


def test_a_method_is_called(open_runner):
    """By the option; it is on record."""
    runner = open_runner("callable", Card(), options={"method": "predict_proba"})
    assert np.array_equal(runner(X), Card().predict_proba(X))
    assert runner.facts() == {"kind": "callable", "method": "predict_proba"}


def test_forward_gets_the_object_and_arrays(open_runner):
    """So that it can call any method, one after the other."""
    runner = open_runner(
        "callable", Card(), forward=lambda model, batch: model.predict_proba(batch["x"])[:, 1]
    )
    assert runner({"x": X}).shape == (3,)


def test_tensors_are_handed_over_as_arrays(open_runner):
    """Preprocessing may be torch's all the same; the batch is left alone."""
    torch = pytest.importorskip("torch")
    batch = {"x": torch.from_numpy(X), "names": ["a", "b", "c"]}
    seen: dict[str, Any] = {}
    open_runner("callable", lambda x, names: seen.update(x=x, names=names))(batch)
    assert isinstance(seen["x"], np.ndarray)
    assert seen["names"] == ["a", "b", "c"]
    assert isinstance(batch["x"], torch.Tensor)


def test_what_cannot_be_called_is_told_with_its_methods(open_runner):
    """And a misspelt method with the nearest."""
    with pytest.raises(
        ModelError, match=r"got Card; name its method: \{kind: callable, method: predict_proba\}"
    ):
        open_runner("callable", Card())
    with pytest.raises(
        ModelError, match=r"expected a method of Card, got 'predict' \(did you mean predict_proba\?\)"
    ):
        open_runner("callable", Card(), options={"method": "predict"})


def test_a_torch_module_is_sent_elsewhere(open_runner):
    """It would get arrays and fail inside."""
    torch = pytest.importorskip("torch")
    with pytest.raises(ModelError, match="got the torch module Linear; use the runtime eager"):
        open_runner("callable", torch.nn.Linear(2, 2))


def test_axes_of_a_framework_are_refused(open_runner):
    """Limits would be those of a dtype that nobody computes in."""
    with pytest.raises(
        RuntimeUnavailable, match="got dtype: float16, memory_format: channels_last; remove it"
    ):
        open_runner("callable", Card().predict_proba, dtype="float16", memory_format="channels_last")
