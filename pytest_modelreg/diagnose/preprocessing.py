"""What preprocessing has to do with a drift: the inputs first, then whether they explain it.

What belongs here: bringing together what the stages say, what replays on the inputs show, and what the
model answers on the inputs that the golden keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pytest_modelreg.diagnose.port import Answer, Change, DriftCase, Replay
from pytest_modelreg.diagnose.stages import StageChange, find_stage_change
from pytest_modelreg.diagnose.wording import N_LISTED, count, number
from pytest_modelreg.domain.cause import Cause, CauseFinding

ON_GOLDEN = Change(label="the golden's inputs")

_VAGUE = (Cause.PREPROCESS_OTHER,)
_LINES = {Cause.PREPROCESS_VALUE_RANGE, Cause.PREPROCESS_NORMALIZATION}
_SURE = 0.98
_BESIDE = 0.6
_MOVING = 0.02  # of a drift: less is what rounding of inputs makes


@dataclass(frozen=True, kw_only=True)
class InputEvidence:
    """What is known of the inputs.

    Parameters
    ----------
    findings : tuple of CauseFinding
        Best first.
    answer : Answer or None
        What the model answers on the golden's inputs; None where it was fed these anyway.
    """

    findings: tuple[CauseFinding, ...] = ()
    answer: Answer | None = None

    @property
    def is_model_innocent(self) -> bool:
        """Whether the model answers as the golden's on the golden's inputs."""
        return self.answer is not None and self.answer.agrees is True


def explain_preprocessing(drift: DriftCase, replay: Replay) -> InputEvidence:
    """Return what changed between a sample's file and the model, and whether that explains the drift."""
    changed = drift.changed_inputs
    if not changed:
        return InputEvidence()
    answer = replay.ask(ON_GOLDEN)
    stage = find_stage_change(drift.golden.observation, drift.observation)
    findings = list(replay.explain_inputs()) if replay.has_time() else []
    findings = _merge_stage(findings, stage)
    if not findings:
        findings = [_blame_inputs(changed)]
    return InputEvidence(
        findings=tuple(_weigh(finding, answer, changed) for finding in findings), answer=answer
    )


def _merge_stage(findings: list[CauseFinding], stage: StageChange | None) -> list[CauseFinding]:
    """Let the stage that differs speak first, under the name that the replay found for it."""
    if stage is None:
        return findings
    evidence: dict[str, Any] = {
        "stage": {
            "name": stage.name,
            "position": stage.position,
            "expected": stage.expected,
            "actual": stage.actual,
            "n_samples": stage.n_samples,
        }
    }
    if findings and findings[0].cause not in _VAGUE:
        first = findings[0]
        # A scaling and a normalisation are one line through the numbers; the stage says which it is.
        cause = stage.cause if {stage.cause, first.cause} == _LINES else first.cause
        merged = replace(
            first,
            cause=cause or first.cause,
            confidence=max(first.confidence, 0.9),
            summary=f"{stage}; {first.summary}",
            evidence={**first.evidence, **evidence},
        )
        return [merged, *findings[1:]]
    cause = stage.cause
    if cause is None:
        return [
            replace(finding, summary=f"{stage}; {finding.summary}", evidence={**finding.evidence, **evidence})
            for finding in findings
        ] or [
            CauseFinding(cause=Cause.PREPROCESS_OTHER, confidence=0.7, summary=str(stage), evidence=evidence)
        ]
    return [CauseFinding(cause=cause, confidence=0.85, summary=str(stage), evidence=evidence)]


def _blame_inputs(changed: tuple[str, ...]) -> CauseFinding:
    return CauseFinding(
        cause=Cause.PREPROCESS_OTHER,
        confidence=0.5,
        summary=f"preprocessing makes other inputs of {count(len(changed), 'sample')}; what changed in it "
        "could not be told",
        evidence={"samples": list(changed[:N_LISTED]), "n_samples": len(changed)},
    )


def _weigh(finding: CauseFinding, answer: Answer, changed: tuple[str, ...]) -> CauseFinding:
    """Return a finding with what the model answers on the golden's inputs taken into account."""
    evidence = {
        **finding.evidence,
        "replay": answer.as_evidence(ON_GOLDEN.label),
        "n_changed_inputs": len(changed),
    }
    confidence, summary = finding.confidence, finding.summary
    if answer.agrees is True:
        confidence = min(_SURE, confidence + 0.5 * (1 - confidence))
        summary += (
            f". Fed the golden's inputs, the model answers as before ({number(answer.rel_l2)} instead of "
            f"{number(answer.before)})"
        )
    elif answer.agrees is False:
        # What is left when the inputs are right is not preprocessing's.
        share = 1.0 - min(1.0, answer.rel_l2 / answer.before) if answer.before > 0 else 0.0
        is_moving = answer.moved is not None and answer.moved > _MOVING * answer.before
        # Beside a larger fault nothing seems explained; that answers move by the inputs alone is shown.
        confidence *= max(share, _BESIDE) if is_moving else share
        summary += (
            f". It does not explain all: fed the golden's inputs, the model is still {number(answer.rel_l2)} "
            f"off ({number(answer.before)} before)"
        )
        if is_moving and answer.moved is not None:
            summary += f", and what it is fed moves its answers by {number(answer.moved)} on its own"
    return replace(finding, confidence=confidence, summary=summary, evidence=evidence)
