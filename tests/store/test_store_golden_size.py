"""How much goldens weigh, and the warning about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.store.golden_size import DEFAULT_BUDGET_MB, describe_excess, measure_goldens

MB = 10**6


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A golden root with one suite of two variants and its neighbour."""
    for place, size in (("s/v2/outputs.a.npy", 300), ("s/reference/cpu/a.npy", 500), ("t/reference/a", 9000)):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_bytes(bytes(size))
    (tmp_path / "s" / "note.txt").write_text("not a variant")
    return tmp_path


def test_bytes_by_variant(root: Path) -> None:
    """Everything below a variant, the largest first, the neighbour's left out."""
    assert list(measure_goldens(root, "s").items()) == [("reference", 500), ("v2", 300)]


def test_suite_without_goldens_weighs_nothing(root: Path) -> None:
    """Before the first recording, and where a file is in the way."""
    (root / "file").touch()
    assert measure_goldens(root, "absent") == measure_goldens(root, "file") == {}


def test_warning_names_the_ways_out() -> None:
    """One line: how much, of what, and everything that can be done about it."""
    sizes = {"reference": 30 * MB, "int8": 2 * MB, "v2": MB, "v3": MB, "v4": MB}
    said = describe_excess("photos", sizes, budget_mb=DEFAULT_BUDGET_MB)
    assert said is not None
    assert said.startswith(
        "photos: expected goldens of 20 MB at most, got 35.0 MB (reference 30.0 MB, int8 2.0 MB,"
    )
    assert "and 2 smaller)" in said
    for way in (
        "fewer samples",
        "per: ignore",
        "git-lfs",
        "DVC",
        "docs/large-goldens.md",
        "golden_budget_mb",
    ):
        assert way in said
    assert "\n" not in said


@pytest.mark.parametrize("size", [0, 20 * MB])
def test_within_the_budget_nothing_is_said(size: int) -> None:
    """Just inside: the budget itself is allowed."""
    assert describe_excess("photos", {"reference": size}, budget_mb=20) is None
    assert describe_excess("photos", {"reference": size + 1}, budget_mb=size / MB) is not None
