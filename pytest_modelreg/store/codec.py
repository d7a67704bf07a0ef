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

from pytest_modelreg import __version__
from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.domain.golden import Acceptance, Golden, OutputProfile
from pytest_modelreg.domain.observation import ArrayFile, Observation
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.consistency import require_consistent
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.json_text import parse_json, render_json
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.observation_codec import (
    file_fields,
    observation_fields,
    read_array_file,
    read_observation,
)
from pytest_modelreg.store.own_digest import (
    BLANK,
    OWN_DIGEST_KEY,
    find_own_digest_fault,
    write_own_digest,
)

GOLDEN_KEY = "modelreg_golden"
GOLDEN_FORMAT = 2
"""1: no digest of its own. 2: must carry one, so that damage to its key is damage and no older file."""

OBSERVATION_KEY = "modelreg_observation"
OBSERVATION_FORMAT = 1


def encode_golden(golden: Golden) -> bytes:
    """Return the bytes of ``golden.json``.

    The duration is left out: a golden must not differ because of time.
    """
    accepted = golden.accepted
    fields: dict[str, Any] = {
        GOLDEN_KEY: GOLDEN_FORMAT,
        OWN_DIGEST_KEY: BLANK,
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
    if golden.noise_floor:
        fields["noise_floor"] = dict(golden.noise_floor)
    return write_own_digest(render_json(fields))


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
        summary=read_summary(fields),
    )
    require_consistent(golden.observation, path, profiled=golden.profiles)
    return golden


def open_golden(data: bytes, path: Path) -> JsonObject:
    """Return the keys of ``golden.json`` once its bytes are known to be those that were written.

    Raises
    ------
    GoldenError
        When they are not, or are no JSON.
    GoldenFormatError
        When the format is newer than this release reads.
    """
    value = parse_json(data, path)
    fault = find_own_digest_fault(data)
    try:
        version = _require_format(value, path, GOLDEN_KEY, GOLDEN_FORMAT)
    except GoldenFormatError as error:
        if fault is None:
            raise
        raise GoldenFormatError(f"{error}; where no newer release wrote it, {RESTORE}") from error
    if fault is not None and (version > 1 or OWN_DIGEST_KEY in value):
        raise GoldenError(f"{shown(path)}: bytes changed: {fault}; {RESTORE}")
    return JsonObject(value, path)


def read_summary(fields: JsonObject) -> ArrayFile | None:
    """Return name and digest of the table that a parsed ``golden.json`` names, None without one."""
    return read_array_file(fields.object("summary")) if "summary" in fields else None


def encode_observation(observation: Observation) -> bytes:
    """Return the bytes of ``observation.json``, duration included."""
    fields = {OBSERVATION_KEY: OBSERVATION_FORMAT, **observation_fields(observation)}
    return render_json({**fields, "duration_s": observation.duration_s})


def decode_observation(data: bytes, path: Path) -> Observation:
    """Read the bytes of ``observation.json``; raises as :func:`decode_golden`."""
    value = parse_json(data, path)
    _require_format(value, path, OBSERVATION_KEY, OBSERVATION_FORMAT)
    observation = read_observation(JsonObject(value, path))
    require_consistent(observation, path)
    return observation


def _require_format(value: Mapping[str, Any], path: Path, key: str, newest: int) -> int:
    """Return a file's format version, held against the newest that this release reads."""
    version = value.get(key)
    if type(version) is not int or version < 1:
        raise GoldenError(
            f"{shown(path)}: {key}: expected a format version, got {version!r}: not written by"
            f" pytest-modelreg; {RESTORE}"
        )
    if version > newest:
        raise GoldenFormatError(
            f"{shown(path)}: {key}: expected format {newest} at most, which pytest-modelreg"
            f" {__version__} reads, got {version}; upgrade pytest-modelreg"
        )
    return version
