"""A trace as JSON values, field by field, both ways.

What belongs here: which key holds which field of a trace. Long lists of small records (tensors, modules)
are written as one list a field, because a golden's record is read far more often than its trace. To add a
field, add its key to both functions; reading must give a default where older files lack it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_modelreg.domain.trace import (
    Activations,
    Behaviour,
    ExactInputs,
    ExactSample,
    InputPoints,
    LeafPoints,
    ModuleFacts,
    TensorFacts,
    Trace,
    WeightFacts,
)
from pytest_modelreg.store.file_fields import file_fields, read_file_fields
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.project_codec import read_files, read_reads, reads_fields, side_fields


def trace_fields(trace: Trace | None) -> dict[str, Any] | None:
    """Return a trace as JSON values; None where there is none."""
    if trace is None:
        return None
    fields: dict[str, Any] = {
        "exact": None if trace.exact is None else _exact_fields(trace.exact),
        "points": point_fields(trace.points),
        "weights": None if trace.weights is None else _weight_fields(trace.weights),
        "modules": [
            {"name": module.name, "settings": module.settings, "is_training": module.is_training}
            for module in trace.modules
        ],
        "activations": None if trace.activations is None else _activation_fields(trace.activations),
        "behaviour": None if trace.behaviour is None else _behaviour_fields(trace.behaviour),
        "sources": {source.file: source.sha256 for source in trace.sources},
        "source_sides": side_fields(trace.sources),
        "reads": None if trace.reads is None else reads_fields(trace.reads),
        "element_types": dict(trace.element_types),
        "model_fault": trace.model_fault,
    }
    return {key: value for key, value in fields.items() if value}


def read_trace_fields(fields: JsonObject) -> Trace:
    """Return the trace that :func:`trace_fields` wrote; raises GoldenError by key."""
    return Trace(
        exact=_read_exact(fields.object("exact")) if "exact" in fields else None,
        points=read_point_fields(fields.object("points")) if "points" in fields else None,
        weights=_read_weights(fields.object("weights")) if "weights" in fields else None,
        modules=tuple(
            ModuleFacts(
                name=module.text("name"),
                settings=module.text("settings"),
                is_training=module.boolean("is_training"),
            )
            for module in _records(fields, "modules")
        ),
        activations=_read_activations(fields.object("activations")) if "activations" in fields else None,
        behaviour=_read_behaviour(fields.object("behaviour")) if "behaviour" in fields else None,
        sources=read_files(fields, "sources", "source_sides"),
        reads=read_reads(fields.object("reads")) if "reads" in fields else None,
        element_types=_read_counts(fields, "element_types"),
        model_fault=fields.optional("model_fault", fields.text) or "",
    )


def _read_counts(fields: JsonObject, key: str) -> dict[str, int]:
    if key not in fields:
        return {}
    counts = fields.object(key)
    return {name: counts.integer(name) for name in fields.mapping(key)}


def _records(fields: JsonObject, key: str) -> Iterator[JsonObject]:
    return fields.records(key) if key in fields else iter(())


def _exact_fields(exact: ExactInputs) -> dict[str, Any]:
    return {
        **file_fields(exact.file),
        "n_bytes": exact.n_bytes,
        "samples": [
            {
                "id": sample.id,
                "sha256": sample.sha256,
                "input_digest": sample.input_digest,
                "form": sample.form,
                "offset": sample.offset,
            }
            for sample in exact.samples
        ],
    }


def _read_exact(fields: JsonObject) -> ExactInputs:
    return ExactInputs(
        file=read_file_fields(fields),
        n_bytes=fields.integer("n_bytes"),
        samples=tuple(
            ExactSample(
                id=sample.text("id"),
                sha256=sample.text("sha256"),
                input_digest=sample.optional("input_digest", sample.text),
                form=sample.mapping("form"),
                offset=sample.integer("offset"),
            )
            for sample in fields.records("samples")
        ),
    )


def point_fields(points: InputPoints | None) -> dict[str, Any] | None:
    """Return points as JSON values; None where there are none."""
    if points is None:
        return None
    return {
        **file_fields(points.file),
        "n_numbers": points.n_numbers,
        "samples": points.samples,
        "forms": [
            {
                "leaves": [
                    {
                        "path": leaf.path,
                        "dtype": leaf.dtype,
                        "shape": leaf.shape,
                        "axis": leaf.axis,
                        "n_places": leaf.n_places,
                    }
                    for leaf in form
                ]
            }
            for form in points.forms
        ],
        "form_of": points.form_of,
    }


def read_point_fields(fields: JsonObject) -> InputPoints:
    """Return the points that :func:`point_fields` wrote; raises GoldenError by key."""
    return InputPoints(
        file=read_file_fields(fields),
        n_numbers=fields.integer("n_numbers"),
        samples=fields.texts("samples"),
        forms=tuple(
            tuple(
                LeafPoints(
                    path=leaf.text("path"),
                    dtype=leaf.text("dtype"),
                    shape=leaf.shape("shape"),
                    axis=leaf.optional("axis", leaf.integer),
                    n_places=leaf.integer("n_places"),
                )
                for leaf in form.records("leaves")
            )
            for form in fields.records("forms")
        ),
        form_of=fields.shape("form_of"),
    )


def _weight_fields(weights: WeightFacts) -> dict[str, Any]:
    return {
        **file_fields(weights.file),
        "n_columns": weights.n_columns,
        "tensors": [
            {
                "name": tensor.name,
                "dtype": tensor.dtype,
                "shape": tensor.shape,
                "digest": tensor.digest,
                "is_buffer": tensor.is_buffer,
            }
            for tensor in weights.tensors
        ],
    }


def _read_weights(fields: JsonObject) -> WeightFacts:
    return WeightFacts(
        file=read_file_fields(fields),
        n_columns=fields.integer("n_columns"),
        tensors=tuple(
            TensorFacts(
                name=tensor.text("name"),
                dtype=tensor.text("dtype"),
                shape=tensor.shape("shape"),
                digest=tensor.text("digest"),
                is_buffer=tensor.boolean("is_buffer"),
            )
            for tensor in fields.records("tensors")
        ),
    )


def _activation_fields(activations: Activations) -> dict[str, Any]:
    return {
        **file_fields(activations.file),
        "n_columns": activations.n_columns,
        "samples": activations.samples,
        "calls": activations.calls,
    }


def _read_activations(fields: JsonObject) -> Activations:
    return Activations(
        file=read_file_fields(fields),
        n_columns=fields.integer("n_columns"),
        samples=fields.texts("samples"),
        calls=fields.texts("calls"),
    )


def _behaviour_fields(behaviour: Behaviour) -> dict[str, Any]:
    return {
        "rerun_rel_l2": behaviour.rerun_rel_l2,
        "seed_rel_l2": behaviour.seed_rel_l2,
        "alone_rel_l2": behaviour.alone_rel_l2,
        "mutated": behaviour.mutated,
        "unloaded": behaviour.unloaded,
        "initial": behaviour.initial,
        "strays": behaviour.strays,
        "n_loads": behaviour.n_loads,
        "untouched": behaviour.untouched,
        "train_calls": behaviour.train_calls,
        "draws": behaviour.draws,
    }


def _read_behaviour(fields: JsonObject) -> Behaviour:
    return Behaviour(
        rerun_rel_l2=fields.number("rerun_rel_l2"),
        seed_rel_l2=fields.number("seed_rel_l2"),
        # Null where it is unknown, and where it is not finite: only then a reason stands beside it.
        alone_rel_l2=(
            fields.number("alone_rel_l2")
            if "alone_rel_l2" in fields or "alone_rel_l2_reason" in fields
            else None
        ),
        mutated=fields.texts("mutated"),
        unloaded=fields.texts("unloaded"),
        initial=fields.optional("initial", fields.texts) if "initial" in fields else None,
        strays=fields.texts("strays") if "strays" in fields else (),
        n_loads=fields.integer("n_loads") if "n_loads" in fields else 0,
        untouched=fields.texts("untouched"),
        train_calls=fields.texts("train_calls"),
        draws=fields.texts("draws"),
    )
