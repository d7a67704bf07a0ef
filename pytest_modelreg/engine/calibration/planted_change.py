"""A mild change planted on purpose, to see whether the limits of a case catch it.

What belongs here: making it. It is random, the same in every run, and of one size in every sample: a share
of what the row's difference is divided by, so that judging measures exactly that share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import compute_norm
from pytest_modelreg.compare.gate import compute_denominators
from pytest_modelreg.domain.golden import OutputProfile
from pytest_modelreg.domain.observation import Observation, OutputRecord
from pytest_modelreg.engine.calibration.limit_rule import is_coarser_than_planted
from pytest_modelreg.store import OutputWriter, StoredOutput, open_output

Row = npt.NDArray[Any]

_SEED = 20


def plant_change(
    observation: Observation, folder: Path, profiles: Mapping[str, OutputProfile], *, size: float
) -> Observation:
    """Return an observation whose outputs are moved a little in every sample.

    Parameters
    ----------
    observation : Observation
        What is moved; integers stay, and outputs whose dtype rounds by as much.
    folder : pathlib.Path
        Where its arrays are; the moved ones are written beside them.
    profiles : mapping of str to OutputProfile
        Of the golden's outputs; one that it has not stays too.
    size : float
        ``rel_l2`` of the change, dimensionless.

    Notes
    -----
    The change is white: a row of seeded normal numbers, scaled to size * max(norm of the row, f * R).
    Real drift has structure; white is the hardest to see for a check of decisions, whose scores it
    moves least for its norm.
    """
    moved = {
        path: _write_moved(folder, path, record, profiles[path], size)
        for path, record in observation.outputs.items()
        if path in profiles and not is_coarser_than_planted(record.dtype)
    }
    return replace(observation, outputs={**observation.outputs, **moved})


def _write_moved(
    folder: Path, path: str, record: OutputRecord, profile: OutputProfile, size: float
) -> OutputRecord:
    stored = open_output(folder, record)
    with OutputWriter(folder, path, per=record.per, n_rows=stored.n_rows) as writer:
        for row in _iterate_moved(stored, profile, size):
            writer.append_ragged([row], dtype=record.dtype)
        return writer.close()


def _iterate_moved(stored: StoredOutput, profile: OutputProfile, size: float) -> Iterator[Row]:
    generator = np.random.default_rng(_SEED)
    for index in range(stored.n_rows):
        row = stored.row(index)
        change = generator.standard_normal(row.shape)
        finite = np.isfinite(row)
        norm = compute_norm(change[finite]) if finite.any() else 0.0
        if norm == 0.0:
            yield row
            continue
        denominator = compute_denominators(
            np.array([compute_norm(row)]), n_elements=row.size, rms_row_norm=profile.rms_row_norm
        )
        moved = row.astype(np.result_type(row.dtype, np.float64))
        moved[finite] += (size * float(denominator[0]) / norm) * change[finite]
        yield moved.astype(row.dtype)
