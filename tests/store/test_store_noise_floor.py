"""A noise floor kept with a golden: ``golden.json`` alone changes, and nothing in it is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.golden import Calibration, Golden
from pytest_modelreg.store import (
    golden_sha256,
    list_golden_folders,
    read_golden,
    verify_files,
    write_golden,
    write_noise_floor,
)
from pytest_modelreg.store.json_text import render_json
from pytest_modelreg.store.own_digest import BLANK, OWN_DIGEST_KEY, write_own_digest

CALIBRATION = Calibration(
    date="2026-01-02T00:00:00Z", perturbations=("again", "batch 1"), n_samples=2, environment="e" * 16
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the golden is."""
    return tmp_path / "golden" / "photos" / "reference"


@pytest.fixture
def write(
    folder: Path, tmp_path: Path, make_golden: Callable[..., Golden], summary: list[list[str]]
) -> Callable[[float], Golden]:
    """Return a function that writes a golden of this value."""

    def write(value: float) -> Golden:
        source = tmp_path / f"run-{value}"
        golden = make_golden(source, value)
        write_golden(folder, golden, source, summary)
        return golden

    return write


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _keep(folder: Path, **floors: float) -> None:
    measured_on = golden_sha256(folder) or ""
    write_noise_floor(folder, floors, CALIBRATION, measured_on=measured_on)


def test_only_the_record_changes(folder: Path, write: Callable[..., Golden]) -> None:
    """Outputs and summary keep their bytes, acceptance and observation their values."""
    write(1.0)
    before, files = read_golden(folder), _contents(folder)
    _keep(folder, logits=2.4e-6)
    after = read_golden(folder)
    assert before is not None
    assert after is not None
    assert after.noise_floor == {"logits": 2.4e-6}
    assert after.calibration == CALIBRATION
    assert (after.accepted, after.observation) == (before.accepted, before.observation)
    changed = {name for name, data in _contents(folder).items() if files.get(name) != data}
    assert changed == {"golden.json"}
    verify_files(folder, after)


def test_another_floor_replaces_the_first_one(folder: Path, write: Callable[..., Golden]) -> None:
    """An output that was measured before and is not any more has no floor left."""
    write(1.0)
    _keep(folder, logits=1e-3, boxes=1e-4)
    _keep(folder, boxes=2e-4)
    golden = read_golden(folder)
    assert golden is not None
    assert golden.noise_floor == {"boxes": 2e-4}


def test_a_key_of_a_later_release_survives(folder: Path, write: Callable[..., Golden]) -> None:
    """The file is changed as JSON: what this release cannot read is not dropped."""
    write(1.0)
    path = folder / "golden.json"
    fields = {**json.loads(path.read_bytes()), "later": {"file": "x"}, OWN_DIGEST_KEY: BLANK}
    path.write_bytes(write_own_digest(render_json(fields)))
    _keep(folder, logits=1e-6)
    assert json.loads(path.read_bytes())["later"] == {"file": "x"}
    assert read_golden(folder) is not None


def test_a_golden_that_was_replaced_meanwhile_is_left_alone(
    folder: Path, write: Callable[..., Golden]
) -> None:
    """A floor belongs to the outputs that it was measured on."""
    write(1.0)
    measured_on = golden_sha256(folder) or ""
    write(2.0)
    before = _contents(folder)
    with pytest.raises(GoldenError, match="calibrate again"):
        write_noise_floor(folder, {"logits": 1e-6}, CALIBRATION, measured_on=measured_on)
    assert _contents(folder) == before


def test_a_golden_that_is_gone_is_an_error(folder: Path, write: Callable[..., Golden]) -> None:
    """No golden.json appears where somebody removed one."""
    write(1.0)
    measured_on = golden_sha256(folder) or ""
    (folder / "golden.json").unlink()
    with pytest.raises(GoldenError, match="got another one"):
        write_noise_floor(folder, {"logits": 1e-6}, CALIBRATION, measured_on=measured_on)
    assert not (folder / "golden.json").exists()


@pytest.mark.parametrize(
    "kept", list_golden_folders(Path(__file__).with_name("formats")), ids=lambda path: path.parent.parent.name
)
def test_goldens_of_earlier_formats_can_be_calibrated(kept: Path, tmp_path: Path) -> None:
    """They are readable afterwards, and are what they were."""
    place = tmp_path / "golden" / "photos" / kept.name
    shutil.copytree(kept, place)
    before = read_golden(place)
    path = next(iter(before.observation.outputs)) if before is not None else ""
    _keep(place, **{path: 1e-6})
    after = read_golden(place)
    assert before is not None
    assert after is not None
    assert after.observation == before.observation
    assert after.noise_floor == {path: 1e-6}
    verify_files(place, after)
