"""The table over all outcomes, and the same as JSON.

What belongs here: counting and wording. What is right is decided by :class:`Outcome`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.attribution.fault import BENIGN
from benchmarks.attribution.interval import compute_wilson
from benchmarks.attribution.trial import Outcome

GOAL = 0.95
"""Share of faults whose cause is to be named first, dimensionless."""


def passes(outcomes: Sequence[Outcome]) -> bool:
    """Whether all faults were detected, no benign change alarmed, and enough causes were right."""
    faults = [outcome for outcome in outcomes if not outcome.fault.is_benign]
    benign = [outcome for outcome in outcomes if outcome.fault.is_benign]
    n_right = sum(outcome.is_right for outcome in faults)
    return (
        all(outcome.is_detected for outcome in faults)
        and not any(outcome.is_detected for outcome in benign)
        and n_right >= GOAL * len(faults)
    )


def write_table(outcomes: Sequence[Outcome]) -> str:
    """Return the counts by kind and overall, the times, and the list of what is wrong."""
    faults = [outcome for outcome in outcomes if not outcome.fault.is_benign]
    benign = [outcome for outcome in outcomes if outcome.fault.is_benign]
    lines = [f"{'kind':28}{'planted':>8}{'detected':>9}{'first cause right':>19}  95 % interval"]
    kinds = sorted({outcome.fault.kind for outcome in faults})
    lines += [_count(kind, [o for o in faults if o.fault.kind == kind]) for kind in kinds]
    if faults:
        lines.append(_count("all faults", faults))
        n_detected = sum(outcome.is_detected for outcome in faults)
        lines.append(f"detected: {_share(n_detected, len(faults))}")
    if benign:
        n_alarms = sum(outcome.is_detected for outcome in benign)
        lines.append(f"false alarms: {_share(n_alarms, len(benign))}")
    lines += ["", *_describe_times(outcomes), ""]
    lines += _list_wrong(outcomes)
    return "\n".join(lines)


def _count(name: str, outcomes: Sequence[Outcome]) -> str:
    n_total, n_detected = len(outcomes), sum(outcome.is_detected for outcome in outcomes)
    n_right = sum(outcome.is_right for outcome in outcomes)
    low, high = compute_wilson(n_right, n_total)
    return (
        f"{name:28}{n_total:8}{n_detected:9}{n_right:11} ({n_right / n_total:4.0%})  {low:.3f} to {high:.3f}"
    )


def _share(n_some: int, n_total: int) -> str:
    low, high = compute_wilson(n_some, n_total)
    return f"{n_some} of {n_total} ({low:.3f} to {high:.3f})"


def _describe_times(outcomes: Sequence[Outcome]) -> list[str]:
    timed = [outcome for outcome in outcomes if outcome.diagnosis_s is not None]
    lines = [_describe_seconds("run, diagnosis included", [(o.duration_s, o) for o in outcomes])]
    if timed:
        lines.append(_describe_seconds("diagnosis alone", [(o.diagnosis_s or 0.0, o) for o in timed]))
    return lines


def _describe_seconds(what: str, seconds: Sequence[tuple[float, Outcome]]) -> str:
    if not seconds:
        return f"{what}: not measured"
    longest, slowest = max(seconds, key=lambda pair: pair[0])
    median = statistics.median(value for value, _ in seconds)
    return (
        f"{what}: median {median:.2f} s, longest {longest:.2f} s "
        f"({slowest.fault.name}), of {len(seconds)} cases"
    )


def _list_wrong(outcomes: Iterable[Outcome]) -> list[str]:
    lines = []
    for outcome in outcomes:
        if not outcome.is_right:
            named = ", ".join(f"{cause} {confidence:.2f}" for cause, confidence, _ in outcome.causes[:3])
            expected = "match" if outcome.fault.kind == BENIGN else " or ".join(outcome.fault.accepted)
            lines.append(f"wrong: {outcome.fault.name}: expected {expected}, got {outcome.verdict}, {named}")
            if not outcome.is_detected or outcome.fault.is_benign:
                lines.append(f"       {outcome.message.splitlines()[0] if outcome.message else ''}")
        if outcome.affects_others:
            known = " ".join(outcome.fault.affected or ())
            lines.append(f"affected: {outcome.fault.name}: expected {known}, got {' '.join(outcome.drifted)}")
    return lines


def describe_outcomes(outcomes: Iterable[Outcome], digest: str) -> dict[str, Any]:
    """Return the outcomes as builtin values."""
    return {
        "attribution_benchmark": 1,
        "list": digest,
        "trials": [
            {
                "name": outcome.fault.name,
                "kind": outcome.fault.kind,
                "part": outcome.fault.part,
                "accepted": list(outcome.fault.accepted),
                "verdict": outcome.verdict,
                "detected": outcome.is_detected,
                "right": outcome.is_right,
                "causes": [
                    {"cause": cause, "confidence": confidence, "summary": summary}
                    for cause, confidence, summary in outcome.causes
                ],
                "drifted_samples": list(outcome.drifted),
                "message": outcome.message,
                "duration_s": outcome.duration_s,
                "diagnosis_s": outcome.diagnosis_s,
                "elapsed_s": outcome.elapsed_s,
            }
            for outcome in outcomes
        ],
    }
