"""A fingerprint as a record of the report, read back from one, and as a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.environment import (
    EnvironmentChange,
    FactValue,
    Fingerprint,
    environment_changes,
)
from pytest_modelreg.report.table import render_table

DIGEST = "digest"
NEUTRAL = "neutral"
REASON_SUFFIX = "_reason"
NOT_SET = "not set"
"""The reason of a variable or an option that has no value."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentDifference:
    """How two fingerprints differ.

    Parameters
    ----------
    moving : tuple of EnvironmentChange
        Facts that can move a number and differ.
    neutral : tuple of EnvironmentChange
        Facts that cannot, on one side at least, and differ.
    unshared : tuple of EnvironmentChange
        Facts that one side never asked for (another release, a hook of the project,
        options of a runtime): no difference is known. None on the side without it.
    """

    moving: tuple[EnvironmentChange, ...]
    neutral: tuple[EnvironmentChange, ...]
    unshared: tuple[EnvironmentChange, ...]


def fingerprint_record(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return a fingerprint by dotted key, unknown facts as null with ``<key>_reason``.

    Beside the facts: ``digest``, and ``neutral``, the keys that are left out of it.
    """
    record: dict[str, Any] = {}
    for key, value in sorted(fingerprint.facts.items()):
        record[key] = value
        if value is None:
            record[f"{key}{REASON_SUFFIX}"] = fingerprint.reasons.get(key, "unknown")
    record[NEUTRAL] = list(fingerprint.neutral)
    record[DIGEST] = fingerprint.digest
    return record


def choose_fullest(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the record that knows most facts, the first one of several; empty where there is none."""
    known = (sum(value is not None for value in record.values()) for record in records)
    return dict(max(zip(known, records, strict=False), key=lambda found: found[0], default=(0, {}))[1])


def read_fingerprint_record(record: Mapping[str, Any]) -> Fingerprint:
    """Undo :func:`fingerprint_record`.

    Raises
    ------
    ValueError
        When a fact is no scalar, or ``neutral`` no list of keys.
    """
    neutral = record.get(NEUTRAL, [])
    if not isinstance(neutral, list) or not all(isinstance(key, str) for key in neutral):
        raise ValueError(f"{NEUTRAL}: expected a list of keys")
    reasons = {
        key: str(reason)
        for key, value in record.items()
        if value is None and (reason := record.get(f"{key}{REASON_SUFFIX}")) is not None
    }
    beside = {NEUTRAL, DIGEST, *(f"{key}{REASON_SUFFIX}" for key in reasons)}
    facts: dict[str, FactValue] = {}
    for key, value in record.items():
        if key in beside:
            continue
        if not (value is None or isinstance(value, str | int | float)):
            raise ValueError(f"{key}: expected a scalar, got {type(value).__name__}")
        facts[key] = value
    return Fingerprint(facts=facts, reasons=reasons, neutral=tuple(neutral))


def compare_fingerprints(expected: Fingerprint, actual: Fingerprint) -> EnvironmentDifference:
    """Return how two fingerprints differ, by the rule by which drifts are explained."""
    moving = environment_changes(expected, actual)
    keys = {change.key for change in moving}
    neutral, unshared = [], []
    for key in sorted({*expected.facts, *actual.facts} - keys):
        change = EnvironmentChange(key=key, expected=expected.facts.get(key), actual=actual.facts.get(key))
        if key not in expected.facts or key not in actual.facts:
            unshared.append(change)
        elif change.expected != change.actual:
            neutral.append(change)
    return EnvironmentDifference(moving=moving, neutral=tuple(neutral), unshared=tuple(unshared))


def difference_record(difference: EnvironmentDifference) -> dict[str, Any]:
    """Return a difference as builtin values: three lists of key, expected and actual."""
    return {
        name: [
            {"key": change.key, "expected": change.expected, "actual": change.actual} for change in changes
        ]
        for name, changes in (
            ("moving", difference.moving),
            ("neutral", difference.neutral),
            ("unshared", difference.unshared),
        )
    }


def render_fingerprint(fingerprint: Fingerprint) -> list[str]:
    """Return a table of all facts: why one is unknown, and which cannot move a number."""
    rows = [
        [key, _show_side(key, fingerprint), "neutral" if key in fingerprint.neutral else ""]
        for key in sorted(fingerprint.facts)
    ]
    return [f"environment {fingerprint.digest}", *render_table(["fact", "value", ""], rows, indent=2)]


def render_difference(
    difference: EnvironmentDifference, expected: Fingerprint, actual: Fingerprint, names: tuple[str, str]
) -> list[str]:
    """Return tables of what differs, what cannot move a number apart.

    Parameters
    ----------
    expected, actual : Fingerprint
        The two sides, for the reasons of what is unknown.
    names : tuple of str
        What the two sides are called.
    """
    sides = (expected, actual)
    moving = _change_table(difference.moving, sides, names)
    lines = (
        ["facts that can move a number:", *moving] if moving else ["nothing that can move a number differs"]
    )
    for title, changes in (
        ("differs too, but cannot move a number:", difference.neutral),
        ("on one side only, so not compared:", difference.unshared),
    ):
        lines += ["", title, *_change_table(changes, sides, names)] if changes else []
    return lines


def _change_table(
    changes: Sequence[EnvironmentChange], sides: tuple[Fingerprint, Fingerprint], names: tuple[str, str]
) -> list[str]:
    rows = [[change.key, *(_show_side(change.key, side) for side in sides)] for change in changes]
    return render_table(["fact", *names], rows, indent=2) if rows else []


def _show_side(key: str, side: Fingerprint) -> str:
    if key not in side.facts:
        return "-"
    value = side.facts[key]
    if value is None and side.reasons.get(key) == NOT_SET:
        return NOT_SET  # which is known
    if value is None:
        return f"unknown: {side.reasons.get(key, 'no reason given')}"
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
