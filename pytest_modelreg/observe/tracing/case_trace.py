"""The trace of one case: the order in which its facts are gathered.

What belongs here: building the case's model once more, in eager mode whatever its runtime, and running
it on a few samples. Every fact is a module's of its own.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.errors import CaseError, SampleLoadError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.trace import Activations, Behaviour, SourceFile, Trace, TraceRequest
from pytest_modelreg.observe.collate import collate_batch
from pytest_modelreg.observe.fresh_inputs import FreshInputs
from pytest_modelreg.observe.fresh_source import list_source_files
from pytest_modelreg.observe.handed_inputs import HandedInputs
from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.loaders import LOADERS
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.placement import require_device
from pytest_modelreg.observe.preprocess import Preprocess
from pytest_modelreg.observe.references import list_references, resolve_reference, resolve_references
from pytest_modelreg.observe.seeding import SEED, seed_generators
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.subject import Subject, load_model, opened_subject
from pytest_modelreg.observe.tracing.activations import N_COLUMNS, CallWatch, describe_modules
from pytest_modelreg.observe.tracing.behaviour import (
    OTHER_SEED,
    list_untouched,
    measure_alone,
    measure_rerun,
    read_answer,
)
from pytest_modelreg.observe.tracing.exact_inputs import open_exact, write_exact
from pytest_modelreg.observe.tracing.weight_facts import digest_tensors, read_weights
from pytest_modelreg.observe.user_code import attributed
from pytest_modelreg.observe.warning_log import WarningLog
from pytest_modelreg.runtimes import find_runtime
from pytest_modelreg.store.trace_file import write_trace

N_SKETCHED = 4
"""Samples whose activations are sketched."""


def observe_trace(spec: CaseSpec, folder: Path, request: TraceRequest) -> Trace:
    """Gather what is kept of a case for a later diagnosis.

    Global state is as before when it returns or raises.

    Parameters
    ----------
    spec : CaseSpec
        The case; it is run in eager mode, because only there can modules be watched.
    folder : Path
        Where the files are written; made when it does not exist.
    request : TraceRequest
        On which samples, and whether their inputs are prepared or given.

    Returns
    -------
    Trace
        A model that cannot be run so leaves ``model_fault``, and what was had before.

    Raises
    ------
    CaseSkipped, ImportReferenceError, RuntimeUnavailable, ModelError, CheckpointError
        As :func:`~pytest_modelreg.observe.observe_case`.
    GoldenError, EnvironmentUnavailable
        As :func:`~.exact_inputs.open_exact`.
    RunFolderError
        When a file cannot be written.
    """
    folder = folder.absolute()  # user code may change the working folder
    folder.mkdir(parents=True, exist_ok=True)
    needs_model = bool(getattr(find_runtime(spec.runtime.kind), "needs_model", True))
    if needs_model:
        spec = replace(spec, runtime=RuntimeSpec(transform=spec.runtime.transform))
    guard = StateGuard(
        threads=spec.threads, default_threads=spec.default_threads, deterministic=spec.deterministic
    )
    with guard, WarningLog() as log, suite_imports(spec.python_path) as suite:
        references = list_references(spec, needs_model=needs_model, prepares_inputs=request.exact is None)
        found = resolve_references(references, case=spec.id, folders=suite.folders)
        suite.settings.update(guard.imported_settings())
        guard.prepare(suite.settings)
        require_device(spec.device, case=spec.id, needs_torch=needs_model)
        loaded = load_model(spec, found)
        loaded_digests = digest_tensors(loaded.model)  # a transform may change the model in place
        to_tensors = is_module(loaded.model) if needs_model else "torch" in sys.modules
        preprocess = Preprocess(found.get("preprocess"), reference=spec.preprocess, to_tensors=to_tensors)
        folders = (*suite.folders, *suite.added_folders)
        with opened_subject(
            spec,
            loaded,
            found,
            runtime=find_runtime(spec.runtime.kind),
            parts=preprocess.parts,
            guard=guard,
            log=log,
            resolve=lambda reference: resolve_reference(reference, suite.folders),
            artefacts=None,
            n_edits=0,
        ) as subject:
            if request.exact is None:
                samples = _prepare(spec, found, preprocess, request)
                exact = write_exact(folder, samples, max_bytes=request.max_bytes)
                kept = () if exact is None else exact.ids
                samples = [sample for sample in samples if sample.observed.id in kept]
            else:
                exact, samples = request.exact, _open(request, to_tensors=to_tensors)
            trace = Trace(exact=exact, sources=_digest_sources(folders))
            if not needs_model:
                return replace(trace, model_fault=f"runtime {spec.runtime.kind!r} brings its own model")
            weights, modules = read_weights(subject.model, folder), describe_modules(subject.model)
            trace = replace(trace, weights=weights, modules=modules)
            try:
                trace = _watch_model(spec, folder, trace, subject, found, samples)
            except CaseError as error:
                return replace(trace, model_fault=str(error))
            unloaded = _list_unloaded(spec, found, guard, loaded_digests)
            assert trace.behaviour is not None
            return replace(trace, behaviour=replace(trace.behaviour, unloaded=unloaded))


def _prepare(
    spec: CaseSpec, found: Mapping[str, Any], preprocess: Preprocess, request: TraceRequest
) -> list[PreparedSample]:
    """Return chosen samples as they were observed; one that comes out otherwise now is left out."""
    rows = {sample.id: sample for sample in spec.samples.samples}
    prepared: list[PreparedSample] = []
    for name in (name for name in request.chosen if name in rows):
        source = FreshInputs(
            samples=SampleSet(folder=spec.samples.folder, samples=(rows[name],)),
            loader=found.get("loader") or LOADERS[spec.loader],
            loader_name=spec.loader,
            preprocess=preprocess,
        )
        with closing(source):
            try:
                (sample,) = source.read(0, 1)
            except SampleLoadError:
                continue
        if request.digests.get(name, sample.observed.input_digest) == sample.observed.input_digest:
            prepared.append(sample)
    return prepared


def _open(request: TraceRequest, *, to_tensors: bool) -> list[PreparedSample]:
    assert request.exact is not None
    kept = open_exact(Path(request.exact_folder), request.exact)
    with closing(HandedInputs(kept, to_tensors=to_tensors)) as source:
        return source.read(0, len(kept.samples))


def _watch_model(
    spec: CaseSpec,
    folder: Path,
    trace: Trace,
    subject: Subject,
    found: Mapping[str, Any],
    samples: Sequence[PreparedSample],
) -> Trace:
    collate, passes = found.get("collate"), subject.passes

    def run(positions: Sequence[int], seed: int) -> Any:
        chosen = [samples[position] for position in positions]
        ids = [sample.observed.id for sample in chosen]
        batch = collate_batch(
            [sample.value for sample in chosen], sample_ids=ids, collate=collate, reference=spec.collate
        )
        with attributed(CaseError, f"{spec.id}: forward pass of {', '.join(ids)}"):
            inputs = passes.placement.place(batch)
            seed_generators(seed)
            with passes.autocast():
                return passes.runner(inputs)

    before = digest_tensors(subject.model)
    watches = [CallWatch(subject.model, sketches=True) for _ in samples[:N_SKETCHED]]
    first = []
    for position in range(len(samples)):
        if position < len(watches):
            with watches[position].watching():
                first.append(read_answer(run([position], SEED)))
        else:
            first.append(read_answer(run([position], SEED)))
    behaviour = Behaviour(
        rerun_rel_l2=measure_rerun(run, first, seed=SEED),
        seed_rel_l2=measure_rerun(run, first, seed=OTHER_SEED),
        alone_rel_l2=measure_alone(run, first),
        untouched=list_untouched(subject.model),
        train_calls=tuple(sorted(set().union(*(watch.train_calls for watch in watches)))),
        draws=tuple(sorted(set().union(*(watch.draws for watch in watches)))),
    )
    after = digest_tensors(subject.model)
    mutated = tuple(name for name, digest in before.items() if after.get(name) != digest)
    training = set().union(*(watch.training for watch in watches))
    return replace(
        trace,
        modules=tuple(
            replace(module, is_training=module.is_training or module.name in training)
            for module in trace.modules
        ),
        activations=_tabulate(folder, watches, [sample.observed.id for sample in samples]),
        behaviour=replace(behaviour, mutated=mutated),
    )


def _tabulate(folder: Path, watches: Sequence[CallWatch], ids: Sequence[str]) -> Activations | None:
    """Write the calls that all samples made, in the order of the first."""
    if not watches:
        return None
    calls = [call for call in watches[0].rows if all(call in watch.rows for watch in watches)]
    if not calls:
        return None
    table = np.array([watch.rows[call] for watch in watches for call in calls])
    return Activations(
        file=write_trace(folder, "activations", table),
        n_columns=N_COLUMNS,
        samples=tuple(ids[: len(watches)]),
        calls=tuple(calls),
    )


def _list_unloaded(
    spec: CaseSpec, found: Mapping[str, Any], guard: StateGuard, first: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the weights that depend on the seed: what is loaded comes out the same from every one."""
    if not first:
        return ()
    guard.prepare()
    seed_generators(OTHER_SEED)
    other = digest_tensors(load_model(spec, found).model)
    return tuple(name for name, digest in first.items() if other.get(name, digest) != digest)


def _digest_sources(folders: Sequence[str]) -> tuple[SourceFile, ...]:
    found: dict[str, str] = {}
    for file in list_source_files(folders):
        path = Path(file)
        root = next((folder for folder in folders if path.is_relative_to(folder)), None)
        if root is None or not path.is_file():
            continue
        found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return tuple(SourceFile(file=file, sha256=sha256) for file, sha256 in sorted(found.items()))
