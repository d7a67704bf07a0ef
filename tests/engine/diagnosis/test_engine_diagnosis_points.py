"""A drift explained end to end where the golden keeps no whole input of what drifts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

PHOTOS = Path(__file__).parents[3] / "fixtures" / "photos"
NAMES = ("sk-chelsea.jpg", "std-acanthus-mollis.jpg", "sk-astronaut.jpg", "edge-exif-orient6.jpg")

NET = """
import torch
from torch import nn


def build():
    torch.manual_seed(4)
    pooled = (nn.Conv2d(3, 8, 5, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten())
    return nn.Sequential(*pooled, nn.Linear(72, 5))
"""

DATA = """
import numpy as np
from PIL import Image, ImageOps

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)


def load(path):
    return Image.open(path)


def prepare(image):
    image = ImageOps.exif_transpose(image)
    image = image.convert("RGB").resize((112, 112), Image.BICUBIC)
    levels = np.asarray(image, np.float32) / np.float32(255)
    return np.ascontiguousarray(((levels - MEAN) / STD).transpose(2, 0, 1))
"""

SUITE = """
modelreg: 1
suite: toy
trace_mb: {trace_mb}
samples: {{folder: samples, loader: "data:load"}}
reference:
  model: network:build
  preprocess: data:prepare
outputs:
  logits: {{kind: classification}}
"""


def record(project: Any, *, trace_mb: float, data: str = DATA) -> Any:
    """Return a project with a golden of its samples."""
    project.write("network.py", NET)
    project.write("data.py", data)
    project.write("modelreg.yaml", SUITE.format(trace_mb=trace_mb))
    project.pin()
    assert project.pytest("--modelreg-regen=missing").ret == 0
    return project


@pytest.fixture
def empty(project: Any) -> Any:
    """A project without samples."""
    for file in (project.path / "samples").iterdir():
        file.unlink()
    return project


@pytest.fixture
def photos(empty: Any) -> Any:
    """A project on photos, none of which fits whole into what its golden may keep."""
    for name in NAMES:
        shutil.copy(PHOTOS / name, empty.path / "samples" / name)
    return record(empty, trace_mb=0.1)


def first_cause(project: Any) -> dict[str, Any]:
    """Run and return the first cause of the only case."""
    project.pytest("--modelreg-json=report.json")
    (case,) = json.loads((project.path / "report.json").read_text(encoding="utf-8"))["cases"]
    assert case["verdict"] == "drift"
    found: dict[str, Any] = case["causes"][0]
    return found


def list_traces(project: Any) -> list[str]:
    """Return what the golden keeps for a diagnosis."""
    golden = project.path / "golden/toy/reference"
    return sorted(path.name.split(".")[1] for path in golden.glob("trace.*.npy"))


def test_points_are_kept_within_their_share(photos: Any) -> None:
    """A quarter of what whole inputs leave, which is all of it here."""
    assert list_traces(photos) == ["inputs", "points", "weights"]
    (file,) = photos.path.glob("golden/toy/reference/trace.points.*.npy")
    assert file.stat().st_size <= 0.25 * 100_000 + 256
    record = json.loads((file.parent / "golden.json").read_text(encoding="utf-8"))
    assert "input_points" not in json.dumps(record)


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        ("Image.BICUBIC", "Image.NEAREST", "preprocess.interpolation"),
        ("transpose(2, 0, 1)", "transpose(2, 0, 1)[::-1]", "preprocess.channel_order"),
        ("((levels - MEAN) / STD)", "levels", "preprocess.normalization"),
        ("ImageOps.exif_transpose(image)", "image", "preprocess.decode"),
    ],
)
def test_a_fault_is_named_first(photos: Any, before: str, after: str, cause: str) -> None:
    """By points alone, and the evidence says so."""
    photos.edit("data.py", before, after)
    first = first_cause(photos)
    assert first["cause"] == cause
    assert first["evidence"]["n_points"] > 0
    assert first["confidence"] < 0.9


def test_a_precheck_names_it_without_a_model(photos: Any) -> None:
    """The inputs of now against the golden's points."""
    photos.edit("data.py", "transpose(2, 0, 1)", "transpose(2, 0, 1)[::-1]")
    result = photos.modelreg("precheck")
    result.stdout.fnmatch_lines(["*preprocess.channel_order*points*"])


def test_samples_outside_of_those_kept_whole_are_explained(empty: Any) -> None:
    """Twelve of fourteen are kept whole, and the two that drift are others."""
    data = DATA.partition("def load")[0] + (
        "def load(path):\n    return np.load(path)\n\n\ndef prepare(sample):\n    # HERE\n    return sample\n"
    )
    for number in range(14):
        rng = np.random.default_rng(number)
        np.save(empty.path / f"samples/s{number:02}.npy", rng.normal(size=(3, 40, 40)).astype(np.float32))
    record(empty, trace_mb=8, data=data)
    assert "points" in list_traces(empty)
    golden = json.loads((empty.path / "golden/toy/reference/golden.json").read_text(encoding="utf-8"))
    others = golden["trace"]["points"]["samples"]
    assert len(others) == 2
    means = [float(np.load(empty.path / f"samples/{name}.npy").mean()) for name in others]
    line = f"if min(abs(float(sample.mean()) - mean) for mean in {means}) < 1e-7: return sample * 2"
    empty.edit("data.py", "# HERE", line)
    first = first_cause(empty)
    assert first["cause"] == "preprocess.value_range"
    assert sorted(first["evidence"]["samples"]) == others


def test_a_golden_without_points_is_explained_as_before(empty: Any) -> None:
    """One from before there were points, or with no room for any: the inputs are blamed, no setting is."""
    for name in NAMES:
        shutil.copy(PHOTOS / name, empty.path / "samples" / name)
    record(empty, trace_mb=0.0001)
    assert list_traces(empty) == ["inputs", "weights"]
    empty.edit("data.py", "Image.BICUBIC", "Image.NEAREST")
    found = first_cause(empty)
    assert "n_points" not in found["evidence"]
