"""Making an observation the golden of its case: the only way into ``golden/``.

What a calibration measured goes beside it, by :func:`keep_noise_floor`, and replaces no output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.golden import Acceptance, Calibration, Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.judging import judge_as
from pytest_modelreg.engine.outcome import Outcome, Place
from pytest_modelreg.engine.regeneration import FIRST_RECORDING, Regeneration
from pytest_modelreg.fingerprint import GitState
from pytest_modelreg.judge import JudgeRequest, profile_observation, summarise
from pytest_modelreg.store import (
    golden_sha256,
    restore_attributes,
    summary_file,
    write_golden,
    write_noise_floor,
)


def is_wanted(outcome: Outcome, regeneration: Regeneration) -> bool:
    """Whether a regeneration takes what a case observed.

    A case that is held against another environment's golden is one like any other: what differs
    from it is a drift here too, and ``missing`` leaves it alone.
    """
    return outcome.keeps_golden and regeneration.accepts(outcome.result.verdict)


def accept(
    outcome: Outcome,
    regeneration: Regeneration,
    *,
    git: GitState,
    variant_inputs: Mapping[str, str] | None = None,
) -> Outcome:
    """Make an outcome's observation the golden of its case.

    A golden that already holds exactly this observation keeps every byte.

    Parameters
    ----------
    git : GitState
        Commit and dirty flag to put on record.
    variant_inputs : mapping of str to str, optional
        What variants are fed that are judged against this golden; None where nobody looked: what the
        superseded golden knew is kept then.

    Raises
    ------
    RegenerationRefused
        When a golden would be replaced, or a drift from another environment's recorded, without a reason.
    JudgeError
        When no later run could be judged against it.
    GoldenError
        When it cannot be written; the old golden is then as it was.
    """
    observation, source, samples = outcome.observation, outcome.observation_folder, outcome.samples
    if observation is None or source is None or samples is None:
        raise ModelRegError(
            f"{outcome.result.id}: expected answers to accept, got none: {outcome.result.message}\n"
            f"{outcome.result.details}".rstrip()
        )
    if variant_inputs is None:
        variant_inputs = {} if outcome.golden is None else outcome.golden.variant_inputs
    superseded = golden_sha256(outcome.place.golden)
    summary = summarise(source, observation, samples, outcome.outputs)
    if superseded is None and not outcome.needs_reason:
        reason = regeneration.reason or FIRST_RECORDING
    elif superseded is None:
        reason = regeneration.require_reason(outcome.result.id, against=outcome.place.found.name)
    elif outcome.golden is not None and _is_same(outcome.golden, observation, summary, variant_inputs):
        return _recorded(outcome, "the golden already holds exactly this; left as it was")
    else:
        reason = regeneration.require_reason(outcome.result.id)
    calibrated = _find_calibrated(outcome, observation)
    golden = Golden(
        observation=replace(observation, input_points=None),  # it has what its trace keeps of them
        accepted=Acceptance(
            date=datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z"),
            reason=reason,
            git_commit=git.commit,
            git_dirty=git.dirty,
            ci=regeneration.ci,
            supersedes=superseded,
        ),
        profiles=profile_observation(source, observation),
        noise_floor={} if calibrated is None else calibrated.noise_floor,
        calibration=None if calibrated is None else calibrated.calibration,
        variant_inputs=variant_inputs,
    )
    _require_judgeable(outcome, golden, observation, source, samples)
    write_golden(outcome.place.golden, golden, source, summary, golden_root=outcome.place.golden_root)
    what = "recorded" if superseded is None else "replaced"
    dropped = ""
    if superseded is not None and calibrated is None and outcome.golden and outcome.golden.noise_floor:
        dropped = "; its noise floor was of the old outputs and is gone: modelreg calibrate measures it"
    return _recorded(outcome, f"{what}{_describe_source(observation)}: {reason}{dropped}")


def keep_attributes(outcome: Outcome) -> bool:
    """Restore the file that keeps a golden's line ends in git, where the case has a golden of its own.

    Returns
    -------
    bool
        Whether it was missing or damaged.

    Raises
    ------
    GoldenError
        When it cannot be written.
    """
    place = outcome.place
    if outcome.observation is None or not outcome.keeps_golden:
        return False
    return restore_attributes(place.golden, golden_root=place.golden_root)


def keep_noise_floor(
    place: Place, noise_floor: Mapping[str, float], calibration: Calibration, *, measured_on: str
) -> None:
    """Put a measured noise floor beside a golden's outputs, which stay as they were accepted.

    Parameters
    ----------
    noise_floor : mapping of str to float
        By output path, dimensionless.
    measured_on : str
        sha256 of the ``golden.json`` that the measured run was held against.

    Raises
    ------
    GoldenError
        When the golden is another one by now, or cannot be written.
    """
    write_noise_floor(
        place.golden, noise_floor, calibration, measured_on=measured_on, golden_root=place.golden_root
    )


def _find_calibrated(outcome: Outcome, observation: Observation) -> Golden | None:
    """Return the superseded golden where its noise floor still holds: it was measured on these very outputs.

    Other outputs may lie elsewhere on a steep function, so that no floor of theirs is known.
    """
    old = outcome.golden
    if old is None or outcome.place.is_fallback or old.observation.outputs != observation.outputs:
        return None
    return old


def _require_judgeable(
    outcome: Outcome, golden: Golden, observation: Observation, source: Path, samples: SampleSet
) -> None:
    """Judge the new golden against itself, which costs no pass over the values.

    A check that cannot be applied, or an output in which nothing can be compared, must
    come up now and not in the next run, when the golden can never be green.

    Raises
    ------
    JudgeError
        As the next run would.
    """
    judge_as(
        outcome.case,
        JudgeRequest(
            golden=golden,
            golden_folder=source,
            observation=observation,
            observation_folder=source,
            samples=samples,
            outputs=outcome.outputs,
            checks=outcome.checks,
            is_handed_over=outcome.case is None,
        ),
    )


def _is_same(
    golden: Golden,
    observation: Observation,
    summary: Sequence[Sequence[str]],
    variant_inputs: Mapping[str, str],
) -> bool:
    """Whether recording would change nothing but the provenance.

    The summary counts: it also depends on what the suite says the numbers mean. So does whether the golden
    has probes and points of its inputs, what the project's code reads and a trace at all: one from before
    they were recorded gets them.
    """
    known = [
        (
            side.input_probes is not None,
            side.trace is not None,
            side.trace is not None and side.trace.points is not None,
            side.trace is not None and side.trace.reads is not None,
        )
        for side in (golden.observation, observation)
    ]
    return (
        golden.observation == observation
        and golden.summary == summary_file(summary)
        and golden.variant_inputs == variant_inputs
        and known[0] == known[1]
    )


def _describe_source(observation: Observation) -> str:
    """Return from how many samples a golden is; nothing where no output has a row a sample."""
    n_samples = len(observation.samples)
    if all(record.per == "batch" for record in observation.outputs.values()):
        return ""
    return f" from {n_samples} sample{'s' if n_samples != 1 else ''}"


def _recorded(outcome: Outcome, message: str) -> Outcome:
    """Return the outcome as one in which nothing was compared."""
    result = replace(
        outcome.result, verdict=Verdict.RECORDED, message=message, command="", details="", notes=()
    )
    return replace(outcome, result=result)
