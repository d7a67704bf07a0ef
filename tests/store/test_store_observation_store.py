"""Observations on disk, for another process."""

from __future__ import annotations

import json
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
    path.write_text(path.read_text().replace('"modelreg_observation": 2', '"modelreg_observation": 9'))
    with pytest.raises(GoldenFormatError, match="upgrade pytest-modelreg"):
        read_observation(tmp_path)


def test_any_flipped_bit_is_refused(tmp_path: Path, observation: Observation) -> None:
    """What a run says of a sample or an environment would become the golden's."""
    path = write_observation(tmp_path, observation)
    data = path.read_bytes()
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        with pytest.raises(GoldenError, match=r"run the case again") as caught:
            read_observation(tmp_path)
        assert "version control" not in str(caught.value)


def test_record_of_an_older_release_is_read(tmp_path: Path, observation: Observation) -> None:
    """It carries no digest of its own."""
    path = write_observation(tmp_path, observation)
    fields = json.loads(path.read_text(encoding="utf-8"))
    del fields["modelreg_sha256"]
    path.write_text(json.dumps({**fields, "modelreg_observation": 1}), encoding="utf-8")
    assert read_observation(tmp_path) == observation
    path.write_text(json.dumps({**fields, "modelreg_observation": 2}), encoding="utf-8")
    with pytest.raises(GoldenError, match="bytes changed"):
        read_observation(tmp_path)
