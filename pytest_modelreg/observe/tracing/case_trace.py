"""The trace of one case: the order in which its facts are gathered.

What belongs here: running a case's model on a few samples, in eager mode whatever its runtime. Every fact
is a module's of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.errors import CaseError, SampleLoadError
from pytest_modelreg.domain.trace import Activations, Behaviour, SourceFile, Trace, TraceRequest
from pytest_modelreg.observe.fresh_inputs import FreshInputs
from pytest_modelreg.observe.fresh_source import list_source_files
from pytest_modelreg.observe.handed_inputs import HandedInputs
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.kept_inputs import KeptInputs
from pytest_modelreg.observe.loaders import find_loader
from pytest_modelreg.observe.seeding import SEED
from pytest_modelreg.observe.tracing.activations import N_COLUMNS, CallWatch, describe_modules
from pytest_modelreg.observe.tracing.behaviour import (
    OTHER_SEED,
    Answer,
    list_untouched,
    measure_alone,
    measure_rerun,
    read_answer,
)
from pytest_modelreg.observe.tracing.exact_inputs import open_exact, write_exact
from pytest_modelreg.observe.tracing.opened_case import OpenedCase, opened_case
from pytest_modelreg.observe.tracing.weight_facts import count_bytes, digest_tensors, read_weights
from pytest_modelreg.runtimes import find_runtime
from pytest_modelreg.store.trace_file import write_trace

N_SKETCHED = 4
"""Samples whose activations are sketched."""

_MOST_BYTES_TWICE = 2 << 30


def observe_trace(
    spec: CaseSpec, folder: Path, request: TraceRequest, *, handed: KeptInputs | None = None
) -> Trace:
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
    handed : KeptInputs or None
        Inputs of chosen samples that another process prepared; None: they are prepared here.

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
    runtime = find_runtime(spec.runtime.kind, spec.runtime.options)
    if getattr(runtime, "needs_model", True) and not getattr(runtime, "takes_objects", False):
        spec = replace(spec, runtime=RuntimeSpec(transform=spec.runtime.transform))
    with opened_case(spec, prepares_inputs=request.exact is None and handed is None) as case:
        if request.exact is None:
            samples = _prepare(case, request) if handed is None else _read(handed, to_tensors=case.to_tensors)
            exact = write_exact(folder, samples, max_bytes=request.max_bytes)
            kept = () if exact is None else exact.ids
            samples = [sample for sample in samples if sample.observed.id in kept]
        else:
            exact, samples = request.exact, _open(request, to_tensors=case.to_tensors)
        trace = Trace(exact=exact, sources=_digest_sources(case.folders))
        if case.subject.model is None:
            return replace(trace, model_fault=f"runtime {spec.runtime.kind!r} brings its own model")
        model = case.subject.model
        trace = replace(trace, weights=read_weights(model, folder), modules=describe_modules(model))
        try:
            return _watch_model(case, folder, trace, samples)
        except CaseError as error:
            return replace(trace, model_fault=str(error))


def _prepare(case: OpenedCase, request: TraceRequest) -> list[PreparedSample]:
    """Return chosen samples as they were observed; one that comes out otherwise now is left out."""
    spec = case.spec
    rows = {sample.id: sample for sample in spec.samples.samples}
    prepared: list[PreparedSample] = []
    for name in (name for name in request.chosen if name in rows):
        source = FreshInputs(
            samples=replace(spec.samples, samples=(rows[name],)),
            loader=find_loader(spec.loader, case.found),
            loader_name=spec.loader,
            preprocess=case.preprocess,
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
    return _read(open_exact(Path(request.exact_folder), request.exact), to_tensors=to_tensors)


def _read(kept: KeptInputs, *, to_tensors: bool) -> list[PreparedSample]:
    with closing(HandedInputs(kept, to_tensors=to_tensors)) as source:
        return source.read(0, len(kept.samples))


def _watch_model(case: OpenedCase, folder: Path, trace: Trace, samples: Sequence[PreparedSample]) -> Trace:
    """Run every sample alone, the first of them watched, then in other ways; see what that left behind."""
    model = case.subject.model
    watches = [CallWatch(model) for _ in samples[:N_SKETCHED]]
    first: list[Answer] = []
    for position, sample in enumerate(samples):
        if position < N_SKETCHED:
            with watches[position].watching():
                first.append(read_answer(case.run([sample], SEED)))
        else:
            first.append(read_answer(case.run([sample], SEED)))

    def run(positions: Sequence[int], seed: int) -> Answer:
        return read_answer(case.run([samples[position] for position in positions], seed))

    behaviour = Behaviour(
        rerun_rel_l2=measure_rerun(run, first, seed=SEED),
        seed_rel_l2=measure_rerun(run, first, seed=OTHER_SEED),
        alone_rel_l2=measure_alone(run, first),
        untouched=list_untouched(model),
        train_calls=tuple(sorted(set().union(*(watch.train_calls for watch in watches)))),
        draws=tuple(sorted(set().union(*(watch.draws for watch in watches)))),
        mutated=_list_mutated(case, trace),
        unloaded=_list_unloaded(case),
    )
    training = set().union(*(watch.training for watch in watches))
    return replace(
        trace,
        modules=tuple(
            replace(module, is_training=module.is_training or module.name in training)
            for module in trace.modules
        ),
        activations=_tabulate(folder, watches, [sample.observed.id for sample in samples]),
        behaviour=behaviour,
    )


def _tabulate(folder: Path, watches: Sequence[CallWatch], ids: Sequence[str]) -> Activations | None:
    """Write the calls that all samples made, in the order of the first."""
    calls = [call for call in watches[0].rows if all(call in watch.rows for watch in watches)] if ids else []
    if not calls:
        return None
    table = np.array([watch.rows[call] for watch in watches for call in calls])
    return Activations(
        file=write_trace(folder, "activations", table),
        n_columns=N_COLUMNS,
        samples=tuple(ids[: len(watches)]),
        calls=tuple(calls),
    )


def _list_mutated(case: OpenedCase, trace: Trace) -> tuple[str, ...]:
    """Return the entries of the state dict that are no longer what they were before the first pass."""
    if trace.weights is None:
        return ()
    after = digest_tensors(case.subject.model)
    return tuple(tensor.name for tensor in trace.weights.tensors if after.get(tensor.name) != tensor.digest)


def _list_unloaded(case: OpenedCase) -> tuple[str, ...]:
    """Return the weights that depend on the seed: what is loaded comes out the same from every one.

    None of a model so large that a second one beside it may not fit.
    """
    if not case.loaded or count_bytes(case.subject.model) > _MOST_BYTES_TWICE:
        return ()
    other = case.load_again(OTHER_SEED)
    return tuple(name for name, digest in case.loaded.items() if other.get(name, digest) != digest)


def _digest_sources(folders: Sequence[str]) -> tuple[SourceFile, ...]:
    found: dict[str, str] = {}
    for file in list_source_files(folders):
        path = Path(file)
        root = next((folder for folder in folders if path.is_relative_to(folder)), None)
        if root is None or not path.is_file():
            continue
        found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return tuple(SourceFile(file=file, sha256=sha256) for file, sha256 in sorted(found.items()))
