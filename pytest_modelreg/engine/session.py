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

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import CaseSkipped, ForwardError, ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.diagnosis import DiagnosisBudget
from pytest_modelreg.engine.failure import describe_crash, describe_failure
from pytest_modelreg.engine.golden_race import GoldenRace
from pytest_modelreg.engine.golden_reading import read_trusted_golden
from pytest_modelreg.engine.golden_recorder import GoldenRecorder
from pytest_modelreg.engine.observer import CaseProgress, Observer
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.regeneration import Regeneration
from pytest_modelreg.engine.run import settle
from pytest_modelreg.engine.sample_sets import SampleSets, confine
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
from pytest_modelreg.engine.unanswered_case import explain_unanswered
from pytest_modelreg.engine.values import VALUES_SUITE, ValuesCase, samples_of
from pytest_modelreg.fingerprint import NO_FACTS
from pytest_modelreg.observe import observe_values, read_known_probes
from pytest_modelreg.store import RunFolder

_Observe = Callable[[Path, "Golden | None"], tuple[Observation, SampleSet]]


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
        Whether other processes run other cases of the same run: those that this one is told to expect.
    keeps_outputs : bool
        Whether observations of cases that are a match stay too.
    say : callable or None
        Takes lines on what takes long before a case can run.
    diagnose : str
        One of ``engine.diagnosis.DIAGNOSE_MODES``: whether and how long drifts are explained.
    """

    def __init__(
        self,
        *,
        run_folder: RunFolder,
        regeneration: Regeneration | None = None,
        default_threads: int | None = None,
        progress: CaseProgress | None = None,
        project_facts: Mapping[str, FactValue] = NO_FACTS,
        is_one_of_several: bool = False,
        keeps_outputs: bool = False,
        say: Callable[[str], None] | None = None,
        diagnose: str = "off",
    ) -> None:
        self.run_folder = run_folder
        self.regeneration = regeneration
        self._project_facts = project_facts
        self._race = GoldenRace(is_possible=is_one_of_several and regeneration is not None)
        self._keeps_outputs = keeps_outputs
        self._observer = Observer(
            run_folder.work_folder,
            default_threads=default_threads,
            project_facts=project_facts,
            progress=progress,
            say=say,
        )
        self._samples = SampleSets()
        self._budget = DiagnosisBudget(diagnose)
        self._suites: dict[str, Suite] = {}
        self._recorder = GoldenRecorder(self._observer)

    def expect(self, cases: Iterable[tuple[Suite, CasePlan]]) -> None:
        """Tell the session what it is going to run, so that what two cases need is kept for the second.

        Nothing is run here; cases whose samples cannot be read say so when they run.
        """
        specs = []
        for suite, case in cases:
            self._race.expect(case)
            with suppress(ModelRegError):
                specs.append(case.spec(self._samples.read(suite.samples)))
        self._observer.expect(specs)

    def close(self) -> None:
        """Remove what was kept for the cases of this session."""
        self._observer.close()

    def run_case(self, suite: Suite, case: CasePlan, *, only: frozenset[str] | None = None) -> Outcome:
        """Observe and judge one case of a suite; :meth:`conclude` is what comes after.

        Whatever goes wrong becomes verdict ``error`` of this case: the run goes on.

        Parameters
        ----------
        only : frozenset of str or None
            Samples to run, where the answers to others are not asked for. Such an outcome must not be
            concluded: a golden made from it would be a part of one.
        """
        subject = replace(subject_of_case(suite, case), only=only)
        self._suites[case.id] = suite

        def observe(folder: Path, golden: Golden | None) -> tuple[Observation, SampleSet]:
            keeps_probes = case.keeps_golden and only is None
            known = read_known_probes(subject.place.found, golden) if keeps_probes else None
            spec = case.spec(confine(samples, only))
            return self._observer.observe(spec, folder, golden=golden, known=known), samples

        doubt = self._race.find_doubt(suite, case)
        if doubt is not None:
            return skipped(subject, doubt)
        try:
            samples = self._samples.read(suite.samples)
        except ModelRegError as error:
            return failed(subject, describe_failure(error))
        outcome = self._judge_case(subject, observe)
        return self._explain(outcome, suite) if only is None else outcome

    def _explain(self, outcome: Outcome, suite: Suite) -> Outcome:
        if outcome.result.verdict is not Verdict.DRIFT or not self._budget.is_open:
            return outcome
        from pytest_modelreg.engine.diagnosis.explanation import explain_outcome

        folder = self.run_folder.work_folder / "replays"
        return explain_outcome(outcome, suite, self._observer, folder, self._budget)

    def check_values(self, case: ValuesCase) -> Outcome:
        """Judge values that a Python test handed over; :meth:`conclude` is what comes after."""
        subject = subject_of_values(case)

        def observe(folder: Path, golden: Golden | None) -> tuple[Observation, SampleSet]:
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
        if self.regeneration is not None:
            suite = self._suites.get(outcome.result.id)
            try:
                outcome = self._recorder.record(outcome, self.regeneration, suite)
            except ModelRegError as error:
                outcome = with_error(outcome, describe_failure(error))
        return settle(outcome, keeps_outputs=self._keeps_outputs)

    def _judge_case(self, subject: Subject, observe: _Observe) -> Outcome:
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

    def _observe_and_judge(self, subject: Subject, observe: _Observe) -> Outcome:
        golden, fault = read_trusted_golden(subject.place, self.regeneration)
        folder = self.run_folder.case_folder(subject.blank.id)
        try:
            observation, samples = observe(folder, golden)
        except ForwardError as error:
            return explain_unanswered(subject, golden, self._samples, folder, error)
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
