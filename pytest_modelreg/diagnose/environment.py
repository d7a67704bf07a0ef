"""What the two fingerprints differ in, and which of it was shown to matter.

What belongs here: cause ``environment``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_modelreg.diagnose.port import Change, DriftCase, Replay
from pytest_modelreg.diagnose.variables import explain_variables
from pytest_modelreg.diagnose.wording import N_LISTED, name_some
from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.environment import EnvironmentChange

_VARIABLES = "env."
_THREADS = "THREADS"
"""Facts that end in it change from machine to machine and come last: rarely does one move a number."""

_MOST_REPLAYS = 3
_SHOWN = 0.99  # it holds for what changed in the inputs, too: that is how the environment shows


def explain_environment(drift: DriftCase, replay: Replay, *, may_guess: bool) -> list[CauseFinding]:
    """Return that the environment matters, or that it could.

    Shown where the case agrees in this run's own environment, or with a variable set back; otherwise
    the differences are listed and the confidence says that nothing was shown.

    Parameters
    ----------
    may_guess : bool
        Whether differences are told that were not shown to matter.
    """
    if drift.spec.environment is not None:
        return _explain_elsewhere(drift, replay)
    every = drift.result.environment_changes
    changes = tuple(change for change in every if not change.key.upper().endswith(_THREADS))
    shown = _set_back(drift, replay, changes)
    if shown is None and may_guess:  # nothing likelier was found
        shown = _set_back(drift, replay, every)
    own = [] if shown is not None else explain_variables(drift, replay, may_guess=may_guess)
    if shown is not None:
        return [shown]
    if own or not may_guess or not changes:
        return own
    return [
        CauseFinding(
            cause=Cause.ENVIRONMENT,
            confidence=0.45,
            summary=f"the environment is not the golden's ({_tell(changes)}); it was not shown to matter: "
            "a variant with the golden's environment would",
            evidence={"changes": _list(changes), "shown": False},
        )
    ]


def is_revision_alone(environment: EnvironmentSpec) -> bool:
    """Whether an environment is this one but for the project's Python code."""
    is_other = environment.python or environment.requirements or environment.variables
    return environment.revision is not None and not is_other


def _explain_elsewhere(drift: DriftCase, replay: Replay) -> list[CauseFinding]:
    environment = drift.spec.environment
    assert environment is not None
    here = Change(label="in this run's own environment", is_fed_golden=False, resets=("environment",))
    answer = replay.ask(here)
    evidence: dict[str, Any] = {
        "replays": [answer.as_evidence(here.label)],
        "changes": _list(drift.result.environment_changes),
        "shown": answer.agrees is True,
    }
    if answer.agrees is not True:
        if answer.agrees is False:
            return []  # it drifts here too
        return [
            CauseFinding(
                cause=Cause.ENVIRONMENT,
                confidence=0.5,
                summary=f"another environment ({_tell(drift.result.environment_changes)})",
                evidence=evidence,
            )
        ]
    guilty = _find_variable(environment.variables, drift, replay, evidence)
    what = guilty or _tell(drift.result.environment_changes) or "the variant's environment"
    if is_revision_alone(environment):
        what = f"revision {environment.revision}, whose code it runs"
    return [
        CauseFinding(
            cause=Cause.ENVIRONMENT,
            confidence=_SHOWN,
            summary=f"the environment: {what}; run here, the same case agrees with the golden",
            evidence=evidence,
        )
    ]


def _find_variable(
    variables: Mapping[str, str | None], drift: DriftCase, replay: Replay, evidence: dict[str, Any]
) -> str:
    """Return the variable without which the drift is gone, where there are several to choose from."""
    environment = drift.spec.environment
    assert environment is not None
    if len(variables) == 1 and not (environment.python or environment.requirements or environment.revision):
        name, value = next(iter(variables.items()))
        return f"{name}={value}" if value is not None else f"{name} unset"
    if len(variables) < 2:
        return ""
    for name, value in list(variables.items())[:_MOST_REPLAYS]:
        if not replay.has_time():
            return ""
        change = Change(label=f"only {name}={value}", is_fed_golden=False, variables={name: value})
        answer = replay.ask(change)
        evidence["replays"].append(answer.as_evidence(change.label))
        if answer.agrees is False:
            return f"{name}={value}"
    return ""


def _set_back(
    drift: DriftCase, replay: Replay, changes: tuple[EnvironmentChange, ...]
) -> CauseFinding | None:
    """Return the variables that matter, replayed as the golden had them; None where that shows nothing."""
    variables = {
        change.key.removeprefix(_VARIABLES): None if change.expected is None else str(change.expected)
        for change in changes
        if change.key.startswith(_VARIABLES)
    }
    if not variables or not replay.has_time():
        return None
    told = ", ".join(f"{name}={value}" if value else f"{name} unset" for name, value in variables.items())
    change = Change(label=f"with {told}", is_fed_golden=False, variables=variables)
    answer = replay.ask(change)
    if not answer.agrees:
        return None
    return CauseFinding(
        cause=Cause.ENVIRONMENT,
        confidence=0.96,
        summary=f"the environment: with {told}, as it was for the golden, the case agrees",
        evidence={
            "replays": [answer.as_evidence(change.label)],
            "changes": _list(drift.result.environment_changes),
            "shown": True,
        },
    )


def _tell(changes: tuple[EnvironmentChange, ...]) -> str:
    return name_some([f"{change.key} {change.expected} -> {change.actual}" for change in changes], most=2)


def _list(changes: tuple[EnvironmentChange, ...]) -> list[dict[str, Any]]:
    return [
        {"key": change.key, "expected": change.expected, "actual": change.actual}
        for change in changes[:N_LISTED]
    ]
