"""The two sides of a ratio: a green case, and the bare loop that does the same work without the tool.

What belongs here: what the benchmarks of a case have in common. What is run is theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from PIL import Image

from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.run import open_run_folder
from pytest_modelreg.engine.session import Session
from pytest_modelreg.engine.suite_loading import load_suite
from pytest_modelreg.store import read_samples


class Sides(NamedTuple):
    """Both sides, to be called once a round, and how many samples each of them runs."""

    bare: Callable[[], None]
    case: Callable[[], None]
    n_samples: int


def make_sides(
    suite_file: Path,
    folder: Path,
    *,
    build_model: Callable[[], torch.nn.Module],
    preprocess: Callable[[Image.Image], torch.Tensor],
) -> Sides:
    """Return the sides for the reference of a suite of images.

    Parameters
    ----------
    folder : Path
        Where the case may leave its run folder.
    build_model, preprocess : callable
        What the suite names.
    """
    suite = load_suite(suite_file, rootdir=suite_file.parent)
    plan = suite.cases[0]
    samples = read_samples(suite.samples.place)
    spec = plan.spec(samples)
    paths = [suite.samples.place / sample.file for sample in samples.samples]

    def run_bare() -> None:
        torch.manual_seed(0)
        model = build_model()
        if spec.checkpoint is not None:
            weights: dict[str, Any] = torch.load(spec.checkpoint.path, weights_only=True)
            model.load_state_dict(weights)
        model.eval()
        outputs = []
        with torch.inference_mode():
            for start in range(0, len(paths), spec.batch_size):
                batch = []
                for path in paths[start : start + spec.batch_size]:
                    with Image.open(path) as image:
                        image.load()
                        batch.append(preprocess(image))
                outputs.append(model(torch.stack(batch)))
        assert torch.cat(outputs).shape[0] == len(paths)

    def run_case() -> None:
        # A session of its own: nothing is shared with the rounds before.
        session = Session(run_folder=open_run_folder(folder, "bench", chosen=folder / "run"))
        result = session.conclude(session.run_case(suite, plan)).result
        assert result.verdict is Verdict.MATCH, result.message

    return Sides(bare=run_bare, case=run_case, n_samples=len(paths))
