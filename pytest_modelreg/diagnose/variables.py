"""Environment variables that the model's code reads, and which of them were shown to matter.

What belongs here: cause ``environment`` of variables whose values no golden keeps. One that was not set can
be taken away again, which shows it; of any other it is only known that it is another value.
"""

from __future__ import annotations

from pytest_modelreg.diagnose.port import Change, DriftCase, Replay
from pytest_modelreg.diagnose.project import VariableChange, list_changed_variables
from pytest_modelreg.diagnose.wording import N_LISTED, name_some
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.project_code import MODEL_SIDE

_SHOWN = 0.96
_POSSIBLE = 0.48


def explain_variables(drift: DriftCase, replay: Replay, *, may_guess: bool) -> list[CauseFinding]:
    """Return that a variable of the project's own matters, or that it could.

    Parameters
    ----------
    may_guess : bool
        Whether one is told that was not shown to matter.
    """
    changes = list_changed_variables(drift, MODEL_SIDE)
    removable = [change for change in changes if not change.was_set]
    if removable and replay.has_time():
        names = [change.fact.name for change in removable]
        label = f"without {', '.join(names)}"
        answer = replay.ask(Change(label=label, is_fed_golden=False, variables=dict.fromkeys(names)))
        evidence = {"replays": [answer.as_evidence(label)], **_list(removable), "shown": True}
        if answer.agrees:
            return [
                CauseFinding(
                    cause=Cause.ENVIRONMENT,
                    confidence=_SHOWN,
                    summary=f"the environment: {_tell(removable)}; {label} the case agrees with the golden",
                    evidence=evidence,
                )
            ]
        if answer.agrees is False:
            changes = [change for change in changes if change.was_set]
    if not may_guess or not changes:
        return []
    return [
        CauseFinding(
            cause=Cause.ENVIRONMENT,
            confidence=_POSSIBLE,
            summary=f"the environment, possibly: {_tell(changes)}; a golden keeps no values of such "
            "variables, so that it could not be set back: run again with the value of then",
            evidence={**_list(changes), "shown": False},
        )
    ]


def _tell(changes: list[VariableChange]) -> str:
    return name_some([str(change) for change in changes], most=2)


def _list(changes: list[VariableChange]) -> dict[str, list[str]]:
    return {"variables": [change.fact.name for change in changes[:N_LISTED]]}
