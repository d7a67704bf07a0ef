"""The project that a command is typed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.engine.run import find_project_root


@pytest.mark.parametrize("mark", [".git", "golden", "modelreg.yaml", "setup.py"])
def test_nearest_marked_folder_is_the_project(tmp_path: Path, mark: str) -> None:
    """Without a configuration file of pytest, as the plugin finds it."""
    (tmp_path / "golden").mkdir()
    (tmp_path / "project" / mark).mkdir(parents=True)
    below = tmp_path / "project/src/shop"
    below.mkdir(parents=True)
    assert find_project_root(below) == tmp_path / "project"


def test_configuration_file_comes_first(tmp_path: Path) -> None:
    """It says which folder is pytest's root folder, also from above a mark."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "project/golden").mkdir(parents=True)
    assert find_project_root(tmp_path / "project") == tmp_path


def test_without_a_mark_it_is_the_folder_itself(tmp_path: Path) -> None:
    """Nothing above is guessed at."""
    assert find_project_root(tmp_path) == tmp_path
