"""What a green case costs when preprocessing is a pipeline of stages, each digested for every sample.

torchvision's usual pipeline for evaluation and its ResNet-18, untrained, on the project's
photos: a network that is small beside what it is fed, so that digests weigh much. Both sides
decode, preprocess and forward the same photos in the same batches.

Run with ``python -m benchmarks.staged_case`` from the root of the repository.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torchvision
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, Normalize, Resize, ToTensor

from benchmarks.case_sides import Sides, make_sides
from benchmarks.paired_rounds import judge_ratio

ROOT = Path(__file__).resolve().parents[1]
PHOTOS = ROOT / "fixtures/photos"
SUITE = """
modelreg: 1
suite: staged
python_path: [{root}]
samples: {{folder: photos, loader: image}}
reference:
  model: benchmarks.staged_case:build_model
  preprocess: benchmarks.staged_case:pipeline
  batch_size: 8
outputs:
  logits: {{kind: classification}}
"""


def build_model() -> torch.nn.Module:
    """Build a ResNet-18 with weights drawn from the seed."""
    model: torch.nn.Module = torchvision.models.resnet18(weights=None)
    return model


def to_rgb(image: Image.Image) -> Image.Image:
    """Return a photo of any mode as RGB."""
    return image.convert("RGBA").convert("RGB") if "transparency" in image.info else image.convert("RGB")


pipeline = Compose(
    [
        to_rgb,
        Resize(256),
        CenterCrop(224),
        ToTensor(),
        Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
)
"""PIL.Image.Image of any mode to float32 (3, 224, 224)."""


def main() -> int:
    """Print the numbers; return 0 within the budget, else 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9, help="runs of each side (default: 9)")
    parser.add_argument("--enlarge", type=int, default=1, help="factor on the photos' sides (default: 1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_suite(folder, options.enlarge)
        passes = judge_ratio(_make_sides(folder), rounds=options.rounds)
    return 0 if passes else 1


def _write_suite(folder: Path, factor: int) -> None:
    """Write a suite over the project's photos and record its golden."""
    from pytest_modelreg.store import pin, read_samples

    photos = folder / "photos"
    photos.mkdir()
    for sample in read_samples(PHOTOS).samples:
        source, target = PHOTOS / sample.file, photos / Path(sample.file).name
        if factor == 1:
            target.write_bytes(source.read_bytes())
            continue
        with Image.open(source) as image:
            size = (image.width * factor, image.height * factor)
            to_rgb(image).resize(size).save(target.with_name(f"{target.name}.jpg"), quality=90)
    pin(photos, update=False)
    file = folder / "modelreg.yaml"
    file.write_text(SUITE.format(root=ROOT), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--modelreg", "--modelreg-regen=missing", file.name]
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def _make_sides(folder: Path) -> Sides:
    from benchmarks import staged_case  # as the suite imports it, not as __main__

    return make_sides(
        folder / "modelreg.yaml",
        folder,
        build_model=staged_case.build_model,
        preprocess=staged_case.pipeline,
    )


if __name__ == "__main__":
    sys.exit(main())
