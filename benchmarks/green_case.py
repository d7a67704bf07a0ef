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
from pathlib import Path

from benchmarks.case_sides import Sides, make_sides
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
        passes = judge_ratio(_make_sides(Path(name)), rounds=rounds)
    return 0 if passes else 1


def _make_sides(folder: Path) -> Sides:
    sys.path.insert(0, str(ROOT / "fixtures"))
    import photo_classifier

    return make_sides(
        ROOT / "modelreg.yaml",
        folder,
        build_model=photo_classifier.build_model,
        preprocess=photo_classifier.preprocess,
    )


if __name__ == "__main__":
    sys.exit(main())
