"""The accident that this tool exists for, replayed: a resize is "optimised" in a copy of the project's suite.

Copies the suite, its samples and its golden to a temporary folder, replaces the bicubic
resize by nearest neighbour in the copy's preprocessing, and compares again. Nothing in
the repository is touched. Exits with 0 when the drift was found, 1 when it was not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIPELINE = "fixtures/photo_classifier.py"
CASE = "photo-classifier[reference]"
BEFORE, AFTER = "Resampling.BICUBIC", "Resampling.NEAREST"


def main() -> int:
    """Swap, compare, and say what happened."""
    with tempfile.TemporaryDirectory(prefix="modelreg-demo-") as folder:
        copy = Path(folder)
        for name in ("fixtures", "golden"):
            shutil.copytree(ROOT / name, copy / name)
        shutil.copy(ROOT / "modelreg.yaml", copy)
        source = copy / PIPELINE
        text = source.read_text(encoding="utf-8")
        if text.count(BEFORE) != 1:
            sys.exit(f"{PIPELINE}: expected exactly one {BEFORE} to swap, found {text.count(BEFORE)}")
        source.write_text(text.replace(BEFORE, AFTER), encoding="utf-8")
        say(f"In a copy of the suite, {PIPELINE} now resizes with {AFTER} instead of {BEFORE}:")
        code = subprocess.call(
            [sys.executable, "-m", "pytest", "--modelreg", "modelreg.yaml", "--rootdir", ".", "-k", CASE],
            cwd=copy,
        )
    found = code == 1
    say("The drift was found, as it should be." if found else f"The drift was NOT found: pytest exit {code}.")
    return 0 if found else 1


def say(text: str) -> None:
    """Print a line of this script so that it stands out from pytest's."""
    print(f"\n>>> {text}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
