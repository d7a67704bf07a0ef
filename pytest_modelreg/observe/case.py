"""Observing one case: from its specification to facts and files.

What belongs here: the order of things. Every step is a module of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.errors import ModelError, OutputError, SampleLoadError
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import Observation, ObservedSample, OutputRecord
from pytest_modelreg.fingerprint import collect
from pytest_modelreg.observe.batches import Batch, BatchSource
from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.loaders import LOADERS
from pytest_modelreg.observe.model import EvalOutcome, apply_eval, build_model, evaluating, is_module
from pytest_modelreg.observe.output_collection import OutputCollector
from pytest_modelreg.observe.outputs import choose_bare_name, flatten_outputs
from pytest_modelreg.observe.preprocess import Preprocess
from pytest_modelreg.observe.references import resolve_references
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.user_code import attributed
from pytest_modelreg.observe.warning_log import WarningLog
from pytest_modelreg.observe.weights import digest_weights, load_weights
from pytest_modelreg.runtimes import Runner, RunRequest, Runtime, find_runtime

Progress = Callable[[int, int], None]


def observe_case(spec: CaseSpec, folder: Path, *, progress: Progress | None = None) -> Observation:
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

    Returns
    -------
    Observation
        Facts; its arrays are files in ``folder``.

    Raises
    ------
    ImportReferenceError
        References that cannot be resolved, all in one message.
    RuntimeUnavailable
        The runtime does not exist, or refuses its options.
    ModelError
        The factory or a forward pass raised.
    CheckpointError
        The checkpoint cannot be read or does not fit.
    SampleLoadError
        A sample cannot be decoded.
    PreprocessError
        Preprocess or collate raised, or returned what can be no model input.
    OutputError
        The model's output cannot be recorded.
    """
    started = time.perf_counter()
    runtime = find_runtime(spec.runtime.kind)
    folder = folder.absolute()  # user code may change the working folder
    folder.mkdir(parents=True, exist_ok=True)
    guard = StateGuard(
        threads=spec.threads, default_threads=spec.default_threads, deterministic=spec.deterministic
    )
    with guard, WarningLog() as log, suite_imports(spec.python_path) as suite:
        found = resolve_references(_list_references(spec), case=spec.id, folders=suite.folders)
        suite.settings.update(guard.imported_settings())
        guard.prepare(suite.settings)
        model = build_model(found["model"], spec.model_args, case=spec.id, reference=spec.model)
        if spec.checkpoint is not None:
            load_weights(model, spec.checkpoint, case=spec.id)
        weights_digest = digest_weights(model)
        source = _make_source(spec, found, to_tensors=is_module(model))
        with evaluating([model, *source.preprocess.stages]):
            evaluated = _apply_evals(model, source.preprocess, spec.id, log)
            guard.prepare()
            runner = _open(runtime, model, spec, found.get("forward"))
            with closing(runner):
                samples, outputs = _run(spec, source, runner, folder, log, progress)
                fingerprint = collect(runtime=runner.facts(), project=spec.facts)
        return _make_observation(
            spec,
            samples,
            outputs,
            evaluated,
            fingerprint,
            weights_digest,
            log.lines,
            time.perf_counter() - started,
        )


def _list_references(spec: CaseSpec) -> dict[str, str]:
    references = {
        "model": spec.model,
        "preprocess": spec.preprocess,
        "collate": spec.collate,
        "forward": spec.forward,
        "loader": None if spec.loader in LOADERS else spec.loader,
    }
    if references["loader"] is not None and ":" not in spec.loader:
        raise SampleLoadError(
            f"{spec.id}: loader: expected {', '.join(LOADERS)} or module:fn, "
            f"got {spec.loader!r}{suggest(spec.loader, LOADERS)}"
        )
    return {role: reference for role, reference in references.items() if reference is not None}


def _make_source(spec: CaseSpec, found: Mapping[str, Any], *, to_tensors: bool) -> BatchSource:
    return BatchSource(
        samples=spec.samples,
        batch_size=spec.batch_size,
        loader=found.get("loader") or LOADERS[spec.loader],
        loader_name=spec.loader,
        preprocess=Preprocess(found.get("preprocess"), reference=spec.preprocess, to_tensors=to_tensors),
        collate=found.get("collate"),
        collate_reference=spec.collate,
    )


def _apply_evals(model: Any, preprocess: Preprocess, case: str, log: WarningLog) -> EvalOutcome:
    outcome = apply_eval(model, case=case)
    for stage in preprocess.stages:
        apply_eval(stage, case=case)
    for note in outcome.warnings:
        log.note(note)
    return outcome


def _open(runtime: Runtime, model: Any, spec: CaseSpec, forward: Callable[[Any, Any], Any] | None) -> Runner:
    request = RunRequest(case=spec.id, options=spec.runtime.options, forward=forward)
    with attributed(ModelError, f"{spec.id}: opening runtime {spec.runtime.kind!r}"):
        return runtime.open(model, request)


def _run(
    spec: CaseSpec,
    source: BatchSource,
    runner: Runner,
    folder: Path,
    log: WarningLog,
    progress: Progress | None,
) -> tuple[tuple[ObservedSample, ...], dict[str, OutputRecord]]:
    total = len(spec.samples)
    bare_name = choose_bare_name(spec.outputs)
    samples: list[ObservedSample] = []
    n_batches = math.ceil(total / spec.batch_size)
    with OutputCollector(folder, n_samples=total, n_batches=n_batches) as collector:
        for batch in source:
            returned = _forward(spec, runner, batch)
            ids = batch.ids
            try:
                leaves = flatten_outputs(
                    returned, batch_size=len(ids), specs=spec.outputs, bare_name=bare_name, sample_ids=ids
                )
                collector.write(leaves)
            except OutputError as error:
                raise OutputError(f"{spec.id}: samples {_span(batch)}: {error}") from error
            samples.extend(batch.samples)
            log.drain()
            if progress is not None:
                progress(len(samples), total)
        return tuple(samples), collector.close()


def _forward(spec: CaseSpec, runner: Runner, batch: Batch) -> Any:
    hint = ""
    if batch.unequal_shapes is not None:
        hint = (
            f"inputs had different shapes ({batch.unequal_shapes}), so that collation gave the model a list; "
            f"return one shape from preprocess, or give the suite a collate or a forward"
        )
    what = f"{spec.id}: forward pass (in inference mode) of samples {_span(batch)}"
    with attributed(ModelError, what, hint):
        return runner(batch.inputs)


def _span(batch: Batch) -> str:
    ids = batch.ids
    return repr(ids[0]) if len(ids) == 1 else f"{ids[0]!r} to {ids[-1]!r}"


def _make_observation(
    spec: CaseSpec,
    samples: tuple[ObservedSample, ...],
    outputs: Mapping[str, OutputRecord],
    evaluated: EvalOutcome,
    fingerprint: Fingerprint,
    weights_digest: str | None,
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
        weights_digest=weights_digest,
        training_modules=evaluated.training_modules,
        eval_applied=evaluated.eval_applied,
        fingerprint=fingerprint,
        warnings=warnings,
        duration_s=duration_s,
    )
