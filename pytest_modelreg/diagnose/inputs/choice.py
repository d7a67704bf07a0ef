"""Which replays are told: the one that leaves least, what it leaves, and for how many others it holds.

What belongs here: choosing among the families' replays, and holding the choice against samples that it was
not found on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pytest_modelreg.diagnose.inputs.finding import N_LISTED, Group
from pytest_modelreg.diagnose.inputs.known_points import PointPair, lay_beside
from pytest_modelreg.diagnose.inputs.pair import NumberPair, measure_distance, read_numbers
from pytest_modelreg.diagnose.inputs.rearrangement import Replay, Undo
from pytest_modelreg.diagnose.inputs.unexplained import explain_remainder
from pytest_modelreg.domain.cause import CauseFinding

_NOT_ALL = 0.01
"""rel_l2 that a replay may leave before the rest is spoken of."""

_REST = 0.2
_PARTLY = 0.5
"""Confidence below which what is left is described too."""

_AS_WELL = 3.0
"""How many times more a replay may leave of a sample that it was not found on."""

_HOLDS = 5e-3
"""rel_l2 that it may leave in any case, half a grey level in a photo of usual contrast."""

_AS_A_WHOLE = 0.05
"""How far channels may be off as a whole, as a part of their deviation, where points agree."""

_DOUBTED = 0.5


def choose_findings(
    group: Group, pairs: Sequence[NumberPair], replays: Sequence[Replay]
) -> tuple[list[CauseFinding], Replay | None]:
    """Return what the replay that leaves least tells, what is to be said of the rest, and that replay."""
    level = next((replay.level for replay in replays if replay.level), None)
    telling = [replay for replay in replays if replay.findings]
    if not telling:
        return [explain_remainder(group, pairs, level=level)], None
    best = min(telling, key=lambda replay: replay.left)
    findings = list(best.findings)
    if best.level is None and best.left > _NOT_ALL:
        # Undone as far as it goes, what remains has another cause.
        rest = explain_remainder(group, best.pairs, is_part=True)
        findings.append(replace(rest, confidence=_REST))
    elif max(finding.confidence for finding in findings) < _PARTLY:
        findings.append(explain_remainder(group, pairs, level=level, is_part=True))
    return findings, best


def confirm_findings(
    findings: Sequence[CauseFinding],
    best: Replay | None,
    others: Sequence[PointPair],
    has_time: Callable[[], bool],
) -> list[CauseFinding]:
    """Return findings with how many other samples the replay holds for, told in evidence.

    Parameters
    ----------
    best : Replay or None
        That they are of.
    others : sequence of PointPair
        Samples that differ too; as many as there is time for are tried.
    """
    if best is None or best.undo is None or not others:
        return list(findings)
    limit = max(_AS_WELL * best.left, _HOLDS)
    held: list[str] = []
    failed: list[str] = []
    for pair in others:
        if not has_time():
            break
        (held if _holds(best.undo, pair, limit) else failed).append(pair.sample)
    if not held and not failed:
        return list(findings)
    n_tried = len(held) + len(failed)
    evidence = {"n_tried": n_tried, "n_held": len(held), "not_held": failed[:N_LISTED]}
    noun = "sample" if n_tried == 1 else "samples"
    told = f"; at points of {n_tried} other {noun} it holds for {len(held)}"
    return [
        replace(
            finding,
            summary=f"{finding.summary}{told}" if finding in best.findings else finding.summary,
            evidence={**finding.evidence, "confirmed": evidence},
        )
        for finding in findings
    ]


def check_as_a_whole(
    findings: Sequence[CauseFinding], best: Replay | None, pairs: Sequence[PointPair]
) -> list[CauseFinding]:
    """Return findings that points told, doubted where channels as a whole say otherwise.

    Parameters
    ----------
    pairs : sequence of PointPair
        Samples that they are of.
    """
    if best is None or best.undo is None:
        return list(findings)
    gaps = []
    for pair in pairs:
        actual = read_numbers(pair.actual)
        undone = None if actual is None else best.undo(pair, actual)
        if undone is not None:
            gaps.append(pair.expected.measure_gap(undone))
    if not gaps:
        return list(findings)
    largest = max(gaps)
    is_doubted = not largest <= _AS_A_WHOLE
    told = "; away from the points something else differs: channels are off as a whole" if is_doubted else ""
    return [
        replace(
            finding,
            confidence=min(finding.confidence, _DOUBTED) if is_doubted else finding.confidence,
            summary=finding.summary + told,
            evidence={
                **finding.evidence,
                "statistics": {
                    "n_samples": len(gaps),
                    "largest_gap": float(f"{largest:.4g}") if math.isfinite(largest) else str(largest),
                },
            },
        )
        for finding in findings
    ]


def _holds(undo: Undo, pair: PointPair, limit: float) -> bool:
    actual = read_numbers(pair.actual)
    undone = None if actual is None else undo(pair, actual)
    if undone is None:
        return False
    expected, found = lay_beside(pair.expected, undone)
    return bool(
        np.array_equal(np.isfinite(expected), np.isfinite(found))
        and measure_distance([(expected, found)]) <= limit
        and pair.expected.measure_gap(undone) <= _AS_A_WHOLE
    )
