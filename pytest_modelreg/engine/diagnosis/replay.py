"""Replays of one case: the port of diagnosis, carried out with the session's observer.

What belongs here: which samples a replay takes, what is changed in the case's specification for it, and
holding its answers against the golden.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_modelreg.diagnose import Answer, Change, DriftCase, TraceAt
from pytest_modelreg.domain.case import CaseSpec, EnvironmentSpec
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.example_trial import ExampleTrial
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.trace import ExactInputs, TraceRequest
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.diagnosis.input_explanation import digest_kept_inputs, explain_kept_inputs
from pytest_modelreg.engine.judging import judge_as
from pytest_modelreg.engine.observer import Observer
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.pipelines import digest_inputs
from pytest_modelreg.engine.sample_sets import confine
from pytest_modelreg.judge import JudgeRequest
from pytest_modelreg.observe import open_exact

_MOST_SAMPLES = 6
_MOST_IN_BATCHES = 512
_GONE = 0.02
"""A replay agrees when it leaves at most this share of the drift, or is within the case's limit."""

_FALLBACK_LIMIT = 1e-4


class CaseReplay:
    """Runs one drifting case again; see :class:`~pytest_modelreg.diagnose.Replay`.

    Parameters
    ----------
    outcome : Outcome
        The case as it was judged.
    folder : Path
        Where replays may write; whoever made it removes it.
    explained : dict
        What earlier cases of the run found out about inputs, by digests of both sides; added to here.
    has_time : callable
        Whether the budget is not used up.
    trace_s : float
        What another environment may take for a trace, seconds.
    """

    def __init__(
        self,
        drift: DriftCase,
        outcome: Outcome,
        observer: Observer,
        folder: Path,
        *,
        explained: dict[tuple[str, str], tuple[CauseFinding, ...]],
        has_time: Callable[[], bool],
        trace_s: float,
    ) -> None:
        self._drift = drift
        self._outcome = outcome
        self._observer = observer
        self._folder = folder
        self._numbers = itertools.count(1)
        self._traced: TraceAt | None = None
        self._explained = explained
        self._limit = _find_limit(outcome.result)
        self._trace_s = trace_s
        self.has_time = has_time

    def explain_inputs(self) -> tuple[CauseFinding, ...]:
        """Return what explains the inputs; see :class:`~pytest_modelreg.diagnose.Replay`."""
        then = self._drift.then
        if then is None:
            return ()
        key = (digest_kept_inputs(then.trace), digest_inputs(self._drift.observation))
        if key not in self._explained:
            try:
                found = explain_kept_inputs(self._drift, self._new_folder(), has_time=self.has_time)
            except ModelRegError:
                return ()
            self._explained[key] = found
        return self._explained[key]

    def trace_on_golden(self) -> TraceAt | None:
        """Return the trace on the golden's inputs; see :class:`~pytest_modelreg.diagnose.Replay`."""
        exact = self._stored
        if self._traced is None and exact is not None:
            folder = self._new_folder()
            request = TraceRequest(exact=exact, exact_folder=str(self._drift.golden_folder.absolute()))
            try:
                trace = self._observer.trace(
                    self._drift.spec, folder, request, golden=self._drift.golden, time_limit_s=self._trace_s
                )
            except ModelRegError:
                return None
            self._traced = TraceAt(trace=trace, folder=folder)
        return self._traced

    def trace_graph(self) -> tuple[TraceAt, TraceAt] | None:
        """Return both traces of an exported model; see :class:`~pytest_modelreg.diagnose.Replay`."""
        eager, exact = self._drift.today, None
        if eager is not None:
            exact = eager.trace.exact
        if eager is None or exact is None or self._drift.spec.runtime.kind == "eager":
            return None
        folder = self._new_folder()
        request = TraceRequest(exact=exact, exact_folder=str(eager.folder.absolute()))
        try:
            trace = self._observer.trace_graph(self._drift.spec, folder, request, time_limit_s=self._trace_s)
        except ModelRegError:
            return None
        return eager, TraceAt(trace=trace, folder=folder)

    def try_example(self, *, tries_size: bool) -> ExampleTrial | None:
        """Return a trial of the case's export; see :class:`~pytest_modelreg.diagnose.Replay`."""
        today = self._drift.today
        if today is None or today.trace.exact is None or self._drift.spec.runtime.kind == "eager":
            return None
        worst = self._drift.worst_rel_l2
        ranked = sorted(today.trace.exact.ids, key=lambda name: -worst.get(name, 0.0))
        request = TraceRequest(exact=today.trace.exact, exact_folder=str(today.folder.absolute()))
        names = list(dict.fromkeys((ranked[0], ranked[-1])))
        try:
            return self._observer.try_example(
                self._drift.spec, self._new_folder(), request, names, tries_size=tries_size
            )
        except ModelRegError:
            return None

    def ask(self, change: Change) -> Answer:
        """Run a few samples with one thing changed; see :class:`~pytest_modelreg.diagnose.Replay`."""
        chosen, is_stored = self._choose(change)
        if not chosen:
            return Answer(agrees=None, fault="the golden keeps the inputs of no drifting sample")
        drift = self._drift
        samples = drift.spec.samples
        only = frozenset(chosen)
        spec = _apply(replace(drift.spec, samples=confine(samples, only)), change)
        ordered = [sample.id for sample in spec.samples.samples]
        folder = self._new_folder()
        try:
            handed = None
            if is_stored:
                assert self._stored is not None
                handed = open_exact(drift.golden_folder, self._stored, only=ordered)
            observation = self._observer.observe(spec, folder, golden=drift.golden, known=None, handed=handed)
            request = JudgeRequest(
                golden=drift.golden,
                golden_folder=drift.golden_folder,
                observation=replace(observation, variant=drift.observation.variant),
                observation_folder=folder,
                samples=samples,
                outputs=self._outcome.outputs,
                checks=self._outcome.checks,
                only=only,
            )
            answer = self._compare(judge_as(self._outcome.case, request), ordered)
            if is_stored and answer.agrees is False:
                answer = replace(answer, moved=self._measure_move(request))
        except ModelRegError as error:
            return Answer(agrees=None, samples=tuple(ordered), fault=str(error).partition("\n")[0])
        return answer

    def _measure_move(self, request: JudgeRequest) -> float | None:
        """Return how far a replay is from the case's own answers, where it was fed something else."""
        source, only = self._outcome.observation_folder, request.only or frozenset()
        changed = only.intersection(self._drift.changed_inputs)
        if source is None or not changed:
            return None
        # The case's own answers take the golden's place.
        own = replace(
            request,
            golden=replace(request.golden, observation=self._drift.observation),
            golden_folder=source,
            only=changed,
        )
        result = judge_as(self._outcome.case, own)
        if result.structure:
            return math.inf
        return max((value for row in result.measures.rel_l2.values() for value in row), default=None)

    @property
    def _stored(self) -> ExactInputs | None:
        trace = self._drift.golden.observation.trace
        return None if trace is None else trace.exact

    def _choose(self, change: Change) -> tuple[tuple[str, ...], bool]:
        """Return which samples are replayed, and whether on the golden's inputs."""
        drift = self._drift
        if change.batch_size is not None:  # whole batches: what else is in them is the question
            n_samples = max(1, _MOST_IN_BATCHES // change.batch_size) * change.batch_size
            return tuple(sample.id for sample in drift.spec.samples.samples[:n_samples]), False
        drifted = drift.result.drifted_samples
        worst = drift.worst_rel_l2
        if not drifted:
            drifted = tuple(name for name, value in worst.items() if value > 0)
        ranked = sorted(drifted, key=lambda name: -worst.get(name, 0.0))
        changed = set(drift.changed_inputs)
        if change.is_fed_golden:
            kept = () if self._stored is None else self._stored.ids
            stored = [name for name in ranked if name in kept]
            if stored:
                return tuple(_mix(stored, changed)[:_MOST_SAMPLES]), True
            ranked = [name for name in ranked if name not in changed]
        return tuple(ranked[:_MOST_SAMPLES]), False

    def _compare(self, result: CaseResult, samples: list[str]) -> Answer:
        worst = self._drift.worst_rel_l2
        before = max((worst.get(name, 0.0) for name in samples), default=0.0)
        values = [value for row in result.measures.rel_l2.values() for value in row]
        after = max(values, default=0.0)
        if result.structure:
            after = math.inf
        if not values or before == 0.0:
            agrees = result.verdict is Verdict.MATCH
        else:
            agrees = after <= max(self._limit, _GONE * before) or result.verdict is Verdict.MATCH
        return Answer(agrees=agrees, rel_l2=after, before=before, samples=tuple(samples))

    def _new_folder(self) -> Path:
        return self._folder / str(next(self._numbers))


def _mix(ranked: list[str], changed: set[str]) -> list[str]:
    """Return samples in turns, of those whose inputs changed and of the others: each asks for a cause."""
    sorts = [name for name in ranked if name in changed], [name for name in ranked if name not in changed]
    return [name for pair in itertools.zip_longest(*sorts) for name in pair if name is not None]


def _apply(spec: CaseSpec, change: Change) -> CaseSpec:
    """Return what is observed when one thing is changed."""
    fields: dict[str, Any] = dict.fromkeys(change.resets)
    if change.runtime is not None:
        fields["runtime"] = change.runtime
    spec = replace(spec, **fields)
    if change.batch_size is not None:
        spec = replace(spec, batch_size=change.batch_size)
    if change.variables:
        environment = spec.environment or EnvironmentSpec()
        spec = replace(spec, environment=replace(environment, variables=dict(change.variables)))
    return spec


def _find_limit(result: CaseResult) -> float:
    """Return the tightest relative limit that the case is judged by."""
    limits = [check.limit for check in result.checks if check.name == "rel_l2" and check.limit > 0]
    return min(limits, default=_FALLBACK_LIMIT)
