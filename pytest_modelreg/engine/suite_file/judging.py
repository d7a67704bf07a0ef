"""Where outputs and checks of a suite do not fit each other.

What belongs here: faults that show only when outputs, checks and variants are seen
together. Each looks at what is sound, so that a misspelt key elsewhere hides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.check import (
    CHECK_NAMES,
    CLASSIFICATION_ONLY,
    DEFAULT_CHECKS,
    DETECTION_ONLY,
    EMBEDDING_ONLY,
    KINDS,
    MULTILABEL_ONLY,
    SEGMENTATION_ONLY,
    CheckPlan,
    OutputChecks,
)
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.output_path import find_entry, matches
from pytest_modelreg.engine.suite_file.cases import PlannedVariant
from pytest_modelreg.engine.suite_file.checks import list_unfit_checks, plan_checks
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath, list_names
from pytest_modelreg.engine.suite_file.limit import ChecksBlock
from pytest_modelreg.engine.suite_file.model import JudgingBlock, OutputBlock

_KINDS_OF_CHECKS: Mapping[str, frozenset[str]] = {
    "classification": CLASSIFICATION_ONLY,
    "embedding": EMBEDDING_ONLY,
    "detection": DETECTION_ONLY,
    "multilabel": MULTILABEL_ONLY,
    "segmentation": SEGMENTATION_ONLY,
}
_KINDS_OF_KEYS: Mapping[str, tuple[str, ...]] = {
    "labels": ("classification", "detection", "multilabel", "segmentation", "tokens"),
    "top_k": ("classification", "embedding"),
    **dict.fromkeys(("scores", "classes", "along", "box_format"), ("detection",)),
    "threshold": ("detection", "multilabel", "segmentation"),
    "ignore_index": ("segmentation",),
    "logits": ("tokens",),
}
_EXAMPLES: Mapping[str, str] = {
    "classification": "logits",
    "embedding": "embedding",
    "detection": "boxes",
    "multilabel": "scores",
    "segmentation": "mask",
}


def check_judging(document: Document, root: Path, log: FaultLog) -> None:
    """Note where outputs and checks do not fit each other.

    Works on what is sound of both; what can only be said of all outputs together is said
    when all of them are sound.
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
        _check_together(block, document, log)


def check_variant_judging(
    outputs: Mapping[str, OutputBlock],
    variants: Sequence[PlannedVariant],
    plans: Sequence[CheckPlan],
    document: Document,
    log: FaultLog,
) -> None:
    """Note where a variant's limits do not fit the outputs, or leave one of them without a check."""
    judged = _list_judged(outputs)
    seen: set[KeyPath] = set()
    for variant, plan in zip(variants, plans, strict=True):
        if variant.place in seen:
            continue  # the files of a checkpoint pattern, or combinations of a matrix, share their limits
        seen.add(variant.place)
        _check_kinds(judged, variant.checks, variant.place, document, log)
        for path, entry in variant.outputs.items():
            place = (*variant.place, "outputs", path)
            known = find_entry(path, outputs) or next(
                (output for declared, output in outputs.items() if matches(path, declared)), None
            )
            if known is None and outputs:
                message = f"expected an output that the suite declares, got {path!r}{suggest(path, outputs)}"
                log.add(document.line(place, of_key=True), place, message)
                continue
            kind = "tensor" if known is None else known.kind
            for name in sorted(list_unfit_checks(kind) & entry.checks.model_fields_set):
                at = (*place, "checks", name)
                log.add(document.line(at, of_key=True), at, f"expected a check for kind {kind}, got '{name}'")
        _check_remaining(judged, plan, outputs, (*variant.place, "checks"), document, log)


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
    if not isinstance(kind, str) or kind not in KINDS:
        return
    for key, kinds in _KINDS_OF_KEYS.items():
        if key in entry and kind not in kinds:
            note((key,), f"expected it on an output of kind {_list_kinds(kinds)} only, got it on kind {kind}")
    unfit = list_unfit_checks(kind)
    fitting = list_names([name for name in CHECK_NAMES if name not in unfit])
    for name in sorted(unfit & set(checks if isinstance(checks, dict) else ())):
        needed = next(needs for needs, names in _KINDS_OF_CHECKS.items() if name in names)
        note(("checks", name), f"expected {fitting} on kind {kind}, got '{name}', which needs kind: {needed}")


def _list_kinds(kinds: Sequence[str]) -> str:
    """Return ``a``, ``a or b``, ``a, b or c``."""
    return " or ".join(part for part in (", ".join(kinds[:-1]), kinds[-1]) if part)


def _sound_part(document: Document, log: FaultLog) -> tuple[dict[str, Any], bool]:
    data: dict[str, Any] = {}
    is_whole = True
    for key in ("outputs", "checks"):
        found = document.data.get(key, {})
        entries = found if isinstance(found, dict) else {}
        data[key] = {name: entry for name, entry in entries.items() if not log.has_below((key, name))}
        is_whole = is_whole and entries is found and len(data[key]) == len(entries)
    return data, is_whole


def _check_together(block: JudgingBlock, document: Document, log: FaultLog) -> None:
    judged = _list_judged(block.outputs)
    _check_kinds(judged, block.checks, (), document, log)
    plan = plan_checks(block.outputs, block.checks)
    _check_remaining(judged, plan, block.outputs, None, document, log)


def _list_judged(outputs: Mapping[str, OutputBlock]) -> dict[str, OutputBlock]:
    return {path: output for path, output in outputs.items() if output.per != "ignore"}


def _check_kinds(
    judged: Mapping[str, OutputBlock], checks: ChecksBlock, scope: KeyPath, document: Document, log: FaultLog
) -> None:
    """Note checks for all outputs that need a kind which none of them has."""
    for kind, names in _KINDS_OF_CHECKS.items():
        if any(output.kind == kind for output in judged.values()):
            continue
        for name in sorted(names & checks.model_fields_set):
            if getattr(checks, name) is not None:
                place = (*scope, "checks", name)
                log.add(
                    document.line(place, of_key=True),
                    place,
                    f"expected an output of kind {kind} for it, got none "
                    f"(declare one: outputs: {{{_EXAMPLES[kind]}: {{kind: {kind}}}}})",
                )


def _check_remaining(
    judged: Mapping[str, OutputBlock],
    plan: CheckPlan,
    outputs: Mapping[str, OutputBlock],
    scope: KeyPath | None,
    document: Document,
    log: FaultLog,
) -> None:
    """Note outputs that are left without a check; at the output, or at the variant that took the last one."""

    def note(place: KeyPath, output: str, kind: str) -> None:
        place = place if scope is None else scope
        of = "" if scope is None or not output else f" for {output}"
        log.add(
            document.line(place, of_key=True),
            place,
            f"expected at least one check{of}, got all of them off{_advice(kind)}",
        )

    for path, output in judged.items():
        if not _remains(plan.of(path), output.kind):
            note(("outputs", path), path, output.kind)
    if not outputs and not _remains(plan.default, "tensor"):
        note(("checks",), "", "tensor")


def _remains(checks: OutputChecks, kind: str) -> bool:
    return bool(checks.limits) or bool(set(DEFAULT_CHECKS[kind]) - checks.off)


def _advice(kind: str) -> str:
    return "" if kind == "classification" else " (for integers write exact: true)"
