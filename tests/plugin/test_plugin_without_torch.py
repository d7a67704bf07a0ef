"""A model of no framework where there is none: everything works, and what needs torch says so."""

from __future__ import annotations

import sys

import numpy as np
import pytest

BLOCKED = """
import importlib.abc
import sys


class Refuser(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torchvision", "onnx", "onnxruntime", "PIL", "safetensors"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Refuser())
"""

MODEL = """
import numpy as np


class Card:
    def __init__(self, weights):
        self.weights = np.asarray(weights)

    def predict_proba(self, x):
        good = 1 / (1 + np.exp(-x @ self.weights))
        return np.stack([1 - good, good], axis=1)


def build(weights=(0.5, -0.25)):
    return Card(weights)


def build_function():
    return build().predict_proba
"""

SUITE = """
modelreg: 1
suite: card
samples: {file: rows.jsonl, input: [a, b]}
reference:
  model: card:build
  preprocess: card_data:prepare
  runtime: {kind: callable, method: predict_proba}
outputs: {p: {kind: classification}}
"""

VARIANTS = """
variants:
  small-batches: {batch_size: 2}
  scripted: {model: "card:build_function", runtime: torchscript}
"""


@pytest.fixture
def card(project, monkeypatch):
    """A project in an interpreter that finds no framework, with a golden."""
    project.write("blocked/sitecustomize.py", BLOCKED)
    project.write("card.py", MODEL)
    project.write(
        "card_data.py",
        "import numpy as np\n\n\ndef prepare(row):\n    return np.array([row['a'], row['b']], float)\n",
    )
    project.write("rows.jsonl", "".join(f'{{"a": {n}, "b": {n * n % 7}}}\n' for n in range(9)))
    project.write("modelreg.yaml", SUITE)
    monkeypatch.setenv("PYTHONPATH", str(project.path / "blocked"))
    for arguments in (("pin", "rows.jsonl"), ("regen", "card")):
        result = project.modelreg(*arguments)
        assert result.ret == 0, result.stdout.str() + result.stderr.str()
    return project


def test_the_interpreter_has_no_framework(card):
    """The planted absence works."""
    result = card.pytester.run(sys.executable, "-c", "import torch")
    assert "No module named 'torch'" in result.stderr.str()


def test_a_callable_is_judged_without_torch(card):
    """Recorded, matched, prechecked; a case that needs torch says how to get it."""
    card.write("modelreg.yaml", SUITE + VARIANTS)
    result = card.pytester.runpytest_subprocess("--modelreg")
    result.stdout.fnmatch_lines(["*2 match, 1 error*"])
    result.stdout.fnmatch_lines(
        ["*expected torch to be installed, got none; pip install 'pytest-modelreg*torch*"]
    )
    card.modelreg("precheck").stdout.fnmatch_lines(["*no model was built"])


def test_an_answer_that_changed_is_found_and_explained_without_torch(card):
    """Planted fault: one weight; the file that was edited is named."""
    card.edit("card.py", "-0.25", "-0.26")
    result = card.pytester.runpytest_subprocess("--modelreg")
    result.stdout.fnmatch_lines(["*1 drift*"])
    result.stdout.fnmatch_lines(["*cause: model.code: the model's code changed: edited since: card.py*"])


def test_a_table_that_changed_is_named_without_torch(card):
    """Planted fault: what the model is made of lies in a file of arrays, which no code tells."""
    np.savez(card.path / "weights.npz", weights=np.array([0.5, -0.25]))
    card.edit("card.py", "return Card(weights)", "return Card(np.load('weights.npz')['weights'])")
    assert card.modelreg("regen", "--reason", "from a file", "--mode", "all", "--yes").ret == 0
    np.savez(card.path / "weights.npz", weights=np.array([0.5, -0.26]))
    result = card.pytester.runpytest_subprocess("--modelreg")
    result.stdout.fnmatch_lines(["*cause: weights.changed: *1 of 1 tensor changed*(weights)*"])


def test_classes_that_were_exchanged_are_found(card):
    """Planted fault: the columns of the answer."""
    card.edit("card.py", "[1 - good, good]", "[good, 1 - good]")
    result = card.pytester.runpytest_subprocess("--modelreg")
    result.stdout.fnmatch_lines(["*1 drift*"])
