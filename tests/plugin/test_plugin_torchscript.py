"""TorchScript archives in a suite: as variants, as the reference, and as what a factory returns."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")

MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def build():
    net = Net()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return net


def load(file="model.pt"):
    return torch.jit.load(file)
"""

SUITE = """
modelreg: 1
suite: net
samples: {folder: samples, loader: json}
reference: {model: net:build, preprocess: toydata:prepare, batch_size: 4}
"""

VARIANTS = """
variants:
  traced: {runtime: torchscript}
  scripted: {runtime: {kind: torchscript, mode: script}}
  shipped: {runtime: {kind: torchscript, path: model.pt}}
  half: {runtime: {kind: torchscript, path: model.pt}, dtype: float16}
"""


@pytest.fixture
def net(project):
    """A project with a torch model, its archive and a golden; `save` writes the archive anew."""
    project.write("net.py", MODEL)
    project.write("modelreg.yaml", SUITE)
    project.pin()
    save(project)
    assert project.pytest("--modelreg-regen=missing").ret == 0
    return project


def save(project, edit=None):
    """Write the archive, traced, with edited weights."""
    scope = {}
    exec(MODEL, scope)
    net = scope["build"]().eval()
    if edit is not None:
        with torch.no_grad():
            edit(net)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch.jit is deprecated
        traced = torch.jit.trace(net, torch.ones(2, 3), check_trace=False)
        torch.jit.save(traced, str(project.path / "model.pt"))


def spoil(net):
    """Change one weight."""
    net.second.weight[1, 2] += 0.05


def test_every_way_to_torchscript_agrees_with_the_model(net):
    """Traced, scripted and shipped, the archive also in another dtype."""
    net.write("modelreg.yaml", SUITE + VARIANTS)
    cases = {case["variant"]: case for case in net.report()["cases"]}
    assert {case["verdict"] for case in cases.values()} == {"match"}
    assert len(cases) == 5


def test_an_archive_with_other_weights_is_told_by_its_tensors(net):
    """Planted fault: the model of the suite is innocent, and which tensor differs is named."""
    save(net, spoil)
    net.write(
        "modelreg.yaml", SUITE + "variants: {shipped: {runtime: {kind: torchscript, path: model.pt}}}\n"
    )
    cases = {case["variant"]: case for case in net.report()["cases"]}
    assert cases["reference"]["verdict"] == "match"
    assert cases["shipped"]["verdict"] == "drift"
    first = cases["shipped"]["causes"][0]
    assert first["cause"] == "weights.changed"
    assert "second.weight" in first["summary"]


@pytest.mark.parametrize(
    "reference",
    [
        "{preprocess: toydata:prepare, runtime: {kind: torchscript, path: model.pt}}",
        "{model: net:load, preprocess: toydata:prepare}",
    ],
)
def test_an_archive_may_be_the_reference(net, reference):
    """Of the runtime's, or of a factory's that loads it: recorded, matched, explained by its weights."""
    net.write("modelreg.yaml", SUITE.replace("suite: net", "suite: archive").partition("reference")[0])
    with (net.path / "modelreg.yaml").open("a") as file:
        file.write(f"reference: {reference}\n")
    assert net.pytest("--modelreg-regen=missing").ret == 0
    assert [case["verdict"] for case in net.report()["cases"]] == ["match"]
    save(net, spoil)
    (case,) = net.report()["cases"]
    assert case["verdict"] == "drift"
    assert case["causes"][0]["cause"] == "weights.changed"
    assert "second.weight" in case["causes"][0]["summary"]


def test_an_archive_stands_beside_no_checkpoint(net):
    """It brings its own weights: a checkpoint would never be opened."""
    net.write(
        "modelreg.yaml",
        SUITE + "variants: {shipped: {runtime: {kind: torchscript, path: model.pt}, model_args: {n: 1}}}\n",
    )
    result = net.pytest()
    assert result.ret == 4
    assert (
        "expected no model_args beside the runtime torchscript, which brings a model of its own"
        in result.stderr.str()
    )
