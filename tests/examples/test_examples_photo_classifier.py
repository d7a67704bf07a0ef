"""The small example: green as it is, red after the swap, and its README shows what is printed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/photo_classifier"


@pytest.fixture
def copy(tmp_path):
    """A copy of the example, so that nothing in the repository changes."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "photo_classifier"))


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the example's suite as its README says."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--modelreg", "-p", "no:cacheprovider", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_example_matches_its_golden(copy):
    """What a reader runs first is green."""
    done = run(copy)
    assert done.returncode == 0, done.stdout
    assert "3 match" in done.stdout


def test_swap_is_named_where_no_photo_s_inputs_fit(copy):
    """A golden too small for one whole input keeps points of all of them, and they are enough."""
    shutil.rmtree(copy / "golden")
    suite = copy / "modelreg.yaml"
    text = suite.read_text(encoding="utf-8")
    assert "trace_mb: 4" in text
    suite.write_text(text.replace("trace_mb: 4", "trace_mb: 0.3"), encoding="utf-8")
    assert run(copy, "--modelreg-regen=missing", "-k", "reference").returncode == 0
    (folder,) = (copy / "golden/shop-photos").iterdir()
    assert not list(folder.glob("trace.exact.*"))
    assert len(list(folder.glob("trace.points.*"))) == 1
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("shop.data:eval_transform", "shop.data:fast_transform"), encoding="utf-8")
    done = run(copy, "-k", "reference")
    assert done.returncode == 1, done.stdout
    causes = [line for line in done.stdout.splitlines() if line.startswith("  cause: ")]
    assert [line.split(": ")[1] for line in causes] == [
        "preprocess.channel_order",
        "preprocess.interpolation",
    ]
    assert all("points of 10 photos" in line for line in causes[:2])


def test_swapped_resize_prints_what_the_readme_shows(copy):
    """The story's output is the tool's: every sample, flip and count; not the last digits."""
    suite = copy / "modelreg.yaml"
    text = suite.read_text(encoding="utf-8")
    assert "shop.data:eval_transform" in text
    suite.write_text(text.replace("shop.data:eval_transform", "shop.data:fast_transform"), encoding="utf-8")
    done = run(copy)
    assert done.returncode == 1, done.stdout
    shown = (EXAMPLE / "README.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    stable = [line.split() for line in shown.splitlines() if "flipped" in line or "samples drift" in line]
    assert len(stable) >= 5
    printed = [line.split() for line in done.stdout.splitlines()]
    for words in stable:
        assert words in printed
    assert "inputs differ for 10 of 10 samples" in done.stdout
    assert "inputs differ for 10 of 10 samples" in shown
