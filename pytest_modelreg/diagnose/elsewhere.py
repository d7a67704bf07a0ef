"""A drift of a case that runs in another environment: what was seen there, told with what was shown here.

What belongs here: how the finding that the environment matters, and findings on the model that ran
there, are told beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_modelreg.diagnose.divergence import tell_divergence
from pytest_modelreg.diagnose.environment import is_revision_alone
from pytest_modelreg.diagnose.port import DriftCase
from pytest_modelreg.domain.cause import Cause, CauseFinding

_TELLING = 0.7
_SHOWN_CODE = 0.95
_RESTATED = 0.6
"""Confidence that a revision is to blame, beside what changed in its code: the same told twice."""


def join_environment(
    drift: DriftCase, found: Sequence[CauseFinding], environment: Sequence[CauseFinding]
) -> list[CauseFinding]:
    """Return findings with those on the environment, each told with what the others know of it.

    Where the environment was shown to matter, the first module that answers otherwise there is where it
    shows, and no second cause. A revision is its code: what changed in that comes first.
    """
    spec = drift.spec.environment
    if spec is None or not any(finding.evidence.get("shown") is True for finding in environment):
        return [*found, *environment]
    if is_revision_alone(spec):
        return _tell_revision(found, environment, spec.revision or "")
    divergence = next((one.evidence["divergence"] for one in found if "divergence" in one.evidence), None)
    kept = [
        one for one in found if not (one.cause is Cause.MODEL_CODE and set(one.evidence) == {"divergence"})
    ]
    if divergence is None:
        return [*kept, *environment]
    return [*kept, *(_add_divergence(finding, divergence) for finding in environment)]


def _add_divergence(finding: CauseFinding, divergence: dict[str, Any]) -> CauseFinding:
    return replace(
        finding,
        summary=f"{finding.summary}; there, {tell_divergence(divergence)}",
        evidence={**finding.evidence, "divergence": divergence},
    )


def _is_divergence_alone(finding: CauseFinding) -> bool:
    return finding.cause is Cause.MODEL_CODE and set(finding.evidence) == {"divergence"}


def _tell_revision(
    found: Sequence[CauseFinding], environment: Sequence[CauseFinding], revision: str
) -> list[CauseFinding]:
    told = [
        replace(
            finding,
            summary=f"{finding.summary}; with the code of this checkout instead of {revision}'s, "
            "the same case agrees with the golden",
            confidence=max(finding.confidence, _SHOWN_CODE),
            evidence={**finding.evidence, "replays": environment[0].evidence["replays"]},
        )
        if finding.cause is Cause.MODEL_CODE and not _is_divergence_alone(finding)
        else finding
        for finding in found
    ]
    if not any(finding.confidence >= _TELLING for finding in told):
        return [*told, *environment]
    return [*told, *(replace(one, confidence=min(one.confidence, _RESTATED)) for one in environment)]
