"""The trace of one case: the order in which its facts are gathered.

What belongs here: running a case's model on a few samples, in eager mode whatever its runtime. Every fact
is a module's of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.errors import CaseError, SampleLoadError
from pytest_modelreg.domain.trace import Activations, Behaviour, Trace, TraceRequest
from pytest_modelreg.observe.fresh_inputs import FreshInputs
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
from pytest_modelreg.observe.tracing.project_code import read_project
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
        code = read_project(case)
        trace = Trace(exact=exact, sources=code.sources, reads=code.reads)
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

    def run_watched(positions: Sequence[int], seed: int) -> Answer:
        with CallWatch(model).watching():
            return run(positions, seed)

    # Only passes of one sort are held against each other: torch takes other kernels where a module is
    # watched (a transformer's fast path), and those differ in more than rounding where a row is all masked.
    alone = [run([position], SEED) for position in range(min(N_SKETCHED, len(samples)))] + first[N_SKETCHED:]
    behaviour = Behaviour(
        rerun_rel_l2=measure_rerun(run_watched, first[:N_SKETCHED], seed=SEED),
        seed_rel_l2=measure_rerun(run_watched, first[:N_SKETCHED], seed=OTHER_SEED),
        alone_rel_l2=measure_alone(run, alone),
        untouched=list_untouched(model),
        train_calls=tuple(sorted(set().union(*(watch.train_calls for watch in watches)))),
        draws=tuple(sorted(set().union(*(watch.draws for watch in watches)))),
        mutated=_list_mutated(case, trace),
        unloaded=_list_unloaded(case),
        initial=_list_initial(case, trace),
        n_loads=case.loads.n_loads,
        strays=tuple(case.loads.strays),
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
    return _list_others(case, case.load_again(OTHER_SEED))


def _list_others(case: OpenedCase, other: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name, digest in case.loaded.items() if other.get(name, digest) != digest)


def _list_initial(case: OpenedCase, trace: Trace) -> tuple[str, ...] | None:
    """Return the weights that are as the factory makes them, constants too; None where that is not known.

    Where no load was seen that could be left out, they are those that depend on a seed, the factory's own
    included; and all of them where every matrix does.
    """
    if not case.loaded or count_bytes(case.subject.model) > _MOST_BYTES_TWICE:
        return None
    if not case.loads.n_loads:
        shapes = {} if trace.weights is None else {each.name: each.shape for each in trace.weights.tensors}
        matrices = [name for name in case.loaded if len(shapes.get(name, ())) > 1]
        drawn = _list_others(case, case.load_again(OTHER_SEED, shifts_own=True))
        return tuple(case.loaded) if matrices and {*matrices} <= {*drawn} else drawn
    try:
        made = case.leave_unloaded()
    except CaseError:
        return None
    return tuple(
        name for name, digest in case.loaded.items() if made.get(name) == digest and name not in case.reached
    )
