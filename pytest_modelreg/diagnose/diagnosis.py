"""A drift explained: the steps in order, each asked only where what came before left it open.

What belongs here: the order. Each step is a module that returns findings; to add one, call it from
:func:`explain_drift` at the place at which its answer is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.diagnose.divergence import find_divergence, list_evidence, tell_divergence
from pytest_modelreg.diagnose.elsewhere import join_environment
from pytest_modelreg.diagnose.environment import explain_environment
from pytest_modelreg.diagnose.frozen import join_declared
from pytest_modelreg.diagnose.model import explain_batch, explain_chance, explain_code, explain_mode
from pytest_modelreg.diagnose.port import DriftCase, Replay
from pytest_modelreg.diagnose.preprocessing import explain_preprocessing
from pytest_modelreg.diagnose.project import name_input_code
from pytest_modelreg.diagnose.ranking import rank_findings
from pytest_modelreg.diagnose.runtime import explain_runtime
from pytest_modelreg.diagnose.traits import find_common_trait
from pytest_modelreg.diagnose.weights import explain_weights
from pytest_modelreg.diagnose.wording import count
from pytest_modelreg.domain.cause import Cause, CauseFinding

_MODEL_SIDE = (Cause.WEIGHTS_CHANGED, Cause.WEIGHTS_NOT_LOADED, Cause.MODEL_MODE, Cause.MODEL_CODE)
_SEEN = 0.99
_BESIDE_CHANCE = 0.5  # what random inputs look like, they look like by chance
_SHOWN = 0.9
_LIKELY = 0.7
_LARGEST_SUBSET = 2 / 3  # of more than that, what is in common is what most samples are


def explain_drift(drift: DriftCase, replay: Replay) -> tuple[CauseFinding, ...]:
    """Return why a case drifted, the best explanation first; ``unknown`` where none was found.

    Affects no verdict. Stops between two steps when the time is used up.

    Parameters
    ----------
    drift : DriftCase
        Both sides, and what judging found already.
    replay : Replay
        Runs the case again with one thing changed.
    """
    known = [_trust(finding, drift) for finding in drift.result.causes if finding.cause is not Cause.UNKNOWN]
    evidence = explain_preprocessing(drift, replay)
    found = [*known, *_doubt_beside_chance(evidence.findings, known)]
    if not evidence.is_model_innocent:
        found = join_declared(found, _explain_model(drift, replay))
    is_elsewhere = drift.spec.environment is not None
    if (is_elsewhere or not _has(found, _SHOWN)) and replay.has_time():
        environment = explain_environment(drift, replay, may_guess=not _has(found, _LIKELY))
        found = join_environment(drift, found, environment)
    if not found:
        found = [_admit(drift, replay)]
    ranked = _note_unwatched(drift, rank_findings(name_input_code(drift, found)))
    return _name_trait(drift, ranked)


def _trust(finding: CauseFinding, drift: DriftCase) -> CauseFinding:
    """Return what judging found with the confidence that it has when nothing else was found."""
    habit = finding.evidence.get("habit")
    then = {habit.habit for habit in drift.golden.observation.habits}
    if habit is not None and habit not in then:
        return replace(finding, confidence=_SEEN)
    return replace(finding, confidence=_SEEN) if finding.cause is Cause.TIE_ORDER else finding


def _doubt_beside_chance(
    findings: Iterable[CauseFinding], known: Iterable[CauseFinding]
) -> list[CauseFinding]:
    """Return findings on inputs, with less confidence where these inputs are not the same twice."""
    is_chance = any("habit" in finding.evidence and finding.confidence >= _SEEN for finding in known)
    return [
        replace(finding, confidence=min(finding.confidence, _BESIDE_CHANCE)) if is_chance else finding
        for finding in findings
    ]


def _explain_model(drift: DriftCase, replay: Replay) -> list[CauseFinding]:
    """Return what the model and the way it is run have to do with a drift."""
    mode = explain_mode(drift)
    runtime = explain_runtime(drift, replay) if replay.has_time() else []
    if runtime:  # the model itself agrees; a transform may still have left it in another mode
        return [*mode, *explain_chance(drift), *runtime]
    chance = explain_chance(drift)
    if mode:  # dropout draws, and running statistics move: that is the same cause told twice
        chance = [replace(finding, confidence=finding.confidence * 0.5) for finding in chance]
    found = [*explain_weights(drift), *mode, *chance, *explain_code(drift)]
    if replay.has_time():
        found += explain_batch(drift, replay)
    if replay.has_time():
        found = _name_module(drift, replay, found)
    return found


def _name_module(drift: DriftCase, replay: Replay, found: list[CauseFinding]) -> list[CauseFinding]:
    """Add to the explanations on the model's side at which module it first parts from the golden's."""
    then = drift.then
    if then is None or then.trace.activations is None:
        return found
    now = replay.trace_on_golden() if drift.changed_inputs else drift.today
    divergence = None if now is None else find_divergence(then, now)
    if divergence is None:
        return found
    evidence = list_evidence(divergence)
    told = tell_divergence(evidence)
    named = [
        replace(
            finding,
            summary=f"{finding.summary}; {told}",
            evidence={**finding.evidence, "divergence": evidence},
        )
        if finding.cause in _MODEL_SIDE
        else finding
        for finding in found
    ]
    if found:
        return named
    # Same weights, mode and settings, and still another answer: something was computed otherwise.
    return [
        CauseFinding(cause=Cause.MODEL_CODE, confidence=0.4, summary=told, evidence={"divergence": evidence})
    ]


def _has(found: Iterable[CauseFinding], confidence: float) -> bool:
    return any(finding.confidence >= confidence for finding in found)


def _note_unwatched(drift: DriftCase, ranked: tuple[CauseFinding, ...]) -> tuple[CauseFinding, ...]:
    """Add to the first explanation why the model's modules could not be watched, where they could not."""
    if not drift.trace_fault:
        return ranked
    first, *others = ranked
    return (replace(first, evidence={**first.evidence, "not_watched": drift.trace_fault}), *others)


