"""Goldens and sample folders in small, for the tests of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.golden import Acceptance, Golden, OutputProfile
from pytest_modelreg.domain.observation import Observation, ObservedSample, OutputRecord
from pytest_modelreg.store import OutputWriter

SUMMARY = [["sample", "norm"], ["cat", "1.0"], ["dog", "2.0"]]


def _record(folder: Path, path: str, rows: Any) -> OutputRecord:
    with OutputWriter(folder, path, per="sample", n_rows=len(rows)) as writer:
        if isinstance(rows, list):
            writer.append_ragged(rows, dtype=rows[0].dtype.name)
        else:
            writer.append(rows, dtype=rows.dtype.name)
        return writer.close()


def _observation(folder: Path, outputs: Mapping[str, Any], **changes: Any) -> Observation:
    folder.mkdir(parents=True, exist_ok=True)
    fields: dict[str, Any] = {
        "suite": "photos",
        "variant": "reference",
        "axes": {"runtime": "onnx"},
        "batch_size": 8,
        "samples": tuple(
            ObservedSample(id=name, sha256=name[0] * 64, input_digest="d" * 64) for name in ("cat", "dog")
        ),
        "outputs": {path: _record(folder, path, rows) for path, rows in outputs.items()},
        "weights_digest": "e" * 64,
        "training_modules": ("(model)",),
        "eval_applied": True,
        "fingerprint": Fingerprint(
            facts={"gpu.name": None, "python.version": "3.11.7", "torch.threads": 2},
            reasons={"gpu.name": "no CUDA device"},
            neutral=("python.version",),
        ),
        "warnings": ("a warning",),
        "duration_s": 1.5,
    }
    return Observation(**{**fields, **changes})


def _golden(folder: Path, value: float = 1.0, **changes: Any) -> Golden:
    outputs = {
        "logits": np.full((2, 3), value, np.float32),
        "boxes": [np.full((2, 4), value, np.float32), np.zeros((0, 4), np.float32)],
    }
    observation = _observation(folder, outputs, **changes)
    return Golden(
        observation=observation,
        accepted=Acceptance(
            date="2026-01-31T00:00:00Z", reason=f"value {value}", git_commit="c" * 40, git_dirty=False
        ),
        profiles={path: OutputProfile(rms_row_norm=value, n_nan=0, n_inf=0) for path in outputs},
    )


@pytest.fixture
def make_observation() -> Callable[..., Observation]:
    """Write arrays into a folder and return the observation over them."""
    return _observation


@pytest.fixture
def make_golden() -> Callable[..., Golden]:
    """Write arrays of one value into a folder and return a golden over them."""
    return _golden


@pytest.fixture
def summary() -> list[list[str]]:
    """A table of two samples."""
    return SUMMARY
