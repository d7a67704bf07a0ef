"""What a green case costs over the bare loop that does the same work without the tool.

Both sides build the photo classifier, read its checkpoint, and decode, preprocess and
forward the same photos in the same batches; the case also digests, stores, reads the
golden and judges. They run in turn in one process, on the project's own suite.

Run with ``python -m benchmarks.green_case`` from the root of the repository.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.paired_rounds import judge_ratio

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Print the numbers; return 0 within the budget, else 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9, help="runs of each side (default: 9)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        run_case, run_bare, n_samples = _make_sides(Path(name))
        passes = judge_ratio(run_bare, run_case, rounds=rounds, n_samples=n_samples)
    return 0 if passes else 1


def _make_sides(folder: Path) -> tuple[Callable[[], None], Callable[[], None], int]:
    """Return the case and the bare loop over the project's suite, and the number of samples."""
    import torch
    from PIL import Image

    from pytest_modelreg.domain.verdict import Verdict
    from pytest_modelreg.engine.run import open_run_folder
    from pytest_modelreg.engine.session import Session
    from pytest_modelreg.engine.suite_loading import load_suite
    from pytest_modelreg.store import read_samples

    suite = load_suite(ROOT / "modelreg.yaml", rootdir=ROOT)
    plan = suite.cases[0]
    samples = read_samples(suite.samples_folder)
    spec = plan.spec(samples)
    assert spec.checkpoint is not None
    checkpoint = spec.checkpoint.path
    sys.path.insert(0, str(ROOT / "fixtures"))
    import photo_classifier

    paths = [suite.samples_folder / sample.file for sample in samples.samples]

    def run_bare() -> None:
        torch.manual_seed(0)
        model = photo_classifier.build_model()
        model.load_state_dict(torch.load(checkpoint, weights_only=True))
        model.eval()
        outputs = []
        with torch.inference_mode():
            for start in range(0, len(paths), spec.batch_size):
                batch = []
                for path in paths[start : start + spec.batch_size]:
                    with Image.open(path) as image:
                        image.load()
                        batch.append(photo_classifier.preprocess(image))
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
