"""Which replays are told: the one that leaves least, what it leaves, and for how many others it holds.

What belongs here: choosing among the families' replays, and holding the choice against samples that it was
not found on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pytest_modelreg.diagnose.inputs.finding import N_LISTED, Group, round_number
from pytest_modelreg.diagnose.inputs.known_points import PointPair, lay_beside
from pytest_modelreg.diagnose.inputs.pair import NumberPair, measure_distance, read_numbers
from pytest_modelreg.diagnose.inputs.rearrangement import Replay, Undo
from pytest_modelreg.diagnose.inputs.unexplained import explain_remainder
from pytest_modelreg.domain.cause import CauseFinding

_NOT_ALL = 1e-3
"""rel_l2 that a replay may leave before the rest is spoken of."""

_ESTIMATED = 0.05
"""As well, of a replay that is an estimate."""

_REST = 0.2
_BELOW = 0.9
"""Part of the confidence in what is named that the rest of it may have: it never comes first."""

_NAMES_IT = 0.7
"""Part of the difference that a replay must undo: less is what anything similar does as well."""

_REFUTED = 0.3
_PARTLY = 0.6
"""Confidence in what holds for none, and for less than half, of the samples that it was not found on."""

_AS_WELL = 3.0
"""How many times more a replay may leave of a sample that it was not found on."""

_HOLDS = 5e-3
"""rel_l2 that it may leave in any case, half a grey level in a photo of usual contrast."""

_ROUNDING = 1e-5
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
    is_one_shape = all(expected.shape == actual.shape for expected, actual in pairs)
    most = (1.0 - _NAMES_IT) * (measure_distance(pairs) if is_one_shape else 1.0)
    # An estimate leaves little of what it looks at; a setting that explains as much says more.
    settings = [replay for replay in telling if not replay.is_estimate and replay.left <= most]
    best = min(settings or telling, key=lambda replay: replay.left)
    if best.left > most:
        return [_tell_nearest(explain_remainder(group, pairs, level=level), best)], None
    findings = list(best.findings)
    if best.level is None and best.left > (_ESTIMATED if best.is_estimate else _NOT_ALL):
        # Undone as far as it goes, what remains has another cause.
        rest = explain_remainder(group, best.pairs, is_part=True)
        least = min(finding.confidence for finding in findings)
        findings.append(replace(rest, confidence=round(min(_REST, _BELOW * least), 3)))
    return findings, best


def _tell_nearest(finding: CauseFinding, best: Replay) -> CauseFinding:
    """Return that nothing explains the inputs, with what came nearest: a hint, and no cause."""
    nearest = best.findings[0]
    return replace(
        finding,
        summary=f"{finding.summary}; nearest to it came {nearest.evidence['hypothesis']}, "
        f"{nearest.evidence['actual']} instead of {nearest.evidence['expected']}, "
        f"which leaves {best.left:.2g}",
        evidence={
            **finding.evidence,
            "nearest": {
                "cause": nearest.cause.value,
                "hypothesis": nearest.evidence["hypothesis"],
                "expected": nearest.evidence["expected"],
                "actual": nearest.evidence["actual"],
                "residual": round_number(best.left),
            },
        },
    )


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
    most = 1.0 if 2 * len(held) >= n_tried else _PARTLY if held else _REFUTED
    return [
        replace(
            finding,
            confidence=min(finding.confidence, most),
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
    is_one_shape = actual is not None and actual.shape == pair.expected.shape
    if actual is not None and is_one_shape:  # what is left must be less than what was there
        limit = min(limit, (1.0 - _NAMES_IT) * measure_distance([lay_beside(pair.expected, actual)]))
    return bool(
        np.array_equal(np.isfinite(expected), np.isfinite(found))
        and measure_distance([(expected, found)]) <= max(limit, _ROUNDING)
        and pair.expected.measure_gap(undone) <= _AS_A_WHOLE
    )
