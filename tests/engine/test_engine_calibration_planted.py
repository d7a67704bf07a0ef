"""The planted change has the size that it claims, in every sample, as judging measures it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.engine.calibration.noise import Base, make_base
from pytest_modelreg.engine.calibration.planted_change import plant_change
from pytest_modelreg.engine.suite import CasePlan
from pytest_modelreg.store import OutputWriter

IDS = ("a", "b", "c", "d")


def _observe(folder: Path, outputs: Mapping[str, Any]) -> Observation:
    records = {}
    for path, rows in outputs.items():
        with OutputWriter(folder, path, per="sample", n_rows=len(rows)) as writer:
            if isinstance(rows, list):
                writer.append_ragged(rows, dtype=rows[0].dtype.name)
            else:
                writer.append(rows, dtype=rows.dtype.name)
            records[path] = writer.close()
    return Observation(
        suite="toy",
        variant="reference",
        axes={},
        batch_size=4,
        samples=tuple(ObservedSample(id=each, sha256="0" * 64, input_digest="0" * 64) for each in IDS),
        outputs=records,
        weights_digest=None,
        fingerprint=Fingerprint(facts={}),
    )


def _base(folder: Path, outputs: Mapping[str, Any]) -> Base:
    observation = _observe(folder, outputs)
    samples = SampleSet(folder="", samples=tuple(Sample(id=each, file=each, sha256="0" * 64) for each in IDS))
    template = CaseSpec(suite="toy", root="", python_path=(), samples=samples, loader="json", model="m:f")
    return make_base(CasePlan(template=template), observation, folder, samples, {})


def _distances(
    folder: Path, outputs: Mapping[str, Any], size: float = 1e-3
) -> Mapping[str, tuple[float, ...]]:
    base = _base(folder, outputs)
    planted = plant_change(base.golden.observation, folder, base.golden.profiles, size=size)
    return base.judge(base.case, planted, folder, checks=CheckPlan()).measures.rel_l2


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("width", [1, 5, 1000])
def test_every_sample_moves_by_the_same_share(tmp_path: Path, dtype: str, width: int) -> None:
    """Also a sample near zero, whose difference is divided by the set's typical norm."""
    rows = np.random.default_rng(0).standard_normal((4, width)) + 2.0
    rows[1] *= 1e-6
    assert _distances(tmp_path, {"y": rows.astype(dtype)})["y"] == pytest.approx([1e-3] * 4, rel=1e-3)


def test_ragged_rows_move_too(tmp_path: Path) -> None:
    """Rows of other lengths, and one without elements, which cannot move."""
    rows = [np.ones((length, 2), np.float32) for length in (3, 1, 0, 5)]
    assert _distances(tmp_path, {"boxes": rows})["boxes"] == pytest.approx([1e-3, 1e-3, 0.0, 1e-3], rel=1e-3)


def test_what_is_not_finite_stays_where_it_is(tmp_path: Path) -> None:
    """A NaN in the golden is no place for a change, and its row is measured over the others."""
    rows = np.ones((4, 6), np.float32)
    rows[0, 0], rows[1] = np.nan, np.inf
    assert _distances(tmp_path, {"y": rows})["y"] == pytest.approx([1e-3, 0.0, 1e-3, 1e-3], rel=1e-3)


@pytest.mark.parametrize("dtype", ["int64", "bool", "float16"])
def test_what_cannot_hold_it_is_left_alone(tmp_path: Path, dtype: str) -> None:
    """Integers, and a dtype that rounds by as much."""
    rows = np.ones((4, 3)).astype(dtype)
    assert _distances(tmp_path, {"y": rows})["y"] == (0.0,) * 4


def test_it_is_the_same_in_every_run(tmp_path: Path) -> None:
    """Whether a limit sees it does not depend on luck."""
    rows = np.random.default_rng(0).standard_normal((4, 9)).astype(np.float32)
    seen = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        base = _base(folder, {"y": rows})
        moved = plant_change(base.golden.observation, folder, base.golden.profiles, size=1e-3)
        seen.append(moved.outputs["y"].values.sha256)
    assert seen[0] == seen[1]
