"""What a suite's forward may do with a model that something else runs."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.errors import ExportError
from pytest_modelreg.runtimes.model_proxy import ModelProxy

torch = pytest.importorskip("torch")


@pytest.fixture
def proxy():
    """A stand-in that doubles."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 2)).eval()
    model.config = {"size": 3}
    return ModelProxy(lambda x: 2 * x, model, where="toy[onnx]: runtime 'onnx'")


def test_a_call_reaches_what_stands_in(proxy):
    """Also through forward and eval."""
    assert proxy(2) == proxy.forward(2) == proxy.eval()(2) == 4


def test_data_of_the_model_can_be_read(proxy):
    """Its device and settings."""
    assert proxy.config == {"size": 3}
    assert proxy.training is False
    assert next(proxy.parameters()).device.type == "cpu"
    with pytest.raises(AttributeError):
        _ = proxy.no_such


@pytest.mark.parametrize("name", ["extra_repr", "get_submodule", "__len__"])
def test_a_method_that_would_run_python_is_refused(proxy, name):
    """Planted fault: it would be green with the wrong thing compared."""
    with pytest.raises((ExportError, AttributeError)) as caught:
        getattr(proxy, name)
    if not name.startswith("__"):
        assert "toy[onnx]" in str(caught.value)
        assert f"model.{name}" in str(caught.value)


def test_without_a_model_there_is_nothing_to_read():
    """A file has no attributes."""
    proxy = ModelProxy(lambda x: x, None, where="c")
    with pytest.raises(ExportError, match=r"model\.config, but there is no model"):
        _ = proxy.config


def test_a_file_has_no_attribute_by_name():
    """A forward that serves a module with a state and a file without one can ask."""
    proxy = ModelProxy(lambda x: x, None, where="c")
    assert not hasattr(proxy, "reset_states")
