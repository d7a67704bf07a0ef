"""Real other environments: an older torch, and versions of a package, with planted differences.

`make test-full` makes the environment of the system's torch that these tests run in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
OLD_TORCH = ROOT / ".venv-system/bin/python"

SUITE = f"""
modelreg: 1
suite: shop
samples: {{folder: photos, loader: image}}
reference: {{model: "shopmodel:build", preprocess: "shopdata:pipeline"}}
variants:
  old: {{environment: {{python: {OLD_TORCH}}}}}
  handed: {{environment: {{python: {OLD_TORCH}, preprocess: here}}}}
"""

MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(3, 8, 3, stride=2)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x)).mean((2, 3)))


def build():
    return Net()
"""

BY_PILLOW = """
import torch
from PIL import Image
from torchvision.transforms import Compose, Normalize, ToTensor


def resize(image):
    return image.convert("RGB").resize((32, 32), Image.Resampling.BICUBIC)


pipeline = Compose([resize, ToTensor(), Normalize([0.5] * 3, [0.5] * 3)])
"""

BY_TENSOR = """
from torchvision.transforms import Compose, InterpolationMode, Normalize, PILToTensor, Resize


def to_rgb(image):
    return image.convert("RGB")


def to_float(levels):
    return levels.float()


pipeline = Compose(
    [
        to_rgb,
        PILToTensor(),
        Resize((32, 32), InterpolationMode.BICUBIC),
        to_float,
        Normalize([127.0] * 3, [128.0] * 3),
    ]
)
"""


@pytest.fixture
def shop(project):
    """Three photos of noise, a small network with weights of its own."""
    for index in range(3):
        (project.path / "photos").mkdir(exist_ok=True)
        image = Image.effect_noise((90 + index, 70), 80 + index)
        image.save(project.path / f"photos/p{index}.png")
    project.write("modelreg.yaml", SUITE)
    project.write("shopmodel.py", MODEL)
    project.write("shopdata.py", BY_PILLOW)
    from pytest_modelreg.store import pin

    pin(project.path / "photos", update=False)
    return project


def record(project):
    """Record the golden, in a process of its own: torch cannot be imported twice in one."""
    assert project.modelreg("regen", "--yes").ret == 0


def cases_of(project):
    """Run all cases and return their records by variant."""
    target = project.path / "report.json"
    project.pytester.run(sys.executable, "-m", "pytest", "--modelreg", f"--modelreg-json={target}")
    return {case["variant"]: case for case in json.loads(target.read_text())["cases"]}


@pytest.mark.full
def test_the_golden_holds_on_a_torch_of_years_ago(shop):
    """Within the default limits, with the difference of both sides in a note."""
    record(shop)
    cases = cases_of(shop)
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "reference": "match",
        "old": "match",
        "handed": "match",
    }
    changes = {change["key"]: change for change in cases["old"]["environment_changes"]}
    assert changes["torch.version"]["actual"].startswith("1.")
    assert changes["torch.version"]["expected"].startswith("2.")


@pytest.mark.full
def test_a_model_that_branches_on_the_version_drifts_and_leads_with_it(shop):
    """The planted branch is seen in both ways of handing over, the environment first."""
    shop.write(
        "shopmodel.py",
        MODEL.replace(
            "return self.head(",
            "gain = 1.01 if torch.__version__ < '2' else 1.0\n        return gain * self.head(",
        ),
    )
    record(shop)
    cases = cases_of(shop)
    assert cases["reference"]["verdict"] == "match"
    for name in ("old", "handed"):
        assert cases[name]["verdict"] == "drift"
        assert cases[name]["message"].startswith("environment differs (torch.version 2.")
        assert len(cases[name]["drifted_samples"]) == 3
        assert cases[name]["inputs_identical"] is True
        cause = cases[name]["causes"][0]
        assert cause["cause"] == "environment"
        found = cause["evidence"]["divergence"]
        assert found["first_module"] == "(model)"  # which the gain is in, behind all of its parts
        assert found["rel_l2_before"] < 1e-5 < found["rel_l2_after"]


@pytest.mark.full
def test_a_library_that_resizes_differently_is_seen_unless_inputs_are_handed_over(shop):
    """There tensors are resized without antialias by default: drift at that stage; handed over, none."""
    shop.write("shopdata.py", BY_TENSOR)
    record(shop)
    cases = cases_of(shop)
    assert cases["handed"]["verdict"] == "match"
    assert cases["old"]["verdict"] == "drift"
    assert cases["old"]["inputs_identical"] is False
    assert any("first stage whose output differs: 3 (Resize)" in note for note in cases["old"]["notes"])


@pytest.mark.full
def test_the_version_that_moves_the_numbers_is_found(shop):
    """Among four releases of Pillow, the first with the planted branch; exit 1 with the drift."""
    shop.write(
        "shopmodel.py",
        "import numpy as np\nimport PIL\n\n\ndef build():\n"
        "    gain = 1.01 if int(PIL.__version__.split('.')[0]) >= 11 else 1.0\n"
        "    return lambda x: np.float32(gain) * x.reshape(len(x), -1)[:, :50]\n",
    )
    shop.write(
        "shopdata.py",
        "import numpy as np\n\n\ndef pipeline(image):\n"
        "    return np.asarray(image.convert('RGB').resize((8, 8)), dtype=np.float32) / 255\n",
    )
    shop.write("modelreg.yaml", SUITE.partition("variants:")[0])
    old = shop.path / "old.modelreg.yaml"
    old.write_text(
        (shop.path / "modelreg.yaml")
        .read_text()
        .replace("reference: {", "reference: {environment: {requirements: [Pillow==9.5.0, numpy]}, ")
    )
    (shop.path / "modelreg.yaml").unlink()
    assert shop.modelreg("regen", "--yes").ret == 0
    result = shop.modelreg(
        "bisect", "shop", "--package", "pillow", "--versions", "9.5.0,10.4.0,11.3.0,12.0.0"
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["first that drifts: pillow 11.3.0", "drift: *rel_l2*"])
