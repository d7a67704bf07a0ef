"""``golden.json`` and ``observation.json``: bytes to values and back.

What belongs here: the files as wholes, with their format version, and what a golden adds to
an observation; the observation's own fields are ``observation_codec``'s. To add a field, add
its key to the writing and to the reading function; reading must give a default where older
files of the same format version lack the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.golden import Acceptance, Calibration, Golden, OutputProfile
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.store.consistency import require_consistent
from pytest_modelreg.store.file_fields import file_fields, read_file_fields
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.json_text import parse_json
from pytest_modelreg.store.observation_codec import (
    observation_fields,
    read_observation,
)
from pytest_modelreg.store.sealed_record import open_sealed, seal_record

GOLDEN_KEY = "modelreg_golden"
GOLDEN_FORMAT = 2
"""1: no digest of its own. 2: must carry one, so that damage to its key is damage and no older file."""

OBSERVATION_KEY = "modelreg_observation"
OBSERVATION_FORMAT = 2
"""As with goldens: 1 has no digest of its own, 2 must carry one."""


def encode_golden(golden: Golden) -> bytes:
    """Return the bytes of ``golden.json``.

    The duration is left out: a golden must not differ because of time.
    """
    accepted = golden.accepted
    fields: dict[str, Any] = {
        **observation_fields(golden.observation),
        "accepted": {
            "date": accepted.date,
            "reason": accepted.reason,
            "git_commit": accepted.git_commit,
            "git_dirty": accepted.git_dirty,
            "ci": accepted.ci,
            "supersedes": accepted.supersedes,
        },
        "profiles": {
            path: {"rms_row_norm": profile.rms_row_norm, "n_nan": profile.n_nan, "n_inf": profile.n_inf}
            for path, profile in golden.profiles.items()
        },
    }
    if golden.summary is not None:
        fields["summary"] = file_fields(golden.summary)
    fields.update(_floor_fields(golden.noise_floor, golden.calibration))
    if golden.variant_inputs:
        fields["variant_inputs"] = dict(golden.variant_inputs)
    return seal_record(fields, key=GOLDEN_KEY, version=GOLDEN_FORMAT)


def decode_golden(data: bytes, path: Path) -> Golden:
    """Read the bytes of ``golden.json``.

    Raises
    ------
    GoldenError
        When the bytes are no JSON, are not those that were written, or a field is missing
        or of another type: file, key, what was expected and what was got, in one line.
        When samples and outputs do not fit together: one line a fault.
    GoldenFormatError
        When the format is newer than this release reads.
    """
    fields = open_golden(data, path)
    accepted = fields.object("accepted")
    floor = fields.object("noise_floor") if "noise_floor" in fields else None
    inputs = fields.object("variant_inputs") if "variant_inputs" in fields else None
    golden = Golden(
        observation=read_observation(fields),
        accepted=Acceptance(
            date=accepted.text("date"),
            reason=accepted.text("reason"),
            git_commit=accepted.optional("git_commit", accepted.text),
            git_dirty=accepted.optional("git_dirty", accepted.boolean),
            ci=accepted.optional("ci", accepted.text),
            supersedes=accepted.optional("supersedes", accepted.text),
        ),
        profiles={
            name: OutputProfile(
                rms_row_norm=profile.number("rms_row_norm"),
                n_nan=profile.integer("n_nan"),
                n_inf=profile.integer("n_inf"),
            )
            for name, profile in fields.objects("profiles")
        },
        noise_floor={name: floor.number(name) for name in fields.mapping("noise_floor")} if floor else {},
        calibration=_read_calibration(fields.object("calibration")) if "calibration" in fields else None,
        variant_inputs=(
            {name: inputs.sha256(name) for name in fields.mapping("variant_inputs")} if inputs else {}
        ),
        summary=read_summary(fields),
    )
    require_consistent(golden.observation, path, profiled=golden.profiles)
    return golden


def encode_recalibrated(
    data: bytes, path: Path, noise_floor: Mapping[str, float], calibration: Calibration
) -> bytes:
    """Return the bytes of a ``golden.json`` with another noise floor, everything else as it is.

    Works on the parsed file: a key that a later release added must survive this one.

    Raises
    ------
    GoldenError
        As :func:`open_golden`.
    """
    open_golden(data, path)
    fields = parse_json(data, path)
    fields.pop("noise_floor", None)
    fields.update(_floor_fields(noise_floor, calibration))
    return seal_record(fields, key=GOLDEN_KEY, version=GOLDEN_FORMAT)


def open_golden(data: bytes, path: Path) -> JsonObject:
    """Return the keys of ``golden.json`` once its bytes are known to be those that were written.

    Raises
    ------
    GoldenError
        When they are not, or are no JSON.
    GoldenFormatError
        When the format is newer than this release reads.
    """
    return open_sealed(data, path, key=GOLDEN_KEY, newest=GOLDEN_FORMAT)


def _floor_fields(noise_floor: Mapping[str, float], calibration: Calibration | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"noise_floor": dict(noise_floor)} if noise_floor else {}
    if calibration is not None:
        fields["calibration"] = {
            "date": calibration.date,
            "perturbations": calibration.perturbations,
            "n_samples": calibration.n_samples,
            "environment": calibration.environment,
            "ci": calibration.ci,
        }
    return fields


def _read_calibration(fields: JsonObject) -> Calibration:
    return Calibration(
        date=fields.text("date"),
        perturbations=fields.texts("perturbations"),
        n_samples=fields.integer("n_samples"),
        environment=fields.text("environment"),
        ci=fields.optional("ci", fields.text),
    )


def read_summary(fields: JsonObject) -> ArrayFile | None:
    """Return name and digest of the table that a parsed ``golden.json`` names, None without one."""
    return read_file_fields(fields.object("summary")) if "summary" in fields else None


def encode_observation(observation: Observation) -> bytes:
    """Return the bytes of ``observation.json``, duration included."""
    fields = observation_fields(observation)
    return seal_record(
        {**fields, "duration_s": observation.duration_s}, key=OBSERVATION_KEY, version=OBSERVATION_FORMAT
    )


def decode_observation(data: bytes, path: Path) -> Observation:
    """Read the bytes of ``observation.json``; raises as :func:`decode_golden`."""
    fields = open_sealed(data, path, key=OBSERVATION_KEY, newest=OBSERVATION_FORMAT)
    observation = read_observation(fields)
    require_consistent(observation, path)
    return observation
