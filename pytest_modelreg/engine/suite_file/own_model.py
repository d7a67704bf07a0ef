"""Cases whose runtime brings a model of its own, and what they say of another one.

What belongs here: keys that such a runtime never looks at. A checkpoint that is not opened must not pass
for one that agrees. To add a key that is the model's alone, add it to ``domain.case.MODEL_KEYS``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_modelreg.domain.case import MODEL_KEYS
from pytest_modelreg.engine.suite_file.axis_value import RuntimeBlock, runs_a_model
from pytest_modelreg.engine.suite_file.cases import PlannedVariant
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath
from pytest_modelreg.engine.suite_file.model import SuiteBlock


def check_own_models(
    block: SuiteBlock, variants: Sequence[PlannedVariant], document: Document, log: FaultLog
) -> None:
    """Note cases that say something of a model which their runtime does not run.

    What a variant takes over from the reference is replaced by the runtime together with the model. The
    reference itself may describe a model that only variants run.
    """
    runtimes = [_find_runtime(variant, block) for variant in variants]
    reference: KeyPath = ("reference",)
    if not any(runs_a_model(_write(runtime)) for runtime in (block.reference.runtime, *runtimes)):
        written = {key: getattr(block.reference, key) for key in document.value(reference)}
        _note(reference, written, block.reference.runtime, "no case runs a model; take it out", document, log)
    seen: set[tuple[KeyPath, str]] = set()
    for variant, runtime in zip(variants, runtimes, strict=True):
        if not runs_a_model(_write(runtime)) and (variant.place, runtime.kind) not in seen:
            seen.add((variant.place, runtime.kind))  # files of a pattern, combinations of a matrix
            advice = _advise(variant, block)
            _note(variant.place, variant.replaced, runtime, advice, document, log)


def _write(runtime: RuntimeBlock) -> dict[str, Any]:
    return {"kind": runtime.kind, **runtime.options}


def _find_runtime(variant: PlannedVariant, block: SuiteBlock) -> RuntimeBlock:
    runtime: RuntimeBlock = variant.replaced.get("runtime") or block.reference.runtime
    return runtime


def _note(
    place: KeyPath,
    written: Mapping[str, Any],
    runtime: RuntimeBlock,
    advice: str,
    document: Document,
    log: FaultLog,
) -> None:
    for key in MODEL_KEYS:
        if written.get(key):
            path = document.nearest((*place, key))
            message = (
                f"expected no {key} beside the runtime {runtime.kind}, which brings a model of its own and "
                f"would never look at it; {advice}"
            )
            log.add(document.line(path, of_key=True), path, message)


def _advise(variant: PlannedVariant, block: SuiteBlock) -> str:
    if block.matrix is None or variant.place != ("matrix",) or block.matrix.runtime is None:
        return "take it out, or say runtime: eager"
    name = next(name for name, value in block.matrix.runtime.items() if value is variant.replaced["runtime"])
    return f"leave it out (exclude: [{{runtime: {name}}}]) and give that runtime a variant of its own"
