"""What an export has frozen from its example input: a value, or the size of an axis.

What belongs here: adding to a finding on an export that its graph depends on the example, shown by exporting
with another one. Another optimisation level, provider or precision answers the same whatever the example
was, and is never told so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_modelreg.diagnose.divergence import NOISE
from pytest_modelreg.diagnose.port import DriftCase, Replay
from pytest_modelreg.diagnose.wording import name_some, number
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.example_trial import ExampleTrial, GraphPlace
from pytest_modelreg.domain.observation import RuntimeFinding

EXPORTING = ("onnx", "export")
"""Runtimes that export the model while the case runs: of a file that is there, the example is gone."""

_AXIS = "axis "
_BATCH = "axis 0 "
_GONE = 0.05
"""Another example explains a difference of which it leaves at most this share."""

_CONFIDENCE = 0.96
_FACT = 1.0  # the graph was run with other sizes, or says that it takes none


def name_frozen(finding: CauseFinding, drift: DriftCase, replay: Replay) -> CauseFinding:
    """Return a finding on an export with what its graph has frozen; as it was where nothing shows that."""
    accepted = drift.golden.observation.runtime_findings
    fresh = [found for found in drift.observation.runtime_findings if found not in accepted]
    sizes = [found for found in fresh if found.what.startswith(_AXIS)]
    is_export = drift.spec.runtime.kind in EXPORTING
    trial = replay.try_example(tries_size=bool(sizes)) if is_export and replay.has_time() else None
    evidence: dict[str, Any] = {}
    told = []
    if trial is not None and _is_value_frozen(trial, sizes):
        told.append(_tell_value(trial))
        evidence["value"] = {
            "example": trial.example,
            "rel_l2_as_exported": dict(trial.own),
            "rel_l2_with_this_example": dict(trial.again),
            "places": [_list_place(place) for place in trial.places],
        }
    if sizes:
        places = () if trial is None else trial.size_places
        told.append(_tell_sizes(sizes, () if told else places))
        evidence["sizes"] = [
            {"subject": found.subject, "what": found.what, "actual": found.actual} for found in sizes
        ]
        evidence["size_places"] = [_list_place(place) for place in places]
    if not told:
        return finding
    if trial is not None and trial.warnings:
        told[-1] += f"; torch's tracer warned at {trial.warnings[0]}"
        evidence["tracer_warnings"] = list(trial.warnings)
    return replace(
        finding,
        confidence=_FACT if sizes else max(finding.confidence, _CONFIDENCE),
        summary=f"{'; '.join(told)}; {finding.summary}",
        evidence={**finding.evidence, "frozen": evidence},
    )


def join_declared(known: Sequence[CauseFinding], found: Sequence[CauseFinding]) -> list[CauseFinding]:
    """Return what judging found, and what was found since, with a graph that is not as declared told once.

    Where it is known which size it froze, that is told instead, with the evidence of both: of either the
    confidence is that of a fact.
    """
    declared = [one for one in known if _is_declared_otherwise(one)]
    frozen = [one for one in found if "sizes" in one.evidence.get("frozen", {})]
    if not (declared and frozen):
        return [*known, *found]
    evidence = declared[0].evidence
    return [
        *(one for one in known if one not in declared),
        *(replace(one, evidence={**evidence, **one.evidence}) if one in frozen else one for one in found),
    ]


def _is_declared_otherwise(finding: CauseFinding) -> bool:
    """Whether judging found that what a runtime made of the model is not as the suite declares."""
    return finding.cause is Cause.RUNTIME_EXPORT and "findings" in finding.evidence


def _is_value_frozen(trial: ExampleTrial, sizes: list[RuntimeFinding]) -> bool:
    """Whether the graph of another example agrees where the case's own does not.

    The batches are of one size. Where another axis is frozen, and samples may differ along it, a value is
    not told from a size.
    """
    if any(not found.what.startswith(_BATCH) for found in sizes):
        return False
    own, again = trial.own.get(trial.example), trial.again.get(trial.example)
    return own is not None and again is not None and own > NOISE and again <= max(NOISE, _GONE * own)


def _tell_value(trial: ExampleTrial) -> str:
    example = trial.example
    told = (
        f"a value is frozen from the example input of the export: exported with {example} instead, the graph "
        f"agrees with the model on {example} ({number(trial.again[example])}; as the case exports it: "
        f"{number(trial.own[example])})"
    )
    others = {name: error for name, error in trial.again.items() if name != example and error > NOISE}
    if others:
        name, error = max(others.items(), key=lambda item: item[1])
        told += f" and not on {name} ({number(error)})"
    return f"{told}{_tell_place(trial.places)}"


def _tell_sizes(sizes: list[RuntimeFinding], places: tuple[GraphPlace, ...]) -> str:
    found = sizes[0]
    named = name_some([f"{found.subject}, {found.what}"], n_total=len(sizes))
    return (
        f"a size is frozen from the example input of the export: {named}: {found.actual}{_tell_place(places)}"
    )


def _tell_place(places: tuple[GraphPlace, ...]) -> str:
    if not places:
        return ""
    place = places[0]
    where = f"{place.module} (node {place.node})" if place.module else f"node {place.node}"
    return f"; the two graphs part at {where}: {place.first} and {place.second}"


def _list_place(place: GraphPlace) -> dict[str, str]:
    return {"module": place.module, "node": place.node, "first": place.first, "second": place.second}
