"""Observing the cases of a session, here or in another environment, with what they share.

What belongs here: which process observes a case, and what it is handed. Making that process ready is
``places``', what an observation is ``observe``'s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.case import CaseSpec, EnvironmentSpec
from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.example_trial import ExampleTrial
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.trace import Trace, TraceRequest
from pytest_modelreg.engine.pipelines import is_fed_tensors
from pytest_modelreg.engine.places import Places
from pytest_modelreg.observe import (
    KeptInputs,
    KnownProbes,
    SharedWork,
    observe_case,
    observe_elsewhere,
    observe_example_trial,
    observe_graph_trace,
    observe_trace,
    prepare_inputs,
    trace_elsewhere,
)

CaseProgress = Callable[[str, int, int], None]
"""Called with case id, samples done and samples in all."""


class Observer:
    """Observes cases.

    Parameters
    ----------
    folder : Path
        Where it may keep what cases share; removed by :meth:`close`.
    default_threads : int or None
        Threads of a case whose suite sets none.
    project_facts : mapping of str to scalar
        What the project adds to every fingerprint.
    say : callable or None
        Takes lines on what takes long before a case can run.
    """

    def __init__(
        self,
        folder: Path,
        *,
        default_threads: int | None,
        project_facts: Mapping[str, FactValue],
        progress: CaseProgress | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._folder = folder
        self._default_threads = default_threads
        self._project_facts = project_facts
        self._progress = progress
        self._shared = SharedWork(folder)
        self._places = Places(say)

    def expect(self, specs: Iterable[CaseSpec]) -> None:
        """Be told of the cases to come, so that what two of them need is kept for the second."""
        self._shared.expect(spec for spec in specs if spec.environment is None)

    def close(self) -> None:
        """Remove what was kept for cases, and environments that were made for them alone."""
        self._shared.close()
        self._places.close()

    def observe(
        self,
        spec: CaseSpec,
        folder: Path,
        *,
        golden: Golden | None,
        known: KnownProbes | None,
        handed: KeptInputs | None = None,
    ) -> Observation:
        """Observe one case where its suite says.

        Parameters
        ----------
        golden : Golden or None
            What it is going to be held against.
        known : KnownProbes or None
            Probes of inputs that need not be made again; None: no probes are made.
        handed : KeptInputs or None
            Inputs to run the model on; None: they are prepared.

        Raises
        ------
        CaseError
            As :func:`~pytest_modelreg.observe.observe_case`.
        EnvironmentUnavailable
            When another environment cannot be had, or ends without an answer.
        """
        spec = self._complete(spec)
        if spec.environment is None:
            return observe_case(
                spec,
                folder,
                progress=self._report_progress(spec),
                shared=self._shared,
                known=known,
                handed=handed,
            )
        return self._observe_elsewhere(
            spec, spec.environment, folder, golden, probes=known is not None, handed=handed
        )

    def trace(
        self,
        spec: CaseSpec,
        folder: Path,
        request: TraceRequest,
        *,
        golden: Golden | None = None,
        time_limit_s: float = math.inf,
    ) -> Trace:
        """Gather what is kept of a case for a later diagnosis, where its suite runs it.

        Parameters
        ----------
        golden : Golden or None
            What it is held against.
        time_limit_s : float
            What another environment may take at most, beside its own limit, seconds.

        Raises
        ------
        CaseError, GoldenError, RunFolderError
            As :func:`~pytest_modelreg.observe.observe_trace`.
        EnvironmentUnavailable
            As :meth:`observe`.
        """
        spec = self._complete(spec)
        if spec.environment is None:
            return observe_trace(spec, folder, request)
        by_id = {sample.id: sample for sample in spec.samples.samples}
        chosen = tuple(by_id[name] for name in request.chosen if name in by_id)
        alone = replace(spec, samples=replace(spec.samples, samples=chosen))
        is_handed = spec.environment.preprocess == "here" and request.exact is None
        with self._prepared(alone, golden, is_wanted=is_handed) as prepared:
            return self._trace_elsewhere(spec, folder, request, time_limit_s, handed=prepared)

    def trace_graph(
        self, spec: CaseSpec, folder: Path, request: TraceRequest, *, time_limit_s: float = math.inf
    ) -> Trace:
        """Return what the modules inside of an exported model returned, where its suite runs it.

        Raises
        ------
        CaseError, GoldenError, RunFolderError
            As :func:`~pytest_modelreg.observe.observe_graph_trace`.
        EnvironmentUnavailable
            As :meth:`observe`.
        """
        spec = self._complete(spec)
        if spec.environment is None:
            return observe_graph_trace(spec, folder, request, artefacts=self._shared.artefacts)
        return self._trace_elsewhere(spec, folder, request, time_limit_s, is_of_graph=True)

    def try_example(
        self, spec: CaseSpec, folder: Path, request: TraceRequest, names: Sequence[str], *, tries_size: bool
    ) -> ExampleTrial | None:
        """Export a case's model with another example; None for one of another environment.

        Raises
        ------
        CaseError, GoldenError, RunFolderError
            As :func:`~pytest_modelreg.observe.observe_example_trial`.
        """
        if spec.environment is not None:  # whose graphs end with their process
            return None
        return observe_example_trial(
            self._complete(spec),
            folder,
            request,
            names,
            artefacts=self._shared.artefacts,
            tries_size=tries_size,
        )

    def _complete(self, spec: CaseSpec) -> CaseSpec:
        return replace(spec, default_threads=self._default_threads, facts=self._project_facts)

    def _observe_elsewhere(
        self,
        spec: CaseSpec,
        environment: EnvironmentSpec,
        folder: Path,
        golden: Golden | None,
        *,
        probes: bool,
        handed: KeptInputs | None,
    ) -> Observation:
        there, place = self._places.find(spec)
        is_handed = handed is None and environment.preprocess == "here"
        with self._prepared(spec, golden, is_wanted=is_handed) as prepared:
            return observe_elsewhere(
                there,
                folder,
                place,
                progress=self._report_progress(spec),
                handed=handed or prepared,
                probes=probes,
            )

    def _trace_elsewhere(
        self,
        spec: CaseSpec,
        folder: Path,
        request: TraceRequest,
        time_limit_s: float,
        *,
        handed: KeptInputs | None = None,
        is_of_graph: bool = False,
    ) -> Trace:
        there, place = self._places.find(spec)
        if time_limit_s < place.time_limit_s:
            advice = "--modelreg-diagnose full takes what it needs"
            place = replace(place, time_limit_s=time_limit_s, advice=advice)
        return trace_elsewhere(there, folder, place, request, handed=handed, is_of_graph=is_of_graph)

    @contextmanager
    def _prepared(
        self, spec: CaseSpec, golden: Golden | None, *, is_wanted: bool
    ) -> Iterator[KeptInputs | None]:
        """Prepare inputs for another environment where that is wanted; they are removed afterwards."""
        if not is_wanted:
            yield None
            return
        # Whether the model is a module shows only there; the golden's was, or nearly all are.
        to_tensors = golden is None or is_fed_tensors(golden.observation)
        prepared = prepare_inputs(spec, self._folder / "handed", to_tensors=to_tensors)
        try:
            yield prepared
        finally:
            prepared.remove()

    def _report_progress(self, spec: CaseSpec) -> Callable[[int, int], None] | None:
        report = self._progress
        return None if report is None else lambda done, total: report(spec.id, done, total)
