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
from collections.abc import Callable
from pathlib import Path

import torch
import torchvision
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, Normalize, Resize, ToTensor

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
        run_case, run_bare, n_samples = _make_sides(folder)
        passes = judge_ratio(run_bare, run_case, rounds=options.rounds, n_samples=n_samples)
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


def _make_sides(folder: Path) -> tuple[Callable[[], None], Callable[[], None], int]:
    """Return the case, the bare loop that does the same, and the number of samples."""
    from benchmarks import staged_case  # as the suite imports it, not as __main__
    from pytest_modelreg.domain.verdict import Verdict
    from pytest_modelreg.engine.run import open_run_folder
    from pytest_modelreg.engine.session import Session
    from pytest_modelreg.engine.suite_loading import load_suite
    from pytest_modelreg.store import read_samples

    suite = load_suite(folder / "modelreg.yaml", rootdir=folder)
    (plan,) = suite.cases
    samples = read_samples(suite.samples_folder)
    batch_size = plan.spec(samples).batch_size
    paths = [suite.samples_folder / sample.file for sample in samples.samples]

    def run_bare() -> None:
        torch.manual_seed(0)
        model = staged_case.build_model().eval()
        outputs = []
        with torch.inference_mode():
            for start in range(0, len(paths), batch_size):
                batch = []
                for path in paths[start : start + batch_size]:
                    with Image.open(path) as image:
                        image.load()
                        batch.append(staged_case.pipeline(image))
                outputs.append(model(torch.stack(batch)))
        assert torch.cat(outputs).shape[0] == len(paths)

    def run_case() -> None:
        # A session of its own: nothing is shared with the rounds before.
        session = Session(run_folder=open_run_folder(folder, "bench", chosen=folder / "run"))
        result = session.conclude(session.run_case(suite, plan)).result
        assert result.verdict is Verdict.MATCH, result.message

    return run_case, run_bare, len(paths)


if __name__ == "__main__":
    sys.exit(main())
