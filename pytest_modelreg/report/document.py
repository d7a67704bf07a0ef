"""The report as a document of builtin values: what ``--modelreg-json`` writes.

The keys are a public format: the same for every case, whatever its verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.result import CaseResult, OutputMeasures
from pytest_modelreg.report.strict_json import finite

REPORT_VERSION = 1
MAX_SAMPLES = 20
"""Samples that a record details; ``drifted_samples`` lists all ids."""


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Facts of a run as a whole.

    Parameters
    ----------
    started : str
        ISO 8601, UTC.
    partial : bool
        Whether something kept cases from running (selection, an early stop, a lost
        worker), so that a missing record proves nothing.
    shard : mapping or None
        Which part of a run it is, by number, count and case ids; None for a run of its own, whose report
        does not have the key.
    """

    id: str
    started: str
    duration_s: float
    git_commit: str | None
    git_dirty: bool | None
    partial: bool
    shard: Mapping[str, Any] | None = None


def report_document(
    run: RunFacts, environment: Mapping[str, Any], records: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Assemble the report from the records of its cases, in the order given."""
    return {
        "modelreg_report": REPORT_VERSION,
        "run": {
            "id": run.id,
            "started": run.started,
            "duration_s": round(run.duration_s, 3),
            "git": {"commit": run.git_commit, "dirty": run.git_dirty},
            "partial": run.partial,
            **({} if run.shard is None else {"shard": dict(run.shard)}),
        },
        "environment": dict(environment),
        "cases": [dict(record) for record in records],
    }


def case_record(result: CaseResult) -> dict[str, Any]:
    """Return one case as builtin scalars, lists and mappings, non-finite numbers as null."""
    return finite(
        {
            "id": result.id,
            "suite": result.suite,
            "variant": result.variant,
            "axes": dict(result.axes),
            "verdict": result.verdict.value,
            "message": result.message,
            "outputs": {path: _output_record(measures) for path, measures in result.outputs.items()},
            "checks": [
                {
                    "name": check.name,
                    "output": check.output,
                    "tag": check.tag,
                    "value": check.value,
                    "limit": check.limit,
                    "ok": check.ok,
                    "source": check.source,
                }
                for check in result.checks
            ],
            "n_samples": result.n_samples,
            "drifted_samples": list(result.drifted_samples),
            "samples": [
                {
                    "id": sample.id,
                    "ok": sample.ok,
                    "rel_l2": sample.rel_l2,
                    "expected": sample.expected,
                    "actual": sample.actual,
                    "near_tie": sample.near_tie,
                }
                for sample in result.samples[:MAX_SAMPLES]
            ],
            "inputs_identical": result.inputs_identical,
            "causes": [
                {
                    "cause": finding.cause.value,
                    "confidence": finding.confidence,
                    "summary": finding.summary,
                    "evidence": dict(finding.evidence),
                }
                for finding in result.causes
            ],
            "environment_changes": [
                {"key": change.key, "expected": change.expected, "actual": change.actual}
                for change in result.environment_changes
            ],
            "structure": [
                {
                    "output": finding.output,
                    "what": finding.what,
                    "expected": finding.expected,
                    "actual": finding.actual,
                }
                for finding in result.structure
            ],
            "notes": list(result.notes),
            "duration_s": round(result.duration_s, 3),
        }
    )


def _output_record(measures: OutputMeasures) -> dict[str, Any]:
    record: dict[str, Any] = {
        "dtype": measures.dtype,
        "shape": list(measures.shape),
        "n_total": measures.n_total,
        "n_mismatched": measures.n_mismatched,
        "rel_l2": measures.rel_l2,
        "max_abs": measures.max_abs,
        "mean_abs": measures.mean_abs,
        "rms_abs": measures.rms_abs,
        "max_rel": measures.max_rel,
        "cosine_min": measures.cosine_min,
        "nan_expected": measures.nan_expected,
        "nan_actual": measures.nan_actual,
    }
    if measures.max_rel is None:
        record["max_rel_reason"] = "not defined: every expected value is zero"
    if measures.cosine_min is None:
        record["cosine_min_reason"] = "not defined: no row has a direction on both sides"
    return record
