"""``golden.json`` and ``observation.json``: bytes to values and back.

What belongs here: the files as wholes, with their format version, and what a golden adds to
an observation; the observation's own fields are ``observation_codec``'s. To add a field, add
its key to the writing and to the reading function; reading must give a default where older
files of the same format version lack the key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_modelreg import __version__
from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.domain.golden import FORMAT_VERSION, Acceptance, Golden, OutputProfile
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

GOLDEN_KEY = "modelreg_golden"
OBSERVATION_KEY = "modelreg_observation"


def encode_golden(golden: Golden) -> bytes:
    """Return the bytes of ``golden.json``.

    The duration is left out: a golden must not differ because of time.
    """
    accepted = golden.accepted
    fields: dict[str, Any] = {
        GOLDEN_KEY: FORMAT_VERSION,
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
    return render_json(fields)


def decode_golden(data: bytes, path: Path) -> Golden:
    """Read the bytes of ``golden.json``.

    Raises
    ------
    GoldenError
        When the bytes are no JSON or a field is missing or of another type: file, key,
        what was expected and what was got, in one line. When samples and outputs do not
        fit together: one line a fault.
    GoldenFormatError
        When the format is newer than this release reads.
    """
    fields = _open(data, path, GOLDEN_KEY)
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


def read_summary(fields: JsonObject) -> ArrayFile | None:
    """Return name and digest of the table that a parsed ``golden.json`` names, None without one."""
    return read_array_file(fields.object("summary")) if "summary" in fields else None


def encode_observation(observation: Observation) -> bytes:
    """Return the bytes of ``observation.json``, duration included."""
    fields = {OBSERVATION_KEY: FORMAT_VERSION, **observation_fields(observation)}
    return render_json({**fields, "duration_s": observation.duration_s})


def decode_observation(data: bytes, path: Path) -> Observation:
    """Read the bytes of ``observation.json``; raises as :func:`decode_golden`."""
    observation = read_observation(_open(data, path, OBSERVATION_KEY))
    require_consistent(observation, path)
    return observation


def _open(data: bytes, path: Path, key: str) -> JsonObject:
    """Parse a file and hold its format version against this release's."""
    value = parse_json(data, path)
    version = value.get(key)
    if type(version) is not int or version < 1:
        raise GoldenError(
            f"{shown(path)}: {key}: expected a format version, got {version!r}: not written by"
            f" pytest-modelreg; {RESTORE}"
        )
    if version > FORMAT_VERSION:
        raise GoldenFormatError(
            f"{shown(path)}: {key}: expected format {FORMAT_VERSION} at most, which pytest-modelreg"
            f" {__version__} reads, got {version}; upgrade pytest-modelreg"
        )
    return JsonObject(value, path)
