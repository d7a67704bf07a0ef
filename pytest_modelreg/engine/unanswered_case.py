"""A case whose model raised on its inputs: a drift where they have another form than the golden's.

What belongs here: having the inputs, without the model, and holding them against the golden's. What
their forms come to is ``judge``'s; a failure that they do not explain stays the case's error.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.errors import ForwardError, ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.engine.failure import describe_failure
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.pipelines import is_fed_tensors, list_prechecked
from pytest_modelreg.engine.sample_sets import SampleSets, confine
from pytest_modelreg.engine.subject import Subject
from pytest_modelreg.judge import JudgeRequest, judge_unanswered
from pytest_modelreg.observe import observe_inputs, read_known_probes


def explain_unanswered(
    subject: Subject, golden: Golden | None, sets: SampleSets, folder: Path, error: ForwardError
) -> Outcome:
    """Return the outcome of a case whose inputs explain why its forward pass raised.

    Parameters
    ----------
    sets : SampleSets
        Holds the samples that were run.
    folder : Path
        Where files may be written meanwhile.

    Returns
    -------
    Outcome
        Without an observation, so that there is nothing to accept.

    Raises
    ------
    ForwardError
        The failure itself, where the golden knows no forms or they are as they were.
    """
    case = subject.case
    if case is None or golden is None or golden.observation.input_probes is None:
        raise error
    if not list_prechecked([case]):
        raise error  # another environment prepares its inputs, and may prepare others
    try:
        samples = sets.read(case.template.samples)
        observation = observe_inputs(
            case.spec(confine(samples, subject.only)),
            folder,
            to_tensors=is_fed_tensors(golden.observation),
            known=read_known_probes(subject.place.found, golden),
        )
        request = JudgeRequest(
            golden=golden,
            golden_folder=subject.place.found,
            observation=observation,
            observation_folder=folder,
            samples=samples,
            outputs=subject.outputs,
            checks=subject.checks,
            is_variant=not case.keeps_golden,
            only=subject.only,
        )
        result = judge_unanswered(request, failure=describe_failure(error), reason=_shorten(error))
    except ModelRegError:  # inputs that only a model's factory makes possible: the failure itself is told
        raise error from error.__cause__
    if result is None:
        raise error
    choice = subject.place.choice
    if choice is not None and choice.note:
        result = replace(result, notes=(choice.note, *result.notes))
    return Outcome(
        result=result,
        place=subject.place,
        outputs=subject.outputs,
        checks=subject.checks,
        samples=samples,
        golden=golden,
        case=case,
    )


def _shorten(error: ForwardError) -> str:
    """Return what was raised, without which samples and where: the details say that."""
    cause = error.__cause__
    if cause is None:  # told by a worker
        return str(error).partition("\n")[0]
    text = str(cause).partition("\n")[0]
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__
