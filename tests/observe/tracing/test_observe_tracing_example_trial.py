"""Models exported with two examples: what depends on the example, and what does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import RuntimeSpec
from pytest_modelreg.domain.example_trial import ExampleTrial
from pytest_modelreg.domain.trace import TraceRequest
from pytest_modelreg.observe import observe_case, observe_example_trial, observe_trace
from pytest_modelreg.observe.shared_work import SharedWork
from pytest_modelreg.runtimes.artefacts import Artefacts
from tests.observe.conftest import CaseFolder

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

NET = """
import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x):
        {line}
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.gate = Gate()
        self.second = nn.Linear(5, 4)

    def forward(self, x):
        return self.second(self.gate(self.first(x)))


def build():
    torch.manual_seed(1)
    return Net()
"""


def try_example(
    folder: CaseFolder, line: str, *, exporter: str = "torchscript", tries_size: bool = False
) -> ExampleTrial:
    """Observe a case of two batches, then try its export with a sample of the second one."""
    folder.write("model.py", NET.format(line=line))
    rng = np.random.default_rng(0)
    folder.add_arrays(*(rng.normal(size=6).astype(np.float32) * (1 + i) for i in range(4)))
    spec = folder.spec(runtime=RuntimeSpec(kind="onnx", options={"exporter": exporter}))
    shared = SharedWork(folder.root / "shared")
    observe_case(spec, folder.root / "case", shared=shared)
    eager = observe_trace(spec, folder.root / "eager", TraceRequest(chosen=("d", "a"), max_bytes=10_000))
    request = TraceRequest(exact=eager.exact, exact_folder=str(folder.root / "eager"))
    trial = observe_example_trial(
        spec,
        folder.root / "trial",
        request,
        ("d", "a"),
        artefacts=shared.artefacts,
        tries_size=tries_size,
    )
    assert trial is not None
    return trial


@pytest.mark.parametrize(
    ("line", "warned"),
    [
        ("x = x / float(x.abs().max())", "Python float"),
        ("x = x * int(100 * x.abs().max())", "Python integer"),
        ("x = x * x.abs().max().item()", "Python number"),
        ("x = x * 2 if x.abs().max() > 2 else x - 3", "Python boolean"),
    ],
)
def test_a_value_follows_the_example(case_folder: CaseFolder, line: str, warned: str):
    """Planted: baked by float(), int(), item() and a branch. The second graph agrees on its example alone."""
    trial = try_example(case_folder, line)
    assert trial.own["d"] > 1e-2
    assert trial.again["d"] < 1e-5
    assert trial.again["a"] > 1e-2
    assert {place.module for place in trial.places} == {"gate"}
    assert any(text.startswith("model.py:8: ") and warned in text for text in trial.warnings)


def test_a_factor_of_every_export_does_not(case_folder: CaseFolder):
    """Benign here: wrong, but with every example, and no constant of the graphs differs."""
    trial = try_example(case_folder, "x = x * 1.5 if torch.onnx.is_in_onnx_export() else x")
    assert trial.own["d"] == pytest.approx(trial.again["d"], rel=1e-3)
    assert trial.own["d"] > 1e-2
    assert trial.places == ()


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_a_faithful_export_agrees_with_every_example(case_folder: CaseFolder, exporter: str):
    """Benign: nothing of the example is in the graph."""
    trial = try_example(case_folder, "x = torch.relu(x)", exporter=exporter)
    assert max(*trial.own.values(), *trial.again.values()) < 1e-5
    assert (trial.places, trial.warnings) == ((), ())


def test_a_batch_size_follows_the_size_of_the_example_alone(case_folder: CaseFolder):
    """Planted: a divisor. At one size both graphs agree; with another one the constant is another."""
    trial = try_example(case_folder, "x = x - x.sum(0) / int(x.shape[0])", tries_size=True)
    assert max(*trial.own.values(), *trial.again.values()) < 1e-5
    assert trial.places == ()
    (place,) = trial.size_places
    assert (place.module, place.first, place.second) == ("gate", "2", "3")


def test_a_runtime_without_graphs_cannot_be_tried(case_folder: CaseFolder, tmp_path: Any):
    """In eager mode nothing is exported."""
    case_folder.write("model.py", NET.format(line="pass"))
    case_folder.add_arrays(np.ones(6, np.float32))
    spec = case_folder.spec()
    eager = observe_trace(spec, tmp_path / "eager", TraceRequest(chosen=("a",), max_bytes=10_000))
    request = TraceRequest(exact=eager.exact, exact_folder=str(tmp_path / "eager"))
    artefacts = Artefacts(tmp_path / "kept")
    assert observe_example_trial(spec, tmp_path / "t", request, ("a",), artefacts=artefacts) is None
