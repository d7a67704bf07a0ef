"""Observations on disk, for another process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError, RunFolderError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.store import read_observation, write_observation


@pytest.fixture
def observation(tmp_path: Path, make_observation: Callable[..., Observation]) -> Observation:
    """An observation with its array in ``tmp_path``."""
    return make_observation(tmp_path, {"logits": np.zeros((2, 3), np.float32)})


def test_round_trip(tmp_path: Path, observation: Observation) -> None:
    """What was observed is read back, the duration too; no temporary file is left."""
    path = write_observation(tmp_path, observation)
    assert path.name == "observation.json"
    read = read_observation(tmp_path)
    assert read == observation
    assert read.duration_s == observation.duration_s
    assert len(os.listdir(tmp_path)) == 2


def test_missing(tmp_path: Path) -> None:
    """No record is an error that says to run again: unlike a golden it must be there."""
    with pytest.raises(GoldenError, match=r"observation\.json: expected the record.*run the case again"):
        read_observation(tmp_path)


def test_folder_that_is_gone(tmp_path: Path, observation: Observation) -> None:
    """A folder that cannot be written is an error of this package with the path."""
    with pytest.raises(RunFolderError, match=r"gone/observation\.json: cannot be written.*then run again"):
        write_observation(tmp_path / "gone", observation)


def test_newer_format(tmp_path: Path, observation: Observation) -> None:
    """A worker of a later release is told apart from damage."""
    path = write_observation(tmp_path, observation)
    path.write_text(path.read_text().replace('"modelreg_observation": 1', '"modelreg_observation": 9'))
    with pytest.raises(GoldenFormatError, match="upgrade pytest-modelreg"):
        read_observation(tmp_path)
