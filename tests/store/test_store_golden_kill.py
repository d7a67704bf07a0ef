"""Real kills and real concurrency: old or new, whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_modelreg.store import golden_folder, list_golden_folders
from tests.store.small_golden import N_FILES, read_value, start_writing
from tests.store.write_faults import kill_at_random


def test_killed_writers_leave_a_whole_golden(tmp_path: Path) -> None:
    """SIGKILL at random moments never leaves a mixture of two goldens; the next run cleans up."""
    assert len(kill_at_random(tmp_path, 10)) > 1


@pytest.mark.full
def test_fifty_kills(tmp_path: Path) -> None:
    """The same, often."""
    assert len(kill_at_random(tmp_path, 50, seed=8)) > 10


def test_two_regenerations_at_once(tmp_path: Path) -> None:
    """Concurrent regenerations wait for each other; the last one stands, whole."""
    folder = tmp_path / "s" / "reference"
    processes = [start_writing(folder, tmp_path / f"scratch{first}", first, 25) for first in (100, 200, 300)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert read_value(folder) in (124, 224, 324)
    assert len(os.listdir(folder)) == N_FILES


def test_workers_recording_cases_of_one_suite(tmp_path: Path) -> None:
    """Processes that record different cases of one suite at once do not get into each other's way."""
    root = tmp_path / "golden"
    variants = ["reference", "onnx", "fast-onnx", "int8"]
    processes = [
        start_writing(golden_folder(root, "s", variant), tmp_path / variant, 100 * index, 10, variant=variant)
        for index, variant in enumerate(variants)
    ]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    found = {folder.name: read_value(folder) for folder in list_golden_folders(root)}
    assert found == {variant: 100 * index + 9 for index, variant in enumerate(variants)}
    assert {len(os.listdir(root / "s" / variant)) for variant in variants} == {N_FILES}
