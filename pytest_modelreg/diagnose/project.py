"""What was edited in the project since the golden: its code, and the data files and variables that it reads.

What belongs here: comparing what both sides kept of the project, by what of the case it serves. What an
edit means is the other steps': it is a cause of its own only on the model's side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pytest_modelreg.diagnose.port import DriftCase
from pytest_modelreg.diagnose.wording import N_LISTED, name_some
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.project_code import INPUT_SIDE, MODEL_SIDE, SourceFile, VariableFact
from pytest_modelreg.domain.trace import Trace

_INPUT_CAUSE = "preprocess."


@dataclass(frozen=True, kw_only=True)
class VariableChange:
    """An environment variable that is not what it was for the golden.

    Parameters
    ----------
    was_set : bool
        Whether it was for the golden, as far as its code read it then.
    was_read : bool
        Whether its code did.
    """

    fact: VariableFact
    was_set: bool
    was_read: bool

    def __str__(self) -> str:
        if not self.fact.state:
            how = "is not set and was"
        else:
            how = "has another value" if self.was_set else "is set and was not"
            how = how if self.was_read else "is set, and was not read"
        return f"{self.fact.name}, which {name_some(self.fact.files)} reads, {how}"


def list_changed_files(drift: DriftCase, side: str) -> list[str]:
    """Return the files that serve one side of the case and that are not the golden's.

    Of files whose side is not known, because nothing that was imported imports them by name, the model's
    are those that changed while the inputs did not.
    """
    if drift.then is None or drift.today is None:
        return []
    pairs = [(drift.then.trace.sources, drift.today.trace.sources)]
    if drift.then.trace.reads is not None and drift.today.trace.reads is not None:
        pairs.append((drift.then.trace.reads.data_files, drift.today.trace.reads.data_files))
    environment = drift.spec.environment
    # The files are those of here; which of them are imported, another environment may decide.
    is_shared_only = environment is not None and environment.revision is None
    takes_unknown = side == MODEL_SIDE and not drift.changed_inputs
    changed = []
    for before, after in pairs:
        then, now = _by_name(before), _by_name(after)
        names = sorted({*then} & {*now}) if is_shared_only else sorted({*then, *now})
        for name in names:
            one, other = then.get(name), now.get(name)
            if one is not None and other is not None and one.sha256 == other.sha256:
                continue
            sides = {*(one.sides if one is not None else ()), *(other.sides if other is not None else ())}
            if side in sides or (not sides and takes_unknown):
                changed.append(name)
    return changed


def list_changed_variables(drift: DriftCase, side: str) -> list[VariableChange]:
    """Return the variables that code on one side reads and that are not what they were for the golden.

    None of those that the fingerprint has, which are told with their values.
    """
    if drift.then is None or drift.today is None:
        return []
    if drift.then.trace.reads is None or drift.today.trace.reads is None:
        return []
    known = drift.golden.observation.fingerprint.facts
    then = {each.name: each.state for each in drift.then.trace.reads.variables}
    return [
        VariableChange(fact=fact, was_set=bool(then.get(fact.name)), was_read=fact.name in then)
        for fact in _list_variables(drift.today.trace)
        if side in fact.sides and f"env.{fact.name}" not in known and fact.state != then.get(fact.name, "")
    ]


def drifts_with_inputs(drift: DriftCase) -> bool:
    """Whether only samples drift of which the inputs changed, while others are fed and answered as before."""
    changed, drifted = {*drift.changed_inputs}, {*drift.result.drifted_samples}
    compared = {*drift.result.measures.ids}
    return bool(drifted) and drifted <= changed and bool(compared - changed)


def name_input_code(drift: DriftCase, found: Iterable[CauseFinding]) -> list[CauseFinding]:
    """Add to explanations on the inputs what was edited, or set otherwise, of what makes them."""
    files = list_changed_files(drift, INPUT_SIDE)
    variables = list_changed_variables(drift, INPUT_SIDE)
    told = [f"edited since: {name_some(files)}"] if files else []
    told += [str(variable) for variable in variables]
    if not told:
        return list(found)
    return [
        replace(
            finding,
            summary=f"{finding.summary}; {'; '.join(told)}",
            evidence={
                **finding.evidence,
                "files": files[:N_LISTED],
                "variables": [variable.fact.name for variable in variables[:N_LISTED]],
            },
        )
        if finding.cause.value.startswith(_INPUT_CAUSE)
        else finding
        for finding in found
    ]


def _by_name(files: Iterable[SourceFile]) -> dict[str, SourceFile]:
    return {source.file: source for source in files}


def _list_variables(trace: Trace) -> tuple[VariableFact, ...]:
    return () if trace.reads is None else trace.reads.variables
