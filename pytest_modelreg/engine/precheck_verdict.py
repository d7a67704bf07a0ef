"""What a precheck comes to: from inputs, and from what the model answered, to a verdict in words."""

from __future__ import annotations

import shlex
from dataclasses import replace

from pytest_modelreg.domain.precheck import InputResult, PrecheckResult
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.subject import Subject
from pytest_modelreg.judge import describe_difference


def describe_same(n_samples: int, *, is_variant: bool) -> str:
    """Return that nothing differs, and what that spared."""
    what = "as they were when the reference's golden was recorded" if is_variant else "bit-identical"
    return f"inputs {what} for all {_count(n_samples)}: no model was built"


def conclude_precheck(
    blank: PrecheckResult, subject: Subject, inputs: InputResult, outcome: Outcome | None
) -> PrecheckResult:
    """Return what inputs and, where they differ, the model's answers come to.

    Parameters
    ----------
    blank : PrecheckResult
        Names, and notes on the golden, only.
    outcome : Outcome or None
        The model on the samples whose inputs differ; None where none do.
    """
    result = replace(blank, inputs=inputs, command=subject.command, advice=subject.advice)
    if outcome is None:
        if inputs.difference:
            return replace(result, verdict=Verdict.STALE, message=_describe_stale(inputs))
        message = describe_same(len(inputs.common), is_variant=False)
        return replace(result, verdict=Verdict.MATCH, message=message, command="", advice="")
    behaviour = outcome.result
    result = replace(result, behaviour=behaviour)
    if behaviour.verdict in (Verdict.ERROR, Verdict.SKIPPED):
        # What the change does is not known: no verdict that anybody may rely on.
        return replace(
            result,
            verdict=Verdict.ERROR,
            message=f"{_describe_distances(inputs)}; the model could not be run on them: {behaviour.message}",
            details=behaviour.details,
            command="",
            advice="",
        )
    if behaviour.verdict is Verdict.DRIFT:
        stale = f"{_describe_stale(inputs)}; " if inputs.difference else ""
        return replace(
            result,
            verdict=Verdict.DRIFT,
            message=f"{stale}{_describe_distances(inputs)}; behaviour drifts: {behaviour.message}",
            # Where the model gave no answer, there is nothing to accept.
            command=behaviour.command,
            advice=behaviour.advice,
        )
    return _conclude_same_behaviour(result, subject, inputs, behaviour)


def _conclude_same_behaviour(
    result: PrecheckResult, subject: Subject, inputs: InputResult, behaviour: CaseResult
) -> PrecheckResult:
    n_run = behaviour.n_samples
    answers = f"the model answers as pinned on {'it' if n_run == 1 else f'these {n_run}'}"
    quiet = replace(result, command="", advice="")
    if inputs.difference:
        stale = f"{_describe_stale(inputs)}; {_describe_distances(inputs)}; {answers}"
        return replace(result, verdict=Verdict.STALE, message=stale)
    if behaviour.inputs_identical:
        note = (
            "preprocessing reads something that the model factory sets: once it has run, the inputs are "
            "bit-identical; a precheck of this suite always has to build the model"
        )
        return replace(
            quiet,
            verdict=Verdict.MATCH,
            message=f"inputs bit-identical for all {_count(len(inputs.common))}",
            notes=(*result.notes, note),
        )
    if subject.case is not None and not subject.case.keeps_golden:
        # Such a variant is meant to be fed something else; its limits say how much that may matter.
        return replace(
            quiet,
            verdict=Verdict.MATCH,
            message=f"{_describe_distances(inputs)}, as this variant's preprocess may; "
            f"{answers}, within its limits",
        )
    if inputs.dtypes:
        return replace(
            quiet,
            verdict=Verdict.MATCH,
            message=f"inputs differ in dtype only ({inputs.dtypes}) for {len(inputs.distances)} of "
            f"{_count(len(inputs.common))}; {answers}",
        )
    if inputs.is_within_limit:
        return replace(
            quiet,
            verdict=Verdict.MATCH,
            message=f"{_describe_distances(inputs)} by at most {inputs.limit:g}, as another CPU makes; "
            f"{answers}",
        )
    return replace(
        result,
        verdict=Verdict.DRIFT,
        message=f"{_describe_distances(inputs)}; {answers}, within the limits",
        # A golden whose case matches is replaced by no other mode.
        command=f'modelreg regen {shlex.quote(result.id)} --mode all --reason "why it changed"',
    )


def _describe_distances(inputs: InputResult) -> str:
    return f"inputs differ for {len(inputs.distances)} of {_count(len(inputs.common))}"


def _describe_stale(inputs: InputResult) -> str:
    return f"the sample set differs from the golden's: {describe_difference(inputs.difference)}"


def _count(n_samples: int) -> str:
    return f"{n_samples} sample{'' if n_samples == 1 else 's'}"
