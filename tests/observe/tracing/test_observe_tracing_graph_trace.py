"""What the modules inside of an exported graph return, in the form of the eager model's trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.diagnose.divergence import find_divergence
from pytest_modelreg.diagnose.port import TraceAt
from pytest_modelreg.domain.case import RuntimeSpec
from pytest_modelreg.domain.trace import TraceRequest
from pytest_modelreg.observe import observe_graph_trace, observe_trace
from tests.observe.conftest import CaseFolder

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.second = nn.Linear(5, 4)

    def forward(self, x):
        x = torch.relu(self.first(x))
        # FORWARD
        return self.second(x)


def build():
    torch.manual_seed(1)
    return Net()
"""


@pytest.fixture
def folder(case_folder: CaseFolder) -> CaseFolder:
    """A case on four arrays with two layers."""
    case_folder.write("model.py", NET)
    rng = np.random.default_rng(0)
    case_folder.add_arrays(*(rng.normal(size=6).astype(np.float32) for _ in range(4)))
    return case_folder


def both(folder: CaseFolder, **options: Any) -> tuple[TraceAt, TraceAt]:
    """Return the eager trace and the graph's, on the same inputs."""
    spec = folder.spec(runtime=RuntimeSpec(kind="onnx", options=options))
    eager = observe_trace(spec, folder.root / "eager", TraceRequest(chosen=("a", "b"), max_bytes=10_000))
    request = TraceRequest(exact=eager.exact, exact_folder=str(folder.root / "eager"))
    graph = observe_graph_trace(spec, folder.root / "graph", request)
    return TraceAt(trace=eager, folder=folder.root / "eager"), TraceAt(
        trace=graph, folder=folder.root / "graph"
    )


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_a_faithful_graph_does_not_leave_the_model(folder: CaseFolder, exporter: str):
    """Every module is found in the graph, and returns what it did."""
    eager, graph = both(folder, exporter=exporter)
    assert {module.name for module in graph.trace.modules} >= {"first", "second"}
    assert find_divergence(eager, graph, may_be_fused=True) is None


def test_the_first_module_that_differs_comes_with_its_node(folder: CaseFolder):
    """A factor that only the export has: the module after it, and the node of the graph."""
    line = "    if torch.onnx.is_in_onnx_export():\n            x = x * 1.5"
    folder.write("model.py", NET.replace("    # FORWARD", line))
    eager, graph = both(folder, exporter="torchscript")
    found = find_divergence(eager, graph, may_be_fused=True)
    assert found is not None
    assert found.module == "second"
    nodes = {module.name: module.settings for module in graph.trace.modules}
    assert nodes["second"].startswith("Gemm ")


def test_a_runtime_that_shows_nothing_says_so(folder: CaseFolder):
    """In eager mode there is no graph to look into."""
    spec = folder.spec()
    eager = observe_trace(spec, folder.root / "eager", TraceRequest(chosen=("a",), max_bytes=10_000))
    request = TraceRequest(exact=eager.exact, exact_folder=str(folder.root / "eager"))
    found = observe_graph_trace(spec, folder.root / "graph", request)
    assert found.activations is None
    assert "shows nothing of its inside" in found.model_fault
