"""Making an observation the golden of its case: the only way into ``golden/``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.judging import judge_as
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.regeneration import FIRST_RECORDING, Regeneration
from pytest_modelreg.fingerprint import GitState
from pytest_modelreg.judge import JudgeRequest, profile_observation, summarise
from pytest_modelreg.store import golden_sha256, summary_file, write_golden


def is_wanted(outcome: Outcome, regeneration: Regeneration) -> bool:
    """Whether a regeneration takes what a case observed.

    An environment that is held against another one's golden has none of its own yet: where the
    two differ, every mode records it, and nothing is replaced.
    """
    verdict = outcome.result.verdict
    is_first_here = outcome.place.is_fallback and verdict in (Verdict.DRIFT, Verdict.STALE)
    return outcome.keeps_golden and (regeneration.accepts(verdict) or is_first_here)


def accept(outcome: Outcome, regeneration: Regeneration, *, git: GitState) -> Outcome:
    """Make an outcome's observation the golden of its case.

    A golden that already holds exactly this observation keeps every byte.

    Parameters
    ----------
    git : GitState
        Commit and dirty flag to put on record.

    Raises
    ------
    RegenerationRefused
        When a golden would be replaced without a reason.
    JudgeError
        When no later run could be judged against it.
    GoldenError
        When it cannot be written; the old golden is then as it was.
    """
    observation, source, samples = outcome.observation, outcome.observation_folder, outcome.samples
    if observation is None or source is None or samples is None:
        raise ModelRegError(f"{outcome.result.id}: expected an observation to accept, the case could not run")
    superseded = golden_sha256(outcome.place.golden)
    summary = summarise(source, observation, samples, outcome.outputs)
    if superseded is None:
        reason = regeneration.reason or FIRST_RECORDING
    elif outcome.golden is not None and _is_same(outcome.golden, observation, summary):
        return _recorded(outcome, "the golden already holds exactly this; left as it was")
    else:
        reason = regeneration.require_reason(outcome.result.id)
    golden = Golden(
        observation=observation,
        accepted=Acceptance(
            date=datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z"),
            reason=reason,
            git_commit=git.commit,
            git_dirty=git.dirty,
            ci=regeneration.ci,
            supersedes=superseded,
        ),
        profiles=profile_observation(source, observation),
    )
    _require_judgeable(outcome, golden, observation, source, samples)
    write_golden(outcome.place.golden, golden, source, summary, golden_root=outcome.place.golden_root)
    what = "recorded" if superseded is None else "replaced"
    return _recorded(outcome, f"{what}{_describe_source(observation)}: {reason}")


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


def _is_same(golden: Golden, observation: Observation, summary: Sequence[Sequence[str]]) -> bool:
    """Whether recording would change nothing but the provenance.

    The summary counts: it also depends on what the suite says the numbers mean.
    """
    return golden.observation == observation and golden.summary == summary_file(summary)


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
