"""One run over the cases of one or more suites: observe, judge, accept.

What belongs here: the order of things for one case and what a run shares between
cases. How to observe, judge, store or render is the lower layers' and ``report``'s.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError, ModelRegError
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.failure import describe_crash, describe_failure
from pytest_modelreg.engine.regeneration import FIRST_RECORDING, Mode, Regeneration
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.fingerprint import git_state
from pytest_modelreg.judge import JudgeRequest, judge_case, profile_observation, summarise
from pytest_modelreg.observe import observe_case
from pytest_modelreg.store import (
    RunFolder,
    golden_folder,
    golden_sha256,
    read_golden,
    read_samples,
    verify_files,
    write_golden,
    write_observation,
)

Progress = Callable[[str, int, int], None]
"""Called with case id, samples done and samples in all."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What running one case left behind: the verdict and what it was reached from.

    Parameters
    ----------
    observation : Observation or None
        None when the case could not run.
    observation_folder : Path or None
        Where its arrays are, or were: those of a match are removed.
    golden : Golden or None
        What it was judged against; None when there is none or it cannot be read.
    """

    suite: Suite
    case: CasePlan
    result: CaseResult
    samples: SampleSet | None = None
    observation: Observation | None = None
    observation_folder: Path | None = None
    golden: Golden | None = None


class Session:
    """Runs cases and keeps what they share.

    Parameters
    ----------
    run_folder : RunFolder
        Where observations of cases that are not a match stay.
    regeneration : Regeneration or None
        Whether and which observations become goldens at once; None for a plain run,
        which never writes under a golden folder.
    """

    def __init__(
        self,
        *,
        run_folder: RunFolder,
        regeneration: Regeneration | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.run_folder = run_folder
        self.regeneration = regeneration
        self._progress = progress
        self._samples: dict[Path, SampleSet | ModelRegError] = {}

    def run_case(self, suite: Suite, case: CasePlan, *, keep: bool = False) -> Outcome:
        """Observe and judge one case; with a regeneration, record what it accepts.

        Whatever goes wrong becomes verdict ``error`` of this case: the run goes on.

        Parameters
        ----------
        keep : bool
            Leave the observation of a match in the run folder, for somebody who may
            still accept it; :meth:`discard_matches` removes it afterwards.
        """
        started = time.perf_counter()
        try:
            outcome = self._observe_and_judge(suite, case)
            if self.regeneration is not None and self.regeneration.accepts(outcome.result.verdict):
                outcome = self.accept(outcome, self.regeneration)
        except ModelRegError as error:
            outcome = self._failed(suite, case, describe_failure(error))
        except Exception as error:  # noqa: BLE001 - the per-case edge: one broken case must not end the run
            outcome = self._failed(suite, case, describe_crash(error))
        outcome = replace(outcome, result=replace(outcome.result, duration_s=time.perf_counter() - started))
        if not keep:
            self.discard_matches([outcome])
        return outcome

    def discard_matches(self, outcomes: Iterable[Outcome]) -> None:
        """Remove observations that agree with their golden: they hold nothing to look at."""
        for outcome in outcomes:
            if outcome.result.verdict.passes and outcome.observation_folder is not None:
                shutil.rmtree(outcome.observation_folder, ignore_errors=True)

    def accept(self, outcome: Outcome, regeneration: Regeneration) -> Outcome:
        """Make an outcome's observation the golden of its case.

        A golden that already holds exactly this observation keeps every byte.

        Raises
        ------
        RegenerationRefused
            When a golden would be replaced without a reason.
        GoldenError
            When it cannot be written; the old golden is then as it was.
        """
        observation, source, samples = outcome.observation, outcome.observation_folder, outcome.samples
        if observation is None or source is None or samples is None:
            raise ModelRegError(f"{outcome.result.id}: there is no observation to accept")
        folder = golden_folder(outcome.suite.golden_root, outcome.suite.name, outcome.case.variant)
        superseded = golden_sha256(folder)
        if superseded is None:
            reason = regeneration.reason or FIRST_RECORDING
        elif outcome.golden is not None and _same_facts(outcome.golden.observation, observation):
            return self._recorded(outcome, "the golden already holds exactly this; left as it was")
        else:
            reason = regeneration.require_reason(outcome.result.id)
        git = git_state(outcome.suite.root)
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
        write_golden(folder, golden, source, summarise(source, observation, samples, outcome.case.outputs))
        what = "recorded" if superseded is None else "replaced"
        return self._recorded(outcome, f"{what} from {len(observation.samples)} samples: {reason}")

    def _observe_and_judge(self, suite: Suite, case: CasePlan) -> Outcome:
        samples = self._read_samples(suite.samples_folder)
        spec = case.spec(samples)
        folder = golden_folder(suite.golden_root, suite.name, case.variant)
        golden = self._read_golden(folder)
        target = self.run_folder.case_folder(spec.id)
        report = self._progress
        observation = observe_case(
            spec,
            target,
            progress=None if report is None else lambda done, total: report(spec.id, done, total),
        )
        write_observation(target, observation)
        if golden is None:
            result = self._missing(suite, case, observation, folder)
        else:
            result = judge_case(
                JudgeRequest(
                    golden=golden,
                    golden_folder=folder,
                    observation=observation,
                    observation_folder=target,
                    samples=samples,
                    outputs=case.outputs,
                    checks=case.checks,
                )
            )
            if result.verdict in (Verdict.DRIFT, Verdict.STALE):
                result = replace(result, command=accepting_command(result.id, replaces=True))
        return Outcome(
            suite=suite,
            case=case,
            result=result,
            samples=samples,
            observation=observation,
            observation_folder=target,
            golden=golden,
        )

    def _read_samples(self, folder: Path) -> SampleSet:
        if folder not in self._samples:
            try:
                self._samples[folder] = read_samples(folder)
            except ModelRegError as error:
                self._samples[folder] = error
        found = self._samples[folder]
        if isinstance(found, ModelRegError):
            raise found
        return found

    def _read_golden(self, folder: Path) -> Golden | None:
        """Read and verify the golden before the forward pass, so that a broken one costs none."""
        rewrites_all = self.regeneration is not None and self.regeneration.mode is Mode.ALL
        try:
            golden = read_golden(folder)
            if golden is not None:
                verify_files(folder, golden)
        except GoldenError:
            if rewrites_all:
                return None
            raise
        return golden

    def _missing(self, suite: Suite, case: CasePlan, observation: Observation, folder: Path) -> CaseResult:
        return CaseResult(
            suite=suite.name,
            variant=case.variant,
            axes=case.axes,
            verdict=Verdict.MISSING,
            message=f"no golden at {_relative(folder, suite.root)}: nothing was compared",
            n_samples=len(observation.samples),
            command=accepting_command(case.id, replaces=False),
        )

    def _recorded(self, outcome: Outcome, message: str) -> Outcome:
        result = replace(
            outcome.result, verdict=Verdict.RECORDED, message=message, command="", details="", notes=()
        )
        return replace(outcome, result=result)

    def _failed(self, suite: Suite, case: CasePlan, text: str) -> Outcome:
        message, _, details = text.removeprefix(f"{case.id}: ").partition("\n")
        return Outcome(
            suite=suite,
            case=case,
            result=CaseResult(
                suite=suite.name,
                variant=case.variant,
                axes=case.axes,
                verdict=Verdict.ERROR,
                message=message,
                details=details,
            ),
        )


def accepting_command(case_id: str, *, replaces: bool) -> str:
    """Return the one command that makes what was seen the golden."""
    command = f"modelreg regen {shlex.quote(case_id)}"
    return f'{command} --reason "why it changed"' if replaces else command


def new_run_id() -> str:
    """Return an id for a run: a UTC timestamp to the microsecond, sortable by name."""
    return datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S-%fZ")


def open_run_folder(base: Path, run_id: str, *, chosen: Path | None = None) -> RunFolder:
    """Make the folder of a run: the chosen one, else ``<base>/.modelreg/runs/<run id>/``."""
    return RunFolder.create(base / ".modelreg", run_id) if chosen is None else RunFolder.at(chosen)


def _same_facts(golden: Observation, observation: Observation) -> bool:
    """Whether recording would change nothing but the provenance."""
    return golden == replace(observation, duration_s=golden.duration_s)


def _relative(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.as_posix()
