"""Records whose parts do not fit together are refused with the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.observation import InputProbes, Observation
from pytest_modelreg.store.consistency import require_consistent

PATH = Path("golden/photos/reference/golden.json")


@pytest.fixture
def observation(tmp_path: Path, make_observation: Callable[..., Observation]) -> Observation:
    """Two samples in one batch, a regular and a ragged output."""
    rows = {"logits": np.zeros((2, 3), np.float32), "boxes": [np.zeros((n, 4), np.float32) for n in (1, 2)]}
    return make_observation(tmp_path, rows)


def _fault(observation: Observation, *, profiled: tuple[str, ...] | None = None) -> str:
    with pytest.raises(GoldenError) as caught:
        require_consistent(observation, PATH, profiled=profiled)
    assert str(caught.value).startswith(f"{PATH}: ")
    return str(caught.value)


def test_fitting_record_passes(observation: Observation) -> None:
    """Just inside: as written, also with one batch a sample and an output per batch."""
    require_consistent(observation, PATH, profiled=("logits", "boxes"))
    per_batch = replace(observation.outputs["logits"], per="batch")
    require_consistent(replace(observation, outputs={"loss": per_batch}, batch_size=1), PATH)


def test_repeated_id_is_named_with_both_places(observation: Observation) -> None:
    """Two rows of one sample cannot be told apart when judged."""
    first, second = observation.samples
    repeated = replace(observation, samples=(first, replace(second, id=first.id)))
    assert "samples[1].id: expected an id of its own, got 'cat' like samples[0]" in _fault(repeated)


def test_rows_per_sample_are_counted(observation: Observation) -> None:
    """Every output of a sample too many is named at once, ragged ones too."""
    first, second = observation.samples
    text = _fault(replace(observation, samples=(first, second, replace(second, id="eel"))))
    assert "outputs.logits.shape: expected 3 rows (one a sample), got 2" in text
    assert "outputs.boxes.shape: expected 3 rows (one a sample), got 2" in text
    assert text.count("\n") == 1


def test_rows_per_batch_are_counted(observation: Observation) -> None:
    """Two samples in one batch have one row of an output per batch."""
    record = replace(observation.outputs["logits"], per="batch")
    text = _fault(replace(observation, outputs={"loss": record}))
    assert "outputs.loss.shape: expected 1 rows (one a batch), got 2" in text


def test_shape_without_rows_is_named(observation: Observation) -> None:
    """A single value has no rows at all."""
    record = replace(observation.outputs["logits"], shape=())
    assert "got no row axis" in _fault(replace(observation, outputs={"logits": record}))


def test_impossible_batch_size_is_named(observation: Observation) -> None:
    """Rows per batch cannot be counted without batches."""
    assert "batch_size: expected at least 1, got 0" in _fault(replace(observation, batch_size=0))


def test_output_without_profile_is_named(observation: Observation) -> None:
    """Judging an output needs its profile: its absence is the file's fault, not the judge's."""
    assert "profiles: expected one of every output, got none of boxes" in _fault(
        observation, profiled=("logits",)
    )


@pytest.mark.parametrize("forms", [("float32 3",), ("float32 3", "float32 4")])
def test_probes_have_one_form_or_one_a_sample(observation: Observation, forms: tuple[str, ...]) -> None:
    """Just inside: all inputs alike, or each its own; another count names no sample's form."""
    probes = InputProbes(file=ArrayFile(file="x", sha256="0"), n_columns=3, forms=forms)
    require_consistent(replace(observation, input_probes=probes), PATH)
    text = _fault(replace(observation, input_probes=replace(probes, forms=(*forms, "a", "b"))))
    assert f"input_probes.forms: expected 1 or 2 (one a sample), got {len(forms) + 2}" in text


def test_probes_without_a_bucket_are_named(observation: Observation) -> None:
    """A row is at least one bucket, the norm and the count of what is not finite."""
    probes = InputProbes(file=ArrayFile(file="x", sha256="0"), n_columns=2, forms=("float32 3",))
    text = _fault(replace(observation, input_probes=probes))
    assert "input_probes.n_columns: expected at least 3, got 2" in text
