"""Observations and goldens as JSON objects, field by field, both ways.

What belongs here: the one place that says which key holds which field. To add a
field, add its key to the writing and to the reading function; reading must give a
default where older files of the same format version lack the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg import __version__
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.domain.golden import FORMAT_VERSION, Acceptance, Golden, OutputProfile
from pytest_modelreg.domain.observation import ArrayFile, Observation, ObservedSample, OutputRecord
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.json_text import parse_json, render_json
from pytest_modelreg.store.naming import shown

GOLDEN_KEY = "modelreg_golden"
OBSERVATION_KEY = "modelreg_observation"


def encode_golden(golden: Golden, *, summary: Mapping[str, str]) -> bytes:
    """Return the bytes of ``golden.json``.

    The duration is left out: a golden must not differ because of time.

    Parameters
    ----------
    summary : mapping of str to str
        ``file`` and ``sha256`` of the table for people that lies beside.
    """
    accepted = golden.accepted
    fields = {
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
        "summary": dict(summary),
    }
    if golden.noise_floor:
        fields["noise_floor"] = dict(golden.noise_floor)
    return render_json(fields)


def decode_golden(data: bytes, path: Path) -> Golden:
    """Read the bytes of ``golden.json``.

    Raises
    ------
    GoldenError
        When the bytes are no JSON or a field is missing or of another type: file, key,
        what was expected and what was got, in one line.
    GoldenFormatError
        When the format is newer than this release reads.
    """
    fields = _open(data, path, GOLDEN_KEY)
    accepted = fields.object("accepted")
    floor = fields.object("noise_floor") if "noise_floor" in fields else None
    return Golden(
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
    )


def encode_observation(observation: Observation) -> bytes:
    """Return the bytes of ``observation.json``, duration included."""
    fields = {OBSERVATION_KEY: FORMAT_VERSION, **_observation_fields(observation)}
    return render_json({**fields, "duration_s": observation.duration_s})


def decode_observation(data: bytes, path: Path) -> Observation:
    """Read the bytes of ``observation.json``; raises as :func:`decode_golden`."""
    return _read_observation(_open(data, path, OBSERVATION_KEY))


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
        "file": record.values.file,
        "sha256": record.values.sha256,
    }
    if record.counts is not None:
        fields["counts"] = {"file": record.counts.file, "sha256": record.counts.sha256}
    return fields


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
                id=sample.text("id"), sha256=sample.text("sha256"), input_digest=sample.text("input_digest")
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
