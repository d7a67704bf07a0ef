"""Which bytes of a golden count against its budget: those that git keeps for good."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_modelreg.engine.golden_budget import list_excess

MB = 10**6


@pytest.fixture
def suite(suites):
    """A suite in a git repository, with a golden of 3 MB in two arrays and a budget of 2 MB."""
    subprocess.run(["git", "init", "-q"], cwd=suites.path, check=True)
    golden = suites.path / "golden/toy/reference"
    golden.mkdir(parents=True)
    (golden / "golden.json").write_text("{}", encoding="utf-8")
    (golden / "outputs.a.0123456789ab.npy").write_bytes(bytes(2 * MB))
    (golden / "outputs.b.0123456789ab.npy").write_bytes(bytes(MB))
    return suites.extend("golden_budget_mb: 2\n")


def track_with_lfs(root: Path, pattern: str) -> None:
    """Write what `git lfs track` writes."""
    (root / ".gitattributes").write_text(f"{pattern} filter=lfs diff=lfs merge=lfs -text\n", encoding="utf-8")


def add_to_dvc(path: Path) -> None:
    """Leave what `dvc add` leaves."""
    path.with_name(f"{path.name}.dvc").write_text("outs:\n", encoding="utf-8")
    (path.parent / ".gitignore").write_text(f"/{path.name}\n", encoding="utf-8")


def test_golden_in_git_above_its_budget_is_warned_of(suite):
    """The planted one: sizes, and the ways out."""
    (excess,) = list_excess([suite])
    assert excess.startswith("toy: expected goldens of 2 MB at most, got 3.0 MB (reference 3.0 MB)")


def test_arrays_in_git_lfs_do_not_count(suite):
    """Whoever went the way that the warning names is not warned for good."""
    track_with_lfs(suite.file.parent, "golden/**/*.npy")
    assert list_excess([suite]) == []


def test_arrays_beside_those_in_git_lfs_count(suite):
    """A pattern that does not fit an array leaves it in git's history."""
    track_with_lfs(suite.file.parent, "golden/**/outputs.b.*")
    (excess,) = list_excess([suite])
    assert "got 2.0 MB (reference 2.0 MB)" in excess  # the larger array, and the record beside it


@pytest.mark.parametrize(
    "place", ["golden/toy", "golden/toy/reference", "golden/toy/reference/outputs.a.0123456789ab.npy"]
)
def test_what_dvc_tracks_does_not_count(suite, place):
    """An array, a golden or all of a suite's."""
    add_to_dvc(suite.file.parent / place)
    assert list_excess([suite]) == []


def test_small_array_in_dvc_leaves_the_large_one_counted(suite):
    """Only the bytes that went elsewhere are left out."""
    add_to_dvc(suite.file.parent / "golden/toy/reference/outputs.b.0123456789ab.npy")
    (suite.file.parent / "golden/toy/reference/outputs.a.0123456789ab.npy").write_bytes(bytes(2 * MB + 1))
    (excess,) = list_excess([suite])
    assert "got 2.0 MB" in excess


def test_golden_outside_of_git_counts_whole(suites):
    """Nobody said yet where it is kept."""
    suite = suites.extend("golden_budget_mb: 2\n")
    golden = suites.path / "golden/toy/reference"
    golden.mkdir(parents=True)
    (golden / "outputs.a.0123456789ab.npy").write_bytes(bytes(2 * MB))
    assert list_excess([suite]) == []
    (golden / "golden.json").write_text("{}", encoding="utf-8")
    assert len(list_excess([suite])) == 1
