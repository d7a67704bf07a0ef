"""The fingerprint as a value: recorded facts of an environment, and how two differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

UNUSED = "in this run"
"""How the reason ends of a fact that is unknown because nothing of it was used."""

FactValue = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """Facts about the environment of one observation.

    Parameters
    ----------
    facts : mapping of str to scalar
        By dotted key (``torch.version``), sorted; None where unknown.
    reasons : mapping of str to str
        Why a fact is None, by the same key.
    neutral : tuple of str
        Keys of ``facts`` that cannot move a number; left out of the digest.
    """

    facts: Mapping[str, FactValue]
    reasons: Mapping[str, str] = field(default_factory=dict)
    neutral: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """sha256 (16 hex digits) over every fact that can move a number."""
        moving = {key: value for key, value in sorted(self.facts.items()) if key not in self.neutral}
        return hashlib.sha256(json.dumps(moving, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class EnvironmentChange:
    """One fact that differs between the golden's environment and this one."""

    key: str
    expected: FactValue
    actual: FactValue


def environment_changes(expected: Fingerprint, actual: Fingerprint) -> tuple[EnvironmentChange, ...]:
    """List the facts that can move a number and differ, sorted by key.

    A fact that one side could not know (None with a reason) is listed only when the
    other side knows it, and not where that side used nothing of it: which decoder a test
    before this one happened to load moved no number. A key that one side never asked for is
    no difference, so that a release with a new collector does not call every older golden a
    change.
    """
    ignored = {*expected.neutral, *actual.neutral, *_list_unused(expected), *_list_unused(actual)}
    shared = sorted((set(expected.facts) & set(actual.facts)) - ignored)
    return tuple(
        EnvironmentChange(key=key, expected=expected.facts[key], actual=actual.facts[key])
        for key in shared
        if expected.facts[key] != actual.facts[key] and not _is_one_build(key, expected, actual)
    )


def _is_one_build(key: str, expected: Fingerprint, actual: Fingerprint) -> bool:
    """Whether two versions differ only in a build (``+cu130``) that one side could not know.

    Older records of a package that was not loaded have the version that it was installed as, which may
    lack the build.
    """
    group, _, name = key.rpartition(".")
    if name != "version":
        return False
    sides = [
        (str(side.facts[key]), f"{group} was not loaded {UNUSED}" in side.reasons.values())
        for side in (expected, actual)
    ]
    releases = {version.partition("+")[0] for version, _ in sides}
    return len(releases) == 1 and any(unloaded and "+" not in version for version, unloaded in sides)


def _list_unused(fingerprint: Fingerprint) -> set[str]:
    """Return the facts that are unknown because nothing of what they describe was used."""
    return {key for key, reason in fingerprint.reasons.items() if reason.endswith(UNUSED)}
