"""An observation as JSON values, field by field, both ways.

What belongs here: which key holds which field of an observation, inside ``golden.json`` and
``observation.json`` alike. To add a field, add its key to the writing and to the reading
function; reading must give a default where older files of the same format version lack the key.
"""

from __future__ import annotations

from typing import Any

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.observation import (
    InputProbes,
    Observation,
    ObservedSample,
    OutputRecord,
    PreprocessHabit,
    RuntimeFinding,
    Stage,
)
from pytest_modelreg.store.file_fields import file_fields, read_file_fields
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.trace_codec import (
    point_fields,
    read_point_fields,
    read_trace_fields,
    trace_fields,
)


def observation_fields(observation: Observation) -> dict[str, Any]:
    """Return an observation as JSON values, its duration left out."""
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
        **_optional_fields(observation),
    }


def _optional_fields(observation: Observation) -> dict[str, Any]:
    """Return what not every observation has: a file from before these were recorded has none either."""
    fields: dict[str, Any] = {
        "stages": [
            {"name": stage.name, "description": stage.description, "digests": stage.digests}
            for stage in observation.stages
        ],
        "checklist": observation.checklist,
        "habits": [
            {"habit": habit.habit, "samples": habit.samples, "summary": habit.summary}
            for habit in observation.habits
        ],
        "runtime_findings": [
            {
                "subject": finding.subject,
                "what": finding.what,
                "expected": finding.expected,
                "actual": finding.actual,
            }
            for finding in observation.runtime_findings
        ],
        "input_probes": _probe_fields(observation.input_probes),
        "input_points": point_fields(observation.input_points),
        "trace": trace_fields(observation.trace),
    }
    return {key: value for key, value in fields.items() if value}


def _read_optional(fields: JsonObject) -> dict[str, Any]:
    """Return the arguments of an observation that :func:`_optional_fields` wrote."""
    read: dict[str, Any] = {}
    if "stages" in fields:
        read["stages"] = tuple(
            Stage(
                name=stage.text("name"),
                description=stage.text("description"),
                digests=stage.texts("digests"),
            )
            for stage in fields.records("stages")
        )
    if "checklist" in fields:
        read["checklist"] = fields.mapping("checklist")
    if "habits" in fields:
        read["habits"] = tuple(
            PreprocessHabit(
                habit=habit.text("habit"), samples=habit.texts("samples"), summary=habit.text("summary")
            )
            for habit in fields.records("habits")
        )
    if "runtime_findings" in fields:
        read["runtime_findings"] = tuple(
            RuntimeFinding(
                subject=finding.text("subject"),
                what=finding.text("what"),
                expected=finding.text("expected"),
                actual=finding.text("actual"),
            )
            for finding in fields.records("runtime_findings")
        )
    if "input_probes" in fields:
        probes = fields.object("input_probes")
        read["input_probes"] = InputProbes(
            file=read_file_fields(probes),
            n_columns=probes.integer("n_columns"),
            forms=probes.texts("forms"),
        )
    if "input_points" in fields:
        read["input_points"] = read_point_fields(fields.object("input_points"))
    if "trace" in fields:
        read["trace"] = read_trace_fields(fields.object("trace"))
    return read


def _probe_fields(probes: InputProbes | None) -> dict[str, Any] | None:
    if probes is None:
        return None
    return {**file_fields(probes.file), "n_columns": probes.n_columns, "forms": probes.forms}


def _output_fields(record: OutputRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "per": record.per,
        "dtype": record.dtype,
        "shape": record.shape,
        **file_fields(record.values),
    }
    if record.counts is not None:
        fields["counts"] = file_fields(record.counts)
    return fields


def read_observation(fields: JsonObject) -> Observation:
    """Return the observation that :func:`observation_fields` wrote; raises GoldenError by key."""
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
        **_read_optional(fields),
        duration_s=fields.optional("duration_s", fields.number) or 0.0,
    )


def _read_output(record: JsonObject) -> OutputRecord:
    return OutputRecord(
        per=record.one_of("per", ("sample", "batch")),
        dtype=record.text("dtype"),
        shape=record.shape("shape"),
        values=read_file_fields(record),
        counts=read_file_fields(record.object("counts")) if "counts" in record else None,
    )
