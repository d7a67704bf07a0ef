"""Whether the model itself agrees and only the way in which it is run does not.

What belongs here: causes ``runtime.export``, ``runtime.optimization`` and ``runtime.precision``, found by
switching one thing at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_modelreg.diagnose.divergence import find_divergence
from pytest_modelreg.diagnose.frozen import EXPORTING, name_frozen
from pytest_modelreg.diagnose.port import Answer, Change, DriftCase, Replay
from pytest_modelreg.diagnose.weights import compare_weights, explain_weights, find_rounding
from pytest_modelreg.diagnose.wording import name_some, number
from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.cause import Cause, CauseFinding

_PRECISION_AXES = ("dtype", "autocast")
_FEW_BITS = ("float16", "bfloat16", "float8e4m3fn", "float8e5m2", "int8", "uint8", "int4", "uint4")
"""Element types that weights are rounded to so that a file is smaller."""

_INDEX_TYPES = ("int64", "int32", "bool", "string")
"""Of shapes and places: never of weights."""


def explain_runtime(drift: DriftCase, replay: Replay) -> list[CauseFinding]:
    """Return what the way of running has to do with a drift; empty where the case runs as the golden did."""
    spec = drift.spec
    if not _has_runtime_side(drift) or spec.model is None:
        return []
    plain = Change(
        label="eager, without transform, dtype and autocast",
        runtime=RuntimeSpec(),
        resets=_PRECISION_AXES,
    )
    answer = replay.ask(plain)
    evidence: dict[str, Any] = {"replays": [answer.as_evidence(plain.label)]}
    if not answer.agrees:
        return []
    if "path" in spec.runtime.options and (weights := explain_weights(drift)):
        return weights  # of the file's own model, which the suite's, run in eager mode, says nothing of
    if spec.runtime == RuntimeSpec() and (spec.dtype is None) != (spec.autocast is None):
        # There was one thing to switch off, and it has been.
        return [_blame(Cause.RUNTIME_PRECISION, _name_precision(spec), evidence, answer, confidence=0.95)]
    if spec.environment is not None and spec.runtime.kind in EXPORTING and replay.has_time():
        # A process of its own exports anew: when that alone ends the drift, no switch shows anything.
        again = Change(label="exported again, with drifting samples as its example")
        outcome = replay.ask(again)
        evidence["replays"].append(outcome.as_evidence(again.label))
        if outcome.agrees:
            told = f"what runtime {_name_runtime(spec)} froze from the example input of its export"
            return [_blame(Cause.RUNTIME_EXPORT, told, evidence, answer, confidence=0.9)]
    for change, cause, told in _list_switches(spec):
        if not replay.has_time():
            break
        outcome = replay.ask(change)
        evidence["replays"].append(outcome.as_evidence(change.label))
        if outcome.agrees:
            found = _blame(cause, told, evidence, answer, confidence=0.95)
            return [_look_into_graph(found, drift, replay)]
    if spec.runtime.transform is not None and spec.dtype is None and spec.autocast is None:
        told = f"transform {spec.runtime.transform}"
        return [_blame_transform(drift, told, evidence, answer)]
    if spec.runtime.kind == "eager":
        return [_blame(Cause.RUNTIME_PRECISION, _name_precision(spec), evidence, answer, confidence=0.8)]
    if "path" in spec.runtime.options and (precision := _find_precision(replay)):
        return [
            _blame(
                Cause.RUNTIME_PRECISION,
                f"{_name_runtime(spec)}: {precision}",
                evidence,
                answer,
                confidence=0.9,
            )
        ]
    told = f"what runtime {_name_runtime(spec)} made of the model"
    found = _blame(Cause.RUNTIME_EXPORT, told, evidence, answer, confidence=0.9)
    return [_look_into_graph(found, drift, replay)]


def _find_precision(replay: Replay) -> str:
    """Return that weights of a graph in a file are of few bits; empty where they are not, or unknown."""
    traces = replay.trace_graph() if replay.has_time() else None
    if traces is None:
        return ""
    counts = {
        name: number for name, number in traces[1].trace.element_types.items() if name not in _INDEX_TYPES
    }
    few = {name: number for name, number in counts.items() if name in _FEW_BITS}
    if not few:
        return ""
    total = sum(counts.values())
    return name_some([f"{number} of {total} initialisers are {name}" for name, number in few.items()])


def _look_into_graph(finding: CauseFinding, drift: DriftCase, replay: Replay) -> CauseFinding:
    """Add where the graph leaves the model and, of an export, what it has frozen from its example."""
    if finding.cause is Cause.RUNTIME_PRECISION:
        return finding
    if finding.cause is not Cause.RUNTIME_EXPORT:
        return _name_node(finding, replay)
    frozen = name_frozen(finding, drift, replay)
    named = _name_node(frozen, replay)
    # A constant that was found says more than the first module behind it, which stays in the evidence.
    return named if frozen is finding else replace(named, summary=frozen.summary)


def _blame_transform(drift: DriftCase, told: str, evidence: dict[str, Any], answer: Answer) -> CauseFinding:
    """Return what a transform did: it rounds or quantises, or it makes another model."""
    then, now = drift.then, drift.today
    cause, hint = Cause.RUNTIME_PRECISION, ""
    if (
        then is not None
        and now is not None
        and then.trace.weights is not None
        and now.trace.weights is not None
    ):
        change = compare_weights(then, now)
        is_same_kind = not (change.reshaped or change.missing or change.unexpected)
        if change.changed and is_same_kind and find_rounding(change) is None:
            cause, largest = Cause.WEIGHTS_CHANGED, max(change.changed.values())
            hint = (
                f" changes {len(change.changed)} of {change.n_tensors} tensors, by a rel_l2 of about "
                f"{number(largest)} at most ({name_some(tuple(change.changed))})"
            )
    return _blame(cause, f"{told}{hint}", evidence, answer, confidence=0.93)


def _name_node(finding: CauseFinding, replay: Replay) -> CauseFinding:
    """Add at which module, and which node of the graph, the exported model leaves the one in eager mode."""
    traces = replay.trace_graph() if replay.has_time() else None
    divergence = None if traces is None else find_divergence(*traces, may_be_fused=True)
    if traces is None or divergence is None:
        return finding
    nodes = {module.name: module.settings for module in traces[1].trace.modules}
    node = nodes.get(divergence.module, "")
    return replace(
        finding,
        summary=f"{finding.summary}; the graph leaves the model at {divergence.module} (node {node}: "
        f"{number(divergence.after)} there, {number(divergence.before)} before it)",
        evidence={
            **finding.evidence,
            "first_module": divergence.module,
            "first_node": node,
            "rel_l2_before": divergence.before,
            "rel_l2_after": divergence.after,
        },
    )


def _has_runtime_side(drift: DriftCase) -> bool:
    spec = drift.spec
    then = drift.golden.observation.fingerprint.facts.get("runtime.kind", "eager")
    return (
        spec.runtime.kind != then
        or spec.runtime.kind != "eager"
        or spec.runtime.transform is not None
        or spec.dtype is not None
        or spec.autocast is not None
    )


def _list_switches(spec: CaseSpec) -> list[tuple[Change, Cause, str]]:
    """Return single switches, each with what it shows when the drift goes with it."""
    switches: list[tuple[Change, Cause, str]] = []
    runtime = spec.runtime
    exported = runtime.kind != "eager"
    for axis in _PRECISION_AXES:
        value = getattr(spec, axis)
        if value is not None:
            switches.append(
                (
                    Change(label=f"without {axis}: {value}", resets=(axis,)),
                    Cause.RUNTIME_PRECISION,
                    f"{axis} {value}",
                )
            )
    if runtime.transform is not None and exported:
        switches.append(
            (
                Change(
                    label=f"without transform {runtime.transform}", runtime=replace(runtime, transform=None)
                ),
                Cause.RUNTIME_PRECISION,
                f"transform {runtime.transform}",
            )
        )
    if runtime.kind in ("onnx", "onnx-file") and runtime.options.get("optimization") != "disabled":
        options = {**runtime.options, "optimization": "disabled"}
        switches.append(
            (
                Change(label="optimization: disabled", runtime=replace(runtime, options=options)),
                Cause.RUNTIME_OPTIMIZATION,
                f"optimisation level {runtime.options.get('optimization', 'all')} of ONNX Runtime",
            )
        )
    if runtime.kind in ("onnx", "onnx-file") and runtime.options.get("providers"):
        options = {**runtime.options, "providers": ["CPUExecutionProvider"]}
        switches.append(
            (
                Change(label="provider CPUExecutionProvider", runtime=replace(runtime, options=options)),
                Cause.RUNTIME_PRECISION,
                f"providers {runtime.options['providers']}",
            )
        )
    if runtime.kind == "onnx":
        other = "torchscript" if runtime.options.get("exporter", "dynamo") == "dynamo" else "dynamo"
        kept = {key: runtime.options[key] for key in ("dynamic", "providers") if key in runtime.options}
        switches.append(
            (
                Change(
                    label=f"exporter: {other}",
                    runtime=replace(runtime, options={**kept, "exporter": other}),
                ),
                Cause.RUNTIME_EXPORT,
                f"exporter {runtime.options.get('exporter', 'dynamo')}",
            )
        )
    return switches


def _name_runtime(spec: CaseSpec) -> str:
    path = spec.runtime.options.get("path")
    return f"{spec.runtime.kind} ({path})" if path else spec.runtime.kind


def _name_precision(spec: CaseSpec) -> str:
    named = [f"{axis} {getattr(spec, axis)}" for axis in _PRECISION_AXES if getattr(spec, axis) is not None]
    if spec.runtime.transform is not None:
        named.append(f"transform {spec.runtime.transform}")
    return " or ".join(named)


def _blame(
    cause: Cause, what: str, evidence: dict[str, Any], plain: Answer, *, confidence: float
) -> CauseFinding:
    return CauseFinding(
        cause=cause,
        confidence=confidence,
        summary=f"{what}: the model itself, run in eager mode on the same inputs, agrees with the golden "
        f"({number(plain.rel_l2)}; as the case runs it: {number(plain.before)})",
        evidence=evidence,
    )
