"""A drift explained end to end: traced when recorded, replayed when it drifts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x))).mean((2, 3))
        # FORWARD
        return self.head(x)


def build():
    torch.manual_seed(4)
    model = Net()
    # BUILT
    return model
"""

DATA = """
def prepare(sample):
    return (sample - 0.2) / 1.5
"""

SUITE = """
modelreg: 1
suite: toy
samples: {folder: samples, loader: array}
reference:
  model: network:build
  preprocess: data:prepare
  batch_size: 4
outputs:
  logits: {kind: classification}
"""


@pytest.fixture
def network(project: Any) -> Any:
    """A project with a small network and a recorded golden."""
    for file in (project.path / "samples").iterdir():
        file.unlink()
    rng = np.random.default_rng(0)
    for number in range(6):
        np.save(project.path / f"samples/s{number}.npy", rng.normal(size=(3, 12, 12)).astype(np.float32))
    project.write("network.py", NET)
    project.write("data.py", DATA)
    project.write("modelreg.yaml", SUITE)
    project.pin()
    assert project.pytest("--modelreg-regen=missing").ret == 0
    return project


def causes(project: Any, *flags: str) -> list[dict[str, Any]]:
    """Run and return the causes of the only case."""
    project.pytest("--modelreg-json=report.json", *flags)
    (case,) = json.loads((project.path / "report.json").read_text(encoding="utf-8"))["cases"]
    assert case["verdict"] == "drift"
    found: list[dict[str, Any]] = case["causes"]
    return found


def test_the_trace_is_recorded_with_the_golden(network: Any):
    """Inputs, weights and activations lie beside the outputs, each under its digest."""
    golden = network.path / "golden/toy/reference"
    names = sorted(path.name.split(".")[1] for path in golden.glob("trace.*.npy"))
    assert names == ["activations", "exact", "inputs", "weights"]


def test_changed_normalisation_is_named_before_the_model(network: Any):
    """The model is innocent on the golden's inputs, and the constants are in the evidence."""
    network.edit("data.py", "(sample - 0.2) / 1.5", "(sample - 0.6) / 0.5")
    first, *_ = causes(network)
    assert first["cause"] == "preprocess.normalization"
    assert first["evidence"]["replay"]["agrees"] is True


def test_a_changed_layer_is_named(network: Any):
    """The tensor and the module at which it shows."""
    network.edit("network.py", "# BUILT", "model.conv.weight.data *= 1.05")
    first, *_ = causes(network)
    assert first["cause"] == "weights.changed"
    assert list(first["evidence"]["changed"]) == ["conv.weight"]
    assert first["evidence"]["divergence"]["first_module"] == "conv"


def test_changed_code_is_named(network: Any):
    """Same weights and inputs, another computation."""
    network.edit("network.py", "# FORWARD", "x = x * 1.1")
    first, *_ = causes(network)
    assert first["cause"] == "model.code"
    assert first["evidence"]["files"] == ["network.py"]


def test_a_small_change_of_a_few_inputs_is_named_beside_a_large_one_of_the_model(network: Any):
    """A head that lost its weights hides what the inputs do, until the model of today is asked about them."""
    network.edit("network.py", "# BUILT", "nn.init.normal_(model.head.weight, std=9.0)")
    network.edit("data.py", "return (sample - 0.2) / 1.5", "x = (sample - 0.2) / 1.5\n    return x")
    network.edit("data.py", "    return x", "    return x * 2 if sample[0, 0, 0] > 0.5 else x")
    found = {cause["cause"]: cause for cause in causes(network)}
    assert next(iter(found)).startswith("weights.")
    scaled = found["preprocess.value_range"]
    assert scaled["evidence"]["replay"]["moved"] > 0
    assert 0 < scaled["evidence"]["n_affected"] < 6
    assert "moves its answers by" in scaled["summary"]


def test_inputs_of_which_the_model_makes_nothing_else_are_no_cause(network: Any):
    """A change that today's model does not answer otherwise to stays behind what does move it."""
    network.edit("network.py", "# BUILT", "nn.init.normal_(model.head.weight, std=9.0)")
    network.edit("data.py", "/ 1.5", "/ 1.5 * (1 + 2e-6)")
    assert all(cause["cause"].startswith(("weights.", "model.")) for cause in causes(network))


def test_diagnosis_can_be_left_out(network: Any):
    """Off: the verdict is the same, and nothing is replayed."""
    network.edit("network.py", "# FORWARD", "x = x * 1.1")
    assert causes(network, "--modelreg-diagnose=off") == []


def test_the_drift_is_kept_with_its_trace(network: Any):
    """What `modelreg review` accepts later has what the next diagnosis needs."""
    network.edit("network.py", "# FORWARD", "x = x * 1.1")
    causes(network)
    (record,) = network.path.glob(".modelreg/runs/*/*/observation.json")
    assert "trace" in json.loads(record.read_text(encoding="utf-8"))
    assert {path.name.split(".")[1] for path in record.parent.glob("trace.*.npy")} >= {"exact", "weights"}


def test_no_files_of_replays_are_left(network: Any):
    """The run folder holds what a run keeps and nothing else."""
    network.edit("data.py", "(sample - 0.2) / 1.5", "(sample - 0.6) / 0.5")
    causes(network)
    assert not list(network.path.glob(".modelreg/**/replays"))


def test_a_suite_without_trace_is_explained_by_what_is_known(network: Any):
    """trace_mb: 0 keeps nothing; digests still tell weights from inputs."""
    network.edit("modelreg.yaml", "suite: toy", "suite: toy\ntrace_mb: 0")
    network.pytest("--modelreg-regen=all", "--modelreg-reason=smaller")
    network.edit("network.py", "# BUILT", "model.conv.weight.data *= 1.05")
    first, *_ = causes(network)
    assert first["cause"] == "weights.changed"
    assert "keeps no trace" in first["summary"]


def test_a_replay_that_crashes_is_a_note(network: Any):
    """A model that can run only once: the verdict stays, and a line says what happened."""
    network.edit("network.py", "# FORWARD", "x = x * 1.1")
    network.edit("network.py", "def build():", "CALLS = []\n\n\ndef build():\n    CALLS.append(1)")
    network.edit("network.py", "torch.manual_seed(4)", "assert len(CALLS) < 2, 'once'; torch.manual_seed(4)")
    result = network.pytest("--modelreg-json=report.json")
    (case,) = json.loads((network.path / "report.json").read_text(encoding="utf-8"))["cases"]
    assert case["verdict"] == "drift"
    assert any("could not be explained" in note and "once" in note for note in case["notes"])
    assert result.ret == 1


def test_explain_tells_everything(network: Any):
    """The command prints cause, confidence and evidence of the last run, and of a case by its id."""
    network.edit("data.py", "(sample - 0.2) / 1.5", "(sample - 0.6) / 0.5")
    causes(network)
    whole = network.modelreg("explain")
    assert whole.ret == 0
    whole.stdout.fnmatch_lines(["*1. preprocess.normalization (*%)*", "*evidence:*", "*replay:*"])
    one = network.modelreg("explain", "toy[reference]")
    assert one.outlines == whole.outlines
    wrong = network.modelreg("explain", "toy[referense]")
    assert wrong.ret == 2
    wrong.stderr.fnmatch_lines(["*did you mean toy[[]reference]*"])
