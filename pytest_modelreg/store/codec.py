"""Observations and goldens as JSON objects, field by field, both ways.

What belongs here: the one place that says which key holds which field. To add a
field, add its key to the writing and to the reading function; reading must give a
default where older files of the same format version lack the key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_modelreg import __version__
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.domain.golden import FORMAT_VERSION, Acceptance, Golden, OutputProfile
from pytest_modelreg.domain.observation import ArrayFile, Observation, ObservedSample, OutputRecord
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.consistency import require_consistent
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.json_text import parse_json, render_json
from pytest_modelreg.store.naming import shown

GOLDEN_KEY = "modelreg_golden"
OBSERVATION_KEY = "modelreg_observation"


def encode_golden(golden: Golden) -> bytes:
    """Return the bytes of ``golden.json``.

    The duration is left out: a golden must not differ because of time.
    """
    accepted = golden.accepted
    fields: dict[str, Any] = {
        GOLDEN_KEY: FORMAT_VERSION,
        **_observation_fields(golden.observation),
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
        fields["summary"] = _file_fields(golden.summary)
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
        observation=_read_observation(fields),
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
    return _read_array_file(fields.object("summary")) if "summary" in fields else None


def encode_observation(observation: Observation) -> bytes:
    """Return the bytes of ``observation.json``, duration included."""
    fields = {OBSERVATION_KEY: FORMAT_VERSION, **_observation_fields(observation)}
    return render_json({**fields, "duration_s": observation.duration_s})


def decode_observation(data: bytes, path: Path) -> Observation:
    """Read the bytes of ``observation.json``; raises as :func:`decode_golden`."""
    observation = _read_observation(_open(data, path, OBSERVATION_KEY))
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


def _observation_fields(observation: Observation) -> dict[str, Any]:
    fingerprint = observation.fingerprint
    return {
        "suite": observation.suite,
        "variant": observation.variant,
        "axes": observation.axes,
        "batch_size": observation.batch_size,
        "samples": [
            {"id": sample.id, "sha256": sample.sha256, "input_digest": sample.input_digest}
            for sample in observation.samples
        ],
        "outputs": {
            path: {**_output_fields(record), "position": position}
            for position, (path, record) in enumerate(observation.outputs.items())
        },
        "weights_digest": observation.weights_digest,
        "training_modules": observation.training_modules,
        "eval_applied": observation.eval_applied,
        "fingerprint": {
            "facts": fingerprint.facts,
            "reasons": fingerprint.reasons,
            "neutral": fingerprint.neutral,
            "digest": fingerprint.digest,
        },
        "warnings": observation.warnings,
    }


def _output_fields(record: OutputRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "per": record.per,
        "dtype": record.dtype,
        "shape": record.shape,
        **_file_fields(record.values),
    }
    if record.counts is not None:
        fields["counts"] = _file_fields(record.counts)
    return fields


def _file_fields(file: ArrayFile) -> dict[str, str]:
    return {"file": file.file, "sha256": file.sha256}


def _read_observation(fields: JsonObject) -> Observation:
    fingerprint = fields.object("fingerprint")
    reasons = fingerprint.object("reasons")
    # Keys are sorted in the file; "position" keeps the order in which the model returned them.
    outputs = sorted(fields.objects("outputs"), key=lambda item: item[1].integer("position"))
    return Observation(
        suite=fields.text("suite"),
        variant=fields.text("variant"),
        axes=fields.mapping("axes"),
        batch_size=fields.integer("batch_size"),
        samples=tuple(
            ObservedSample(
                id=sample.text("id"),
                sha256=sample.text("sha256"),
                input_digest=sample.optional("input_digest", sample.text),
            )
            for sample in fields.records("samples")
        ),
        outputs={path: _read_output(record) for path, record in outputs},
        weights_digest=fields.optional("weights_digest", fields.text),
        training_modules=fields.texts("training_modules"),
        eval_applied=fields.boolean("eval_applied"),
        fingerprint=Fingerprint(
            facts=fingerprint.scalars("facts"),
            reasons={key: reasons.text(key) for key in fingerprint.mapping("reasons")},
            neutral=fingerprint.texts("neutral"),
        ),
        warnings=fields.texts("warnings"),
        duration_s=fields.optional("duration_s", fields.number) or 0.0,
    )


def _read_output(record: JsonObject) -> OutputRecord:
    return OutputRecord(
        per=record.one_of("per", ("sample", "batch")),
        dtype=record.text("dtype"),
        shape=record.shape("shape"),
        values=_read_array_file(record),
        counts=_read_array_file(record.object("counts")) if "counts" in record else None,
    )


def _read_array_file(fields: JsonObject) -> ArrayFile:
    return ArrayFile(file=fields.text("file"), sha256=fields.sha256("sha256"))
