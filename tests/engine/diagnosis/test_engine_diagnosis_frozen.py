"""Exports that froze something of their example, named end to end; and exports that only differ.

All are staged in one project and judged by one process: torch's exporters cannot be imported anew in every
run inside of this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.store import pin

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

NETWORK = """
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, x):
        if self.kind == "float":
            return x / float(x.abs().max())
        if self.kind == "int":
            return x * int(100 * x.abs().max())
        if self.kind == "item":
            return x * x.abs().max().item()
        if self.kind == "branch":
            return x * 2 if x.abs().max() > 1.5 else x - 3
        if self.kind == "batch":
            return x - x.sum(0) / int(x.shape[0])
        if self.kind == "length":
            return x / float(x.shape[1])
        if self.kind == "translation":
            return x * 1.5 if torch.onnx.is_in_onnx_export() else x
        return torch.relu(x)


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.gate = Gate(kind)
        self.second = nn.Linear(5, 4)

    def forward(self, x):
        x = self.first(x)
        x = self.gate(x).sum(1) if self.gate.kind == "length" else self.gate(x.mean(1))
        return self.second(x)


def build(kind):
    torch.manual_seed(1)
    return Net(kind)
"""

SUITE = """
modelreg: 1
suite: {kind}
samples: {{folder: {samples}, loader: array}}
reference:
  model: network:build
  model_args: {{kind: {kind}}}
  batch_size: {batch_size}
outputs:
  output: {{kind: tensor}}
variants:
  exported:
    runtime: {{kind: onnx, exporter: torchscript, dynamic: {{x: {{0: batch, 1: length}}}}}}
    {more}
"""
VALUES = ("float", "int", "item", "branch")
KINDS = (*VALUES, "batch", "length", "translation", "half")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Record every reference in eager mode, judge every exported variant; the cases by their suite."""
    folder = tmp_path_factory.mktemp("frozen")
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, 6)) * (1 + number) for number in range(5)]
    _write_samples(folder / "equal", arrays)
    _write_samples(folder / "ragged", [*arrays[:4], rng.normal(size=(7, 6))])
    (folder / "network.py").write_text(NETWORK, encoding="utf-8")
    for kind in KINDS:
        is_ragged = kind == "length"
        text = SUITE.format(
            kind=kind,
            samples="ragged" if is_ragged else "equal",
            batch_size=1 if is_ragged else 2,
            more="dtype: float16\n    checks: {rel_l2: 1e-6}" if kind == "half" else "",
        )
        (folder / f"{kind}.modelreg.yaml").write_text(text, encoding="utf-8")
    outside_ci = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    command = (
        "-m pytest -p no:hypothesispytest --modelreg --modelreg-regen=missing --modelreg-json=report.json"
    )
    told = subprocess.run(
        [sys.executable, *command.split()], cwd=folder, env=outside_ci, capture_output=True, check=False
    )
    assert (folder / "report.json").exists(), told.stdout.decode() + told.stderr.decode()
    found = json.loads((folder / "report.json").read_text(encoding="utf-8"))["cases"]
    return {case["suite"]: case for case in found if case["variant"] == "exported"}


def _write_samples(folder: Path, arrays: list[Any]) -> None:
    folder.mkdir()
    for number, array in enumerate(arrays):
        np.save(folder / f"s{number}.npy", array.astype(np.float32))
    pin(folder, update=False)


def find_first(cases: dict[str, dict[str, Any]], kind: str) -> dict[str, Any]:
    """Return the first cause of a drift."""
    assert cases[kind]["verdict"] == "drift"
    first: dict[str, Any] = cases[kind]["causes"][0]
    return first


@pytest.mark.parametrize("kind", VALUES)
def test_a_frozen_value_is_named(cases: dict[str, dict[str, Any]], kind: str):
    """Cause, replay, module and node, and the line that torch's tracer warned of."""
    first = find_first(cases, kind)
    assert first["cause"] == "runtime.export"
    assert "value is frozen from the example input" in first["summary"]
    frozen = first["evidence"]["frozen"]["value"]
    example = frozen["example"]
    assert frozen["rel_l2_with_this_example"][example] < 1e-5 < frozen["rel_l2_as_exported"][example]
    assert frozen["places"][0]["module"] == "gate"
    line = NETWORK.splitlines().index(f'        if self.kind == "{kind}":') + 2
    assert f"torch's tracer warned at network.py:{line}: Converting a tensor to a Python" in first["summary"]


def test_a_frozen_batch_size_is_named_as_a_size(cases: dict[str, dict[str, Any]]):
    """The last batch is smaller: the axis, and the constant that was the batch's size."""
    first = find_first(cases, "batch")
    assert first["cause"] == "runtime.export"
    assert first["summary"].startswith("a size is frozen from the example input of the export: input x, ")
    assert "axis 0 (batch)" in first["summary"]
    frozen = first["evidence"]["frozen"]
    assert "value" not in frozen
    assert (frozen["size_places"][0]["module"], frozen["size_places"][0]["first"]) == ("gate", "2")


def test_a_frozen_length_is_named_as_a_size(cases: dict[str, dict[str, Any]]):
    """A mean over as many rows as the first sample has."""
    first = find_first(cases, "length")
    assert first["cause"] == "runtime.export"
    assert "a size is frozen" in first["summary"]
    assert "axis 1 (length)" in first["summary"]
    (place,) = first["evidence"]["frozen"]["size_places"]
    assert (place["module"], place["first"], place["second"]) == ("gate", "7", "3")


def test_an_export_that_is_wrong_for_every_input_froze_nothing(cases: dict[str, dict[str, Any]]):
    """Benign neighbour: a factor that only exports have."""
    first = find_first(cases, "translation")
    assert first["cause"] == "runtime.export"
    assert "frozen" not in first["evidence"]
    assert "frozen" not in first["summary"]


def test_lower_precision_froze_nothing(cases: dict[str, dict[str, Any]]):
    """Benign neighbour: half the bits, exported or not."""
    first = find_first(cases, "half")
    assert first["cause"] == "runtime.precision"
    assert "frozen" not in first["summary"]