def _admit(drift: DriftCase, replay: Replay) -> CauseFinding:
    """Return that no cause was found, and what was ruled out."""
    ruled_out = []
    if not drift.changed_inputs and drift.result.inputs_identical:
        ruled_out.append("the inputs are the golden's")
    then, now = drift.golden.observation.weights_digest, drift.observation.weights_digest
    if then is not None and then == now:
        ruled_out.append("so are the weights")
    if drift.then is None:
        ruled_out.append("the golden keeps no trace to compare with: modelreg regen records one")
    if drift.trace_fault:
        ruled_out.append(f"its modules could not be watched: {drift.trace_fault}")
    if not replay.has_time():
        ruled_out.append("the time for diagnosis was used up: --modelreg-diagnose full takes what it needs")
    told = "; ".join(ruled_out)
    return CauseFinding(
        cause=Cause.UNKNOWN,
        confidence=0.0,
        summary=f"no cause was found{f': {told}' if told else ''}",
        evidence={"ruled_out": ruled_out},
    )


def _name_trait(drift: DriftCase, ranked: tuple[CauseFinding, ...]) -> tuple[CauseFinding, ...]:
    """Add to the first explanation what the drifting samples have in common, when they are a subset."""
    drifted = drift.result.drifted_samples
    samples = drift.spec.samples
    if not ranked or not drifted or len(drifted) > _LARGEST_SUBSET * drift.result.n_samples:
        return ranked
    known = set(drift.result.measures.ids) or {sample.id for sample in samples.samples}
    rows = [sample for sample in samples.samples if sample.id in known]
    trait = find_common_trait(
        {sample.id: Path(samples.folder, sample.file) for sample in rows},
        drifted,
        tags={sample.id: sample.tags for sample in rows},
        labels={sample.id: sample.label for sample in rows if sample.label},
    )
    if trait is None:
        return ranked
    first = ranked[0]
    told = f"{count(len(drifted), 'sample')} of {drift.result.n_samples}: {trait}"
    return (
        replace(
            first,
            summary=f"{first.summary} ({told})",
            evidence={**first.evidence, "samples_in_common": trait},
        ),
        *ranked[1:],
    )
