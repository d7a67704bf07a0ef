"""Goldens of earlier releases, kept as they were written: they stay readable and judge as they did."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge import JudgeRequest, judge_case
from pytest_modelreg.store import list_golden_folders, read_golden, verify_files, write_golden

FORMATS = Path(__file__).with_name("formats")
FOLDERS = list_golden_folders(FORMATS)
IDS = [folder.relative_to(FORMATS).as_posix() for folder in FOLDERS]


def _judge(folder: Path, golden: Golden, observation: Observation, observed: Path) -> Verdict:
    samples = SampleSet(
        folder="",
        samples=tuple(
            Sample(id=sample.id, file=sample.id, sha256=sample.sha256) for sample in observation.samples
        ),
    )
    request = JudgeRequest(
        golden=golden,
        golden_folder=folder,
        observation=observation,
        observation_folder=observed,
        samples=samples,
        outputs={},
        checks=CheckPlan(),
    )
    return judge_case(request).verdict


def _read(folder: Path) -> Golden:
    golden = read_golden(folder)
    assert golden is not None
    verify_files(folder, golden)
    return golden


def test_every_format_has_a_golden_here() -> None:
    """A folder a format, named by the day on which it was last written."""
    versions = {json.loads((folder / "golden.json").read_text())["modelreg_golden"] for folder in FOLDERS}
    assert versions == {1, 2}


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_is_read_and_judges(
    folder: Path, tmp_path: Path, make_observation: Callable[..., Observation]
) -> None:
    """Equal values match, other values drift; what the format did not have is empty."""
    golden = _read(folder)
    assert bool(golden.observation.stages) == (folder.name == "staged")
    assert (golden.observation.input_probes is not None) == (folder.name == "probed")
    assert bool(golden.variant_inputs) == (folder.name == "probed")
    for value, verdict in ((1.0, Verdict.MATCH), (1.2, Verdict.DRIFT)):
        observed = tmp_path / str(value)
        outputs = {
            "logits": np.full((2, 3), value, np.float32),
            "boxes": [np.full((2, 4), value, np.float32), np.zeros((0, 4), np.float32)],
        }
        observation = make_observation(observed, outputs)
        assert _judge(folder, golden, observation, observed) is verdict


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_written_again_it_is_of_this_format(folder: Path, tmp_path: Path) -> None:
    """A regeneration over an earlier golden loses nothing of it and takes over its arrays."""
    place = tmp_path / "golden" / "photos" / folder.name
    shutil.copytree(folder, place)
    golden = _read(folder)
    table = [line.split(",") for line in (folder / "summary.csv").read_text().splitlines()]
    write_golden(place, golden, tmp_path / "nowhere", table)
    assert _read(place) == golden
    fields = json.loads((place / "golden.json").read_text())
    assert fields["modelreg_golden"] == 2
    assert {path.name for path in place.iterdir()} == {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_arrays_of_every_format_are_guarded(folder: Path, tmp_path: Path) -> None:
    """A changed array or table is found whatever the format of the record is."""
    place = tmp_path / "golden" / "photos" / folder.name
    shutil.copytree(folder, place)
    for path in [*place.glob("*.npy"), place / "summary.csv"]:
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(GoldenError, match=path.name):
            _read(place)
        path.write_bytes(content)
