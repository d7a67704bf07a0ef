"""Observing the cases of a session, here or in another environment, with what they share.

What belongs here: which process observes a case, and what it is handed. Making an environment ready
is ``environments``', what an observation is ``observe``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.domain.case import CaseSpec, EnvironmentSpec
from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.trace import Trace, TraceRequest
from pytest_modelreg.engine.pipelines import is_fed_tensors
from pytest_modelreg.observe import (
    Elsewhere,
    KeptInputs,
    KnownProbes,
    SharedWork,
    observe_case,
    observe_elsewhere,
    observe_graph_trace,
    observe_trace,
    prepare_inputs,
)

if TYPE_CHECKING:
    from pytest_modelreg.engine.environments import Environments

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
        self._say = say
        self._environments: Environments | None = None

    def expect(self, specs: Iterable[CaseSpec]) -> None:
        """Be told of the cases to come, so that what two of them need is kept for the second."""
        self._shared.expect(spec for spec in specs if spec.environment is None)

    def close(self) -> None:
        """Remove what was kept for cases, and environments that were made for them alone."""
        self._shared.close()
        if self._environments is not None:
            self._environments.close()

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

    def trace(self, spec: CaseSpec, folder: Path, request: TraceRequest) -> Trace | None:
        """Gather what is kept of a case for a later diagnosis; None for one of another environment.

        Raises
        ------
        CaseError, GoldenError, RunFolderError
            As :func:`~pytest_modelreg.observe.observe_trace`.
        """
        if spec.environment is not None:
            return None
        return observe_trace(self._complete(spec), folder, request)

    def trace_graph(self, spec: CaseSpec, folder: Path, request: TraceRequest) -> Trace | None:
        """Return what the modules inside of an exported model returned; None for another environment.

        Raises
        ------
        CaseError, GoldenError, RunFolderError
            As :func:`~pytest_modelreg.observe.observe_graph_trace`.
        """
        if spec.environment is not None:
            return None
        return observe_graph_trace(self._complete(spec), folder, request, artefacts=self._shared.artefacts)

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
        if self._environments is None:
            # Asked for by few suites, and it brings git and installers.
            from pytest_modelreg.engine.environments import Environments

            self._environments = Environments(say=self._say or (lambda line: None))
        ready = self._environments.prepare(
            environment, case=spec.id, root=Path(spec.root), python_path=spec.python_path
        )
        prepared = None
        if handed is None and environment.preprocess == "here":
            # Whether the model is a module shows only there; the golden's was, or nearly all are.
            to_tensors = golden is None or is_fed_tensors(golden.observation)
            prepared = prepare_inputs(spec, self._folder / "handed", to_tensors=to_tensors)
        place = Elsewhere(
            python=ready.python,
            is_this_interpreter=ready.is_this_interpreter,
            variables=ready.variables,
            checkout=ready.checkout,
            description=ready.description,
            time_limit_s=environment.time_limit_s,
        )
        try:
            return observe_elsewhere(
                replace(spec, python_path=ready.python_path),
                folder,
                place,
                progress=self._report_progress(spec),
                handed=handed or prepared,
                probes=probes,
            )
        finally:
            if prepared is not None:
                prepared.remove()

    def _report_progress(self, spec: CaseSpec) -> Callable[[int, int], None] | None:
        report = self._progress
        return None if report is None else lambda done, total: report(spec.id, done, total)
