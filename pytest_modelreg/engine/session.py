"""One run over the cases of one or more suites: observe, judge, accept.

What belongs here: the order of things for one case and what a run shares between
cases. How to observe, judge, store or render is the lower layers' and ``report``'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import CaseSkipped, GoldenError, ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.acceptance import accept, is_wanted
from pytest_modelreg.engine.failure import describe_crash, describe_failure
from pytest_modelreg.engine.outcome import Outcome, Place
from pytest_modelreg.engine.regeneration import Mode, Regeneration
from pytest_modelreg.engine.run import settle
from pytest_modelreg.engine.subject import (
    Subject,
    describe_missing,
    failed,
    judge_subject,
    skipped,
    subject_of_case,
    subject_of_values,
    with_error,
)
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.engine.values import VALUES_SUITE, ValuesCase, samples_of
from pytest_modelreg.fingerprint import NO_FACTS, GitState, git_state
from pytest_modelreg.observe import SharedWork, observe_case, observe_values
from pytest_modelreg.store import (
    RunFolder,
    read_golden,
    read_samples,
    verify_files,
)

_REGENERATING = (
    "this run regenerates the reference's golden in another process; compare in a run of its own: "
    "pytest --modelreg"
)

Progress = Callable[[str, int, int], None]
"""Called with case id, samples done and samples in all."""


class Session:
    """Runs cases and keeps what they share.

    Parameters
    ----------
    run_folder : RunFolder
        Where observations of cases that are not a match stay.
    regeneration : Regeneration or None
        What becomes of observations that differ from their golden. None for a plain
        run, which never writes under a golden folder.
    default_threads : int or None
        Threads of a case whose suite sets none: this process's share of the machine.
    project_facts : mapping of str to scalar
        What the project adds to every fingerprint, by dotted key.
    is_one_of_several : bool
        Whether other processes run other cases of the same run.
    """

    def __init__(
        self,
        *,
        run_folder: RunFolder,
        regeneration: Regeneration | None = None,
        default_threads: int | None = None,
        progress: Progress | None = None,
        project_facts: Mapping[str, FactValue] = NO_FACTS,
        is_one_of_several: bool = False,
    ) -> None:
        self.run_folder = run_folder
        self.regeneration = regeneration
        self._default_threads = default_threads
        self._progress = progress
        self._project_facts = project_facts
        self._is_one_of_several = is_one_of_several
        self._shared = SharedWork(run_folder.work_folder)
        self._samples: dict[Path, SampleSet | ModelRegError] = {}
        self._git: dict[Path, GitState] = {}

    def expect(self, cases: Iterable[tuple[Suite, CasePlan]]) -> None:
        """Tell the session what it is going to run, so that what two cases need is kept for the second.

        Nothing is run here; cases whose samples cannot be read say so when they run.
        """
        specs = []
        for suite, case in cases:
            with suppress(ModelRegError):
                specs.append(case.spec(self._read_samples(suite.samples_folder)))
        self._shared.expect(specs)

    def close(self) -> None:
        """Remove what was kept for the cases of this session."""
        self._shared.close()

    def run_case(self, suite: Suite, case: CasePlan) -> Outcome:
        """Observe and judge one case of a suite; :meth:`conclude` is what comes after.

        Whatever goes wrong becomes verdict ``error`` of this case: the run goes on.
        """
        subject = subject_of_case(suite, case)

        def observe(folder: Path) -> tuple[Observation, SampleSet]:
            spec = replace(
                case.spec(samples), default_threads=self._default_threads, facts=self._project_facts
            )
            progress = self._report_progress(spec)
            return observe_case(spec, folder, progress=progress, shared=self._shared), samples

        if self.regeneration is not None and self._is_one_of_several and not case.keeps_golden:
            # Which golden it would meet, the old or the new one, depends on who is faster.
            return skipped(subject, _REGENERATING)
        try:
            samples = self._read_samples(suite.samples_folder)
        except ModelRegError as error:
            return failed(subject, describe_failure(error))
        return self._judge_case(subject, observe)

    def check_values(self, case: ValuesCase) -> Outcome:
        """Judge values that a Python test handed over; :meth:`conclude` is what comes after."""
        subject = subject_of_values(case)

        def observe(folder: Path) -> tuple[Observation, SampleSet]:
            observation = observe_values(
                case.values,
                folder,
                suite=VALUES_SUITE,
                variant=case.variant,
                outputs=case.outputs,
                sample_ids=case.sample_ids,
                facts=self._project_facts,
            )
            return observation, samples_of(observation)

        return self._judge_case(subject, observe)

    def conclude(self, outcome: Outcome) -> Outcome:
        """Record what the regeneration accepts, and keep or remove the observation.

        What cannot be recorded becomes verdict ``error``; the golden is then as it was.
        """
        regeneration = self.regeneration
        if regeneration is not None and is_wanted(outcome, regeneration):
            found = outcome.result
            try:
                outcome = accept(outcome, regeneration, git=self._ask_git(outcome.place.root))
            except ModelRegError as error:
                return settle(with_error(outcome, describe_failure(error)))
            if found.verdict in (Verdict.DRIFT, Verdict.STALE):
                message = f"{outcome.result.message}; it was {found.verdict.value}: {found.message}"
                outcome = replace(outcome, result=replace(outcome.result, message=message))
        return settle(outcome)

    def _ask_git(self, root: Path) -> GitState:
        """Return the state of a repository as it was before this run wrote its first golden."""
        if root not in self._git:
            self._git[root] = git_state(root)
        return self._git[root]

    def _judge_case(
        self, subject: Subject, observe: Callable[[Path], tuple[Observation, SampleSet]]
    ) -> Outcome:
        started = time.perf_counter()
        try:
            outcome = self._observe_and_judge(subject, observe)
        except CaseSkipped as error:
            outcome = skipped(subject, str(error))
        except ModelRegError as error:
            outcome = failed(subject, describe_failure(error))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - the per-case edge: one broken case must not end the run
            outcome = failed(subject, describe_crash(error))
        return replace(outcome, result=replace(outcome.result, duration_s=time.perf_counter() - started))

    def _observe_and_judge(
        self, subject: Subject, observe: Callable[[Path], tuple[Observation, SampleSet]]
    ) -> Outcome:
        golden, fault = self._read_golden(subject.place)
        folder = self.run_folder.case_folder(subject.blank.id)
        observation, samples = observe(folder)
        if golden is None:
            result = replace(
                subject.blank,
                verdict=Verdict.MISSING,
                message=fault or describe_missing(subject.place),
                n_samples=len(observation.samples),
                command=subject.recording_command,
            )
        else:
            result = judge_subject(subject, golden, observation, folder, samples)
            if subject.place.choice is not None and subject.place.choice.note:
                result = replace(result, notes=(subject.place.choice.note, *result.notes))
        outcome = Outcome(
            result=result,
            place=subject.place,
            outputs=subject.outputs,
            checks=subject.checks,
            samples=samples,
            observation=observation,
            observation_folder=folder,
            golden=golden,
            golden_fault=fault,
            case=subject.case,
            is_numbered=subject.is_numbered,
        )
        if not outcome.waits:
            return outcome
        return replace(outcome, result=replace(result, command=subject.command, advice=subject.advice))

    def _report_progress(self, spec: CaseSpec) -> Callable[[int, int], None] | None:
        report = self._progress
        return None if report is None else lambda done, total: report(spec.id, done, total)

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

    def _read_golden(self, place: Place) -> tuple[Golden | None, str | None]:
        """Read and verify the golden before the forward pass, so that a broken one costs none.

        A broken golden ends the case, except where all goldens are replaced: then its
        fault is returned instead.
        """
        try:
            golden = read_golden(place.found, golden_root=place.golden_root)
            if golden is not None:
                verify_files(place.found, golden)
        except GoldenError as error:
            if self.regeneration is not None and self.regeneration.mode is Mode.ALL:
                return None, str(error)
            raise
        return golden, None
