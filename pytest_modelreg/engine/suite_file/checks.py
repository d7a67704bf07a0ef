"""Limits of suite and outputs merged into what a case asks of each output.

What belongs here: which check applies to which output, the narrowest scope winning by
name, and the faults that show only when outputs and checks are seen together. Limits by
dtype are ``judge``'s: a suite file does not know dtypes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import (
    CHECK_NAMES,
    CLASSIFICATION_ONLY,
    DEFAULT_CHECKS,
    KINDS,
    CheckPlan,
    Limit,
    OutputChecks,
)
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath, list_names
from pytest_modelreg.engine.suite_file.limit import (
    ChecksBlock,
    ElementwiseBlock,
    NumberBlock,
)
from pytest_modelreg.engine.suite_file.model import JudgingBlock, OutputBlock


def plan_checks(outputs: Mapping[str, OutputBlock], checks: ChecksBlock) -> CheckPlan:
    """Return what is asked of every declared output, and of all others."""
    suite = _read_checks(checks, "checks")
    by_output = {}
    for path, output in outputs.items():
        wide = suite if output.kind == "classification" else _without(suite, CLASSIFICATION_ONLY)
        by_output[path] = _gather({**wide, **_read_checks(output.checks, f"outputs.{path}.checks")})
    return CheckPlan(by_output=by_output, default=_gather(_without(suite, CLASSIFICATION_ONLY)))


def describe_outputs(outputs: Mapping[str, OutputBlock]) -> dict[str, OutputSpec]:
    """Return what the suite says of every declared output."""
    return {
        path: OutputSpec(
            kind=output.kind,
            per=output.per,
            per_is_declared="per" in output.model_fields_set,
            labels=output.labels,
            top_k=output.top_k,
        )
        for path, output in outputs.items()
    }


def check_judging(document: Document, root: Path, log: FaultLog) -> None:
    """Note where outputs and checks do not fit each other.

    Works on what is sound of both, so that a misspelt key elsewhere hides nothing; what
    can only be said of all outputs together is said when all of them are sound.
    """
    outputs = document.data.get("outputs")
    for path, entry in outputs.items() if isinstance(outputs, dict) else ():
        if isinstance(entry, dict):
            _check_fit(path, entry, document, log)
    data, is_whole = _sound_part(document, log)
    block = JudgingBlock.model_validate(data, context={"root": root})
    for path, output in block.outputs.items():
        if (
            output.labels is not None
            and "top_k" in output.model_fields_set
            and output.top_k > len(output.labels)
        ):
            place = ("outputs", path, "top_k")
            got = f"expected at most the {len(output.labels)} classes of labels, got {output.top_k}"
            log.add(document.line(place), place, got)
    if is_whole:
        _check_remaining(block, document, log)


def _check_fit(path: str, entry: Mapping[str, Any], document: Document, log: FaultLog) -> None:
    """Note keys of one output that have no effect there: silence about them would mislead.

    Looks at the entry as written, so that another fault in it hides none of these.
    """
    kind, checks = entry.get("kind", "tensor"), entry.get("checks", {})
    here: KeyPath = ("outputs", path)

    def note(key: KeyPath, message: str) -> None:
        log.add(document.line((*here, *key), of_key=True), (*here, *key), message)

    if entry.get("per") == "ignore" and checks:
        note(("checks",), "expected no checks on an output with per: ignore, got some")
        return
    if kind == "classification" or not isinstance(kind, str) or kind not in KINDS:
        return
    for key in ("labels", "top_k"):
        if key in entry:
            note((key,), f"expected it on an output of kind classification only, got it on kind {kind}")
    fitting = list_names([name for name in CHECK_NAMES if name not in CLASSIFICATION_ONLY])
    for name in sorted(CLASSIFICATION_ONLY & set(checks if isinstance(checks, dict) else ())):
        message = f"expected {fitting} on kind {kind}, got '{name}', which needs kind: classification"
        note(("checks", name), message)


def _sound_part(document: Document, log: FaultLog) -> tuple[dict[str, Any], bool]:
    data: dict[str, Any] = {}
    is_whole = True
    for key in ("outputs", "checks"):
        found = document.data.get(key, {})
        entries = found if isinstance(found, dict) else {}
        data[key] = {name: entry for name, entry in entries.items() if not log.has_below((key, name))}
        is_whole = is_whole and entries is found and len(data[key]) == len(entries)
    return data, is_whole


def _check_remaining(block: JudgingBlock, document: Document, log: FaultLog) -> None:
    def note(path: KeyPath, message: str) -> None:
        log.add(document.line(path, of_key=True), path, message)

    judged = {path: output for path, output in block.outputs.items() if output.per != "ignore"}
    if block.outputs and not judged:
        note(("outputs",), "expected at least one output that is compared, got per: ignore on all of them")
        return
    if not any(output.kind == "classification" for output in judged.values()):
        for name in sorted(CLASSIFICATION_ONLY & block.checks.model_fields_set):
            if getattr(block.checks, name) is not None:
                note(
                    ("checks", name),
                    "expected an output of kind classification for it, got none "
                    "(declare one: outputs: {logits: {kind: classification}})",
                )
    plan = plan_checks(block.outputs, block.checks)
    for path, output in judged.items():
        if not _remains(plan.of(path), output.kind):
            note(("outputs", path), f"expected at least one check, got all of them off{_advice(output.kind)}")
    if not block.outputs and not _remains(plan.default, "tensor"):
        note(("checks",), f"expected at least one check, got all of them off{_advice('tensor')}")


def _remains(checks: OutputChecks, kind: str) -> bool:
    return bool(checks.limits) or bool(set(DEFAULT_CHECKS[kind]) - checks.off)


def _advice(kind: str) -> str:
    return "" if kind == "classification" else " (for integers write exact: true)"


def _read_checks(checks: ChecksBlock, source: str) -> dict[str, Limit | None]:
    """Return the limits that are written, None for those that are off."""
    return {
        name: _read_limit(name, getattr(checks, name), f"{source}.{name}")
        for name in CHECK_NAMES
        if name in checks.model_fields_set
    }


def _read_limit(name: str, block: Any, source: str) -> Limit | None:
    if block is None:
        return None
    if isinstance(block, NumberBlock):
        return Limit(name=name, value=block.number, tags=dict(block.tags), source=source)
    if isinstance(block, ElementwiseBlock):
        return Limit(name=name, rtol=block.rtol, atol=block.atol, source=source)
    return Limit(name=name, source=source)


def _without(limits: Mapping[str, Limit | None], names: frozenset[str]) -> dict[str, Limit | None]:
    return {name: limit for name, limit in limits.items() if name not in names}


def _gather(limits: Mapping[str, Limit | None]) -> OutputChecks:
    found = [limits[name] for name in CHECK_NAMES if name in limits]
    return OutputChecks(
        limits=tuple(limit for limit in found if limit is not None),
        off=frozenset(name for name, limit in limits.items() if limit is None),
    )
