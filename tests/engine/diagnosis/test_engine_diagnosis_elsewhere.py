"""Drifts of cases of another environment: their modules are watched there, and that can go wrong there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

NET = """
import os
import signal
from pathlib import Path

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        x = self.lin(x)
        return x * 1.25 if os.environ.get("FAST_GATE") else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.gate = Gate()
        self.act = nn.ReLU()
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = self.conv(x).abs().mean((2, 3))
        return self.head(self.act(self.gate(x)))


def count_processes():
    with Path(__file__).with_name("built").open("a+") as file:
        file.write("x")
        file.seek(0)
        return len(file.read())


def build():
    if os.environ.get("KILLED") and count_processes() > 1:
        print("no room left", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("LACKING") and count_processes() > 1:
        import package_of_nobody
    torch.manual_seed(4)
    return Net()
"""

SUITE = """
modelreg: 1
suite: toy
samples: {folder: samples, loader: array}
reference:
  model: network:build
  batch_size: 4
outputs:
  logits: {kind: tensor}
variants:
"""


@pytest.fixture
def network(project: Any) -> Any:
    """A project with a network of which one part looks at an environment variable, and a golden."""
    for file in (project.path / "samples").iterdir():
        file.unlink()
    rng = np.random.default_rng(0)
    for number in range(4):
        np.save(project.path / f"samples/s{number}.npy", rng.normal(size=(3, 8, 8)).astype(np.float32))
    project.write("network.py", NET)
    project.write("modelreg.yaml", SUITE.removesuffix("variants:\n"))
    project.pin()
    assert project.pytest("--modelreg-regen=missing").ret == 0
    return project


def observe(project: Any, environment: str) -> dict[str, Any]:
    """Run one variant of this environment and return it as the report has it."""
    project.write("modelreg.yaml", f"{SUITE}  there: {{environment: {{{environment}}}}}\n")
    cases = {case["variant"]: case for case in project.report("-k", "there")["cases"]}
    case: dict[str, Any] = cases["there"]
    return case


@pytest.mark.parametrize("where", ["", ", preprocess: here"])
def test_the_module_that_looks_at_the_environment_is_named(network: Any, where: str):
    """A variable that one part branches on: that part, with the errors before and after it."""
    case = observe(network, f'variables: {{FAST_GATE: "1"}}{where}')
    (cause,) = case["causes"]
    assert cause["cause"] == "environment"
    assert "FAST_GATE=1" in cause["summary"]
    found = cause["evidence"]["divergence"]
    assert found["first_module"] == "gate"
    assert found["rel_l2_before"] < 1e-6
    assert found["rel_l2_after"] == pytest.approx(0.25, rel=0.2)  # a sketch estimates to about 13 %


def test_an_environment_that_changes_nothing_has_no_cause(network: Any):
    """A variable that nobody reads: a match, and nothing is traced."""
    case = observe(network, 'variables: {UNREAD: "1"}')
    assert (case["verdict"], case["causes"]) == ("match", [])


def test_a_revision_s_layer_is_named_before_the_environment(network: Any):
    """Its code is what differs: the layer, its file, where it shows, and that the code of here agrees."""
    network.edit("network.py", "nn.ReLU()", "nn.Softplus()")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "softplus"]):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command]
        subprocess.run(git, cwd=network.path, check=True)
    network.edit("network.py", "nn.Softplus()", "nn.ReLU()")
    first, *others = observe(network, "revision: HEAD")["causes"]
    assert first["cause"] == "model.code"
    assert first["evidence"]["modules"]["act"] == ["ReLU()", "Softplus(beta=1.0, threshold=20.0)"]
    assert first["evidence"]["files"] == ["network.py"]
    assert first["evidence"]["divergence"]["first_module"] == "act"
    assert first["evidence"]["replays"][0]["agrees"] is True
    assert [cause["cause"] for cause in others] == ["environment"]


@pytest.mark.parametrize(
    ("variable", "told"),
    [("KILLED", "killed by SIGKILL*no room left"), ("LACKING", "package_of_nobody")],
)
def test_what_goes_wrong_while_tracing_costs_the_trace_alone(network: Any, variable: str, told: str):
    """Verdict and cause are as without it; the evidence says why no module is named; no file is left."""
    case = observe(network, f'variables: {{FAST_GATE: "1", {variable}: "1"}}')
    assert case["verdict"] == "drift"
    first = case["causes"][0]
    assert first["cause"] == "environment"
    assert "divergence" not in first["evidence"]
    for part in told.split("*"):
        assert part in first["evidence"]["not_watched"]
    assert not [note for note in case["notes"] if "could not be explained" in note]
    assert not list(Path(network.path).glob(".modelreg/**/tracing"))


def test_a_golden_of_another_environment_keeps_its_trace(network: Any):
    """Recorded there: what the next diagnosis of that case compares with."""
    line = '  there: {golden: own, environment: {variables: {FAST_GATE: "1"}}}\n'
    network.write("modelreg.yaml", SUITE + line)
    network.pytest("-k", "there", "--modelreg-regen=missing").assert_outcomes(passed=1)
    folder = network.path / "golden/toy/there"
    assert {path.name.split(".")[1] for path in folder.glob("trace.*")} >= {"activations", "exact", "weights"}


def test_a_golden_is_recorded_where_tracing_fails(network: Any):
    """The answers are there: a note says what the golden lacks."""
    line = '  there: {golden: own, environment: {variables: {FAST_GATE: "1", LACKING: "1"}}}\n'
    network.write("modelreg.yaml", SUITE + line)
    (case,) = network.report("-k", "there", "--modelreg-regen=missing")["cases"]
    assert (network.path / "golden/toy/there/golden.json").exists()
    assert any("keeps no trace" in note and "package_of_nobody" in note for note in case["notes"])


def test_no_record_of_a_trace_is_left(network: Any):
    """The run folder holds what a run here leaves: answers, trace and their record."""
    observe(network, 'variables: {FAST_GATE: "1"}')
    (record,) = network.path.glob(".modelreg/runs/*/*there*/observation.json")
    assert "trace" in json.loads(record.read_text(encoding="utf-8"))
    assert {path.name.partition(".")[0] for path in record.parent.iterdir()} == {
        *("case", "measures", "observation", "outputs", "trace")
    }
    assert not (record.parent / "trace.json").exists()
