"""Prechecking a suite: its inputs held against its goldens', the model run only where they differ.

What belongs here: the order of things for one suite, and what they come to. How inputs are observed
and judged is the lower layers'; which suites are prechecked is ``selection``'s and ``change``'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_modelreg.domain.case import REFERENCE
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import UNREPEATABLE, Observation
from pytest_modelreg.domain.precheck import InputResult, PrecheckResult
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.failure import describe_crash, describe_failure
from pytest_modelreg.engine.golden_reading import read_trusted_golden
from pytest_modelreg.engine.outcome import Outcome, place_of
from pytest_modelreg.engine.pipelines import (
    digest_inputs,
    is_fed_tensors,
    list_prechecked,
    list_variants_apart,
    pipeline_of,
)
from pytest_modelreg.engine.precheck_verdict import conclude_precheck, describe_same
from pytest_modelreg.engine.sample_sets import SampleSets
from pytest_modelreg.engine.subject import Subject, describe_missing, subject_of_case
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.judge import JudgeRequest, judge_inputs
from pytest_modelreg.observe import KnownProbes, observe_inputs, read_known_probes

RunModel = Callable[[Suite, CasePlan, "frozenset[str] | None"], Outcome]
"""Runs a case on some of its samples, or on all."""

Progress = Callable[[str, int, int], None]
"""Called with case id, samples done and samples in all."""


@dataclass(frozen=True, kw_only=True)
class _Pinned:
    """A case whose inputs are prechecked, and the golden that knows them."""

    case: CasePlan
    subject: Subject
    golden: Golden | None


class Precheck:
    """Prechecks the pipelines of one suite.

    Parameters
    ----------
    folder : Path
        Where files may be written meanwhile.
    run_model : callable
        Asked only where inputs differ.
    """

    def __init__(
        self, suite: Suite, *, folder: Path, run_model: RunModel, progress: Progress | None = None
    ) -> None:
        self._suite = suite
        self._folder = folder
        self._run_model = run_model
        self._progress = progress
        self._samples = SampleSets()
        self._observed: dict[object, tuple[Observation, Path] | ModelRegError] = {}

    def run(self, chosen: Sequence[CasePlan] | None = None) -> list[PrecheckResult]:
        """Precheck the pipelines of the chosen cases; None: of all.

        Whatever goes wrong becomes verdict ``error`` of a pipeline: the others go on.
        """
        asked = self._suite.cases if chosen is None else chosen
        results = []
        for case, sharing in list_pipelines(self._suite.cases, asked):
            started = time.perf_counter()
            try:
                result = self._precheck(case)
            except ModelRegError as error:
                result = _failed(self._suite, case, describe_failure(error))
            except Exception as error:  # noqa: BLE001 - the per-case edge: one broken pipeline must not end the rest
                result = _failed(self._suite, case, describe_crash(error))
            results.append(replace(result, sharing=sharing, duration_s=time.perf_counter() - started))
        return results

    def _precheck(self, case: CasePlan) -> PrecheckResult:
        if case not in list_prechecked([case]):
            raise ModelRegError(
                "expected inputs that are prepared here, got a case that another environment prepares: its "
                "packages decide; compare with pytest --modelreg"
            )
        samples = self._samples.read(self._suite.samples)
        pinned = self._read_pinned(case)
        choice = pinned.subject.place.choice
        blank = PrecheckResult(
            suite=self._suite.name,
            variant=case.variant,
            verdict=Verdict.MISSING,
            message="",
            notes=(choice.note,) if choice is not None and choice.note else (),
        )
        if pinned.golden is None:
            command = pinned.subject.recording_command
            return replace(blank, message=describe_missing(pinned.subject.place), command=command)
        observation, folder = self._observe(pinned, samples)
        if not case.keeps_golden and digest_inputs(observation) == pinned.golden.variant_inputs.get(
            case.variant
        ):
            return replace(blank, verdict=Verdict.MATCH, message=describe_same(len(samples), is_variant=True))
        inputs = judge_inputs(self._request(pinned, observation, folder, samples))
        outcome = None
        if inputs.distances:
            outcome = self._run_model(self._suite, case, _choose_samples(pinned.golden, inputs))
        result = conclude_precheck(blank, pinned.subject, inputs, outcome)
        return result if result.verdict is not Verdict.DRIFT else self._explain(pinned, samples, result)

    def _explain(self, pinned: _Pinned, samples: SampleSet, result: PrecheckResult) -> PrecheckResult:
        """Return a drift with what changed in the pipeline."""
        if pinned.golden is None or result.inputs is None or not result.inputs.distances:
            return result
        from pytest_modelreg.engine.diagnosis.input_explanation import explain_precheck

        causes = explain_precheck(
            result,
            pinned.golden,
            pinned.subject.place.found,
            pinned.case.spec(samples),
            self._folder / "explained",
        )
        return replace(result, causes=causes)

    def _request(
        self, pinned: _Pinned, observation: Observation, folder: Path, samples: SampleSet
    ) -> JudgeRequest:
        if pinned.golden is None:
            raise ModelRegError(f"{pinned.case.id}: expected a golden to hold inputs against")
        return JudgeRequest(
            golden=pinned.golden,
            golden_folder=pinned.subject.place.found,
            observation=replace(observation, variant=pinned.case.variant, axes=pinned.case.axes),
            observation_folder=folder,
            samples=samples,
            outputs=pinned.case.outputs,
            checks=pinned.case.checks,
            is_variant=not pinned.case.keeps_golden,
        )

    def _read_pinned(self, case: CasePlan) -> _Pinned:
        subject = subject_of_case(self._suite, case)
        golden, _ = read_trusted_golden(subject.place)
        return _Pinned(case=case, subject=subject, golden=golden)

    def _observe(self, pinned: _Pinned, samples: SampleSet) -> tuple[Observation, Path]:
        """Decode and preprocess, once for all cases that are fed the same."""
        to_tensors = pinned.golden is not None and is_fed_tensors(pinned.golden.observation)
        batch_size = pinned.case.template.batch_size
        key: tuple[object, ...] = (pipeline_of(pinned.case), to_tensors)
        if _depends_on_batches(self._observed.get(key), batch_size):
            key = (*key, batch_size)
        if key not in self._observed:
            folder = self._folder / f"{len(self._observed)}"
            report = self._progress
            case = pinned.case
            try:
                observation = observe_inputs(
                    case.spec(samples),
                    folder,
                    to_tensors=to_tensors,
                    known=self._gather_probes(pinned),
                    progress=None if report is None else lambda done, total: report(case.id, done, total),
                )
            except ModelRegError as error:
                self._observed[key] = error
            else:
                self._observed[key] = observation, folder
        found = self._observed[key]
        if isinstance(found, ModelRegError):
            raise found
        return found

    def _gather_probes(self, pinned: _Pinned) -> KnownProbes | None:
        """Return the probes of all goldens that these inputs are held against; None: there are none."""
        rows = dict(read_known_probes(pinned.subject.place.found, pinned.golden).rows)
        for case in self._suite.cases:
            if case is pinned.case or not case.keeps_golden or pipeline_of(case) != pipeline_of(pinned.case):
                continue
            try:
                golden, _ = read_trusted_golden(place := place_of(self._suite, case))
                rows.update(read_known_probes(place.found, golden).rows)
            except ModelRegError:  # its own precheck says so
                continue
        return KnownProbes(rows=rows) if rows else None


def list_pipelines(
    cases: Sequence[CasePlan], asked: Sequence[CasePlan]
) -> list[tuple[CasePlan, tuple[str, ...]]]:
    """Return the cases whose inputs have to be looked at, each with the variants that are fed the same.

    That is every case with a golden of its own, and every variant that is judged against the
    reference's golden but fed something else.
    """
    here = {case.variant for case in list_prechecked(cases)}
    apart = {case.variant for case in list_variants_apart(cases)}
    reference = next((case for case in cases if case.variant == REFERENCE), None)
    chosen: dict[str, CasePlan] = {}
    sharing: dict[str, list[str]] = {}
    for case in asked:
        if case.variant not in here and case.variant != REFERENCE:
            continue  # what it is fed is made by another environment's packages
        own = case.keeps_golden or case.variant in apart or reference is None
        target = case if own or reference is None else reference
        chosen[target.variant] = target
        if target is not case:
            sharing.setdefault(target.variant, []).append(case.variant)
    order = [case.variant for case in cases]
    return [(chosen[variant], tuple(sharing.get(variant, ()))) for variant in sorted(chosen, key=order.index)]


def _depends_on_batches(found: tuple[Observation, Path] | ModelRegError | None, batch_size: int) -> bool:
    """Whether inputs were observed that another batch size may make others: a buffer that is used again."""
    if found is None or isinstance(found, ModelRegError):
        return False
    observation, _ = found
    return observation.batch_size != batch_size and any(
        habit.habit in UNREPEATABLE for habit in observation.habits
    )


def _choose_samples(golden: Golden, inputs: InputResult) -> frozenset[str] | None:
    """Return the samples that the model has to answer; None for all, where outputs are per batch."""
    if any(record.per == "batch" for record in golden.observation.outputs.values()):
        return None
    return frozenset(distance.sample for distance in inputs.distances)


def _failed(suite: Suite, case: CasePlan, text: str) -> PrecheckResult:
    text = text.removeprefix(f"{case.id}: ")
    message, _, details = text.partition("\n")
    return PrecheckResult(
        suite=suite.name, variant=case.variant, verdict=Verdict.ERROR, message=message, details=details
    )
