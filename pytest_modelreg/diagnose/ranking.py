"""One order for all explanations of a drift.

What belongs here: what comes first. A confidence says how well an explanation was shown; between equals
the one nearer to the sample's file comes first, because what goes wrong there goes wrong after it too.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_modelreg.domain.cause import Cause, CauseFinding

_LEAST = 0.15
"""Below it an explanation is told only where there is no other."""

_ORDER = {cause: position for position, cause in enumerate(Cause)}


def rank_findings(findings: Iterable[CauseFinding]) -> tuple[CauseFinding, ...]:
    """Return explanations, the best first; of two of one cause the better.

    Never empty where something was given.
    """
    best: dict[Cause, CauseFinding] = {}
    for finding in findings:
        known = best.get(finding.cause)
        if known is None or finding.confidence > known.confidence:
            best[finding.cause] = finding
    ranked = sorted(best.values(), key=lambda finding: (-round(finding.confidence, 2), _ORDER[finding.cause]))
    telling = [finding for finding in ranked if finding.confidence >= _LEAST]
    return tuple(telling or ranked[:1])
