"""Observing one case: from its specification to facts and files.

What belongs here: the order of things. Every step is a module of its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.observation import Observation, ObservedSample, OutputRecord, RuntimeFinding
from pytest_modelreg.fingerprint import collect
from pytest_modelreg.observe.batches import BatchSource
from pytest_modelreg.observe.fresh_inputs import FreshInputs
from pytest_modelreg.observe.fresh_source import list_source_files
from pytest_modelreg.observe.handed_inputs import HandedInputs
from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.input_probes import KnownProbes, ProbedInputs
from pytest_modelreg.observe.input_source import InputFacts, InputSource
from pytest_modelreg.observe.kept_inputs import KeptInputs
from pytest_modelreg.observe.loaders import find_loader
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.passes import Progress
from pytest_modelreg.observe.placement import require_device
from pytest_modelreg.observe.preprocess import Preprocess
from pytest_modelreg.observe.references import list_references, resolve_reference, resolve_references
from pytest_modelreg.observe.shared_work import SharedWork, describe_form
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.subject import Subject, load_model, opened_subject
from pytest_modelreg.observe.trusted_inputs import TrustedInputs
from pytest_modelreg.observe.warning_log import WarningLog
from pytest_modelreg.runtimes import Runner, find_runtime


def observe_case(
    spec: CaseSpec,
    folder: Path,
    *,
    progress: Progress | None = None,
    shared: SharedWork | None = None,
    known: KnownProbes | None = None,
    handed: KeptInputs | None = None,
) -> Observation:
    """Run one case and record what it produced.

    Global state is as before when it returns or raises. Memory holds one batch.

    Parameters
    ----------
    spec : CaseSpec
        What to run; its samples are already verified against their files.
    folder : Path
        Where the arrays are written; made when it does not exist.
    progress : callable, optional
        Called with (samples done, samples in total) after each batch.
    shared : SharedWork, optional
        What this case may take from others of the session, and leaves to them. Results are
        the same without it.
    known : KnownProbes, optional
        Probes of inputs that need not be made again; None: no probes are made.
    handed : KeptInputs, optional
        Inputs that another process prepared; None: they are prepared here.

    Returns
    -------
    Observation
        Facts; its arrays are files in ``folder``.

    Raises
    ------
    CaseSkipped
        This machine lacks the device.
    ImportReferenceError
        References that cannot be resolved, all in one message.
    RuntimeUnavailable
        The runtime does not exist, or refuses its options or an axis.
    ModelError
        The factory or the transform raised, or the model cannot be placed.
    ForwardError
        A forward pass raised.
    CheckpointError
        The checkpoint cannot be read or does not fit.
    SampleLoadError
        A sample cannot be decoded.
    PreprocessError
        Preprocess or collate raised, or returned what can be no model input.
    OutputError
        The model's output cannot be recorded.
    """
    try:
        return _observe(
            spec, folder.absolute(), progress, shared, known, handed
        )  # user code may change the working folder
    finally:
        if shared is not None:
            shared.finish_case(spec)


def _observe(
    spec: CaseSpec,
    folder: Path,
    progress: Progress | None,
    shared: SharedWork | None,
    known: KnownProbes | None,
    handed: KeptInputs | None,
) -> Observation:
    started = time.perf_counter()
    runtime = find_runtime(spec.runtime.kind, spec.runtime.options)
    needs_model = bool(getattr(runtime, "needs_model", True))
    folder.mkdir(parents=True, exist_ok=True)
    guard = StateGuard(
        threads=spec.threads, default_threads=spec.default_threads, deterministic=spec.deterministic
    )
    with guard, WarningLog() as log, suite_imports(spec.python_path) as suite:
        references = list_references(spec, needs_model=needs_model, prepares_inputs=handed is None)
        found = resolve_references(references, case=spec.id, folders=suite.folders)
        suite.settings.update(guard.imported_settings())
        guard.prepare(suite.settings)
        require_device(spec.device, case=spec.id, needs_torch=needs_model)
        loaded = load_model(spec, found, runtime)
        to_tensors = is_module(loaded.model) if needs_model else "torch" in sys.modules
        preprocess = Preprocess(found.get("preprocess"), reference=spec.preprocess, to_tensors=to_tensors)
        n_edits = (
            0
            if shared is None
            else shared.note_sources(list_source_files((*suite.folders, *suite.added_folders)))
        )
        with (
            opened_subject(
                spec,
                loaded,
                found,
                runtime=runtime,
                parts=preprocess.parts,
                guard=guard,
                log=log,
                resolve=lambda reference: resolve_reference(reference, suite.folders),
                artefacts=None if shared is None else shared.artefacts,
                n_edits=n_edits,
            ) as subject,
            closing(_make_inputs(spec, found, preprocess, shared, known, folder, handed)) as inputs,
        ):
            source = BatchSource(
                inputs=inputs,
                n_samples=len(spec.samples),
                batch_size=spec.batch_size,
                collate=found.get("collate"),
                collate_reference=spec.collate,
            )
            samples, outputs = subject.passes.run(source, folder, log, progress)
            facts = inputs.conclude()
            if shared is not None and handed is None:
                form = describe_form(to_tensors=to_tensors)
                facts = shared.compare_inputs(spec, samples, facts, form=form)
            runner = subject.passes.runner
            return _make_observation(
                spec,
                samples,
                outputs,
                subject,
                facts,
                _list_findings(runner),
                collect(runtime=runner.facts(), project=spec.facts),
                log.lines,
                time.perf_counter() - started,
            )


def _make_inputs(
    spec: CaseSpec,
    found: Mapping[str, Any],
    preprocess: Preprocess,
    shared: SharedWork | None,
    known: KnownProbes | None,
    folder: Path,
    handed: KeptInputs | None,
) -> InputSource:
    source: InputSource
    if handed is not None:
        source = HandedInputs(handed, to_tensors=preprocess.to_tensors)
    else:
        source = _prepare_inputs(spec, found, preprocess, shared)
    if known is None:
        return source
    return ProbedInputs(source, n_samples=len(spec.samples), known=known, folder=folder, gathers_points=True)


def _prepare_inputs(
    spec: CaseSpec, found: Mapping[str, Any], preprocess: Preprocess, shared: SharedWork | None
) -> InputSource:
    form = describe_form(to_tensors=preprocess.to_tensors)
    kept = None if shared is None else shared.find_inputs(spec, form=form)
    fresh = FreshInputs(
        samples=spec.samples,
        loader=find_loader(spec.loader, found),
        loader_name=spec.loader,
        preprocess=preprocess,
        recorder=None if shared is None else shared.start_recording(spec, form=form),
    )
    return fresh if kept is None else TrustedInputs(kept, fresh)


def _list_findings(runner: Runner) -> tuple[RuntimeFinding, ...]:
    # A runtime of another distribution may be older than the question.
    ask: Callable[[], tuple[RuntimeFinding, ...]] | None = getattr(runner, "findings", None)
    return () if ask is None else tuple(ask())


def _make_observation(
    spec: CaseSpec,
    samples: tuple[ObservedSample, ...],
    outputs: Mapping[str, OutputRecord],
    subject: Subject,
    facts: InputFacts,
    findings: tuple[RuntimeFinding, ...],
    fingerprint: Fingerprint,
    warnings: tuple[str, ...],
    duration_s: float,
) -> Observation:
    return Observation(
        suite=spec.suite,
        variant=spec.variant,
        axes=spec.axes,
        batch_size=spec.batch_size,
        samples=samples,
        outputs=outputs,
        weights_digest=subject.weights_digest,
        training_modules=subject.evaluated.training_modules,
        eval_applied=subject.evaluated.eval_applied,
        fingerprint=fingerprint,
        warnings=warnings,
        stages=facts.stages,
        checklist=facts.checklist,
        habits=facts.habits,
        runtime_findings=findings,
        input_probes=facts.probes,
        input_points=facts.points,
        duration_s=duration_s,
    )
