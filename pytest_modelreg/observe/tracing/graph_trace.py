"""The trace of an exported model: what the modules inside of its graph returned.

What belongs here: running a case's own runtime on inputs that are given, and writing what a runner shows
of its inside in the form in which the eager model's modules are written, so that the two can be compared.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.trace import Activations, ModuleFacts, Trace, TraceRequest
from pytest_modelreg.observe.collate import collate_batch
from pytest_modelreg.observe.handed_inputs import HandedInputs
from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.model import ROOT_MODULE
from pytest_modelreg.observe.references import list_references, resolve_reference, resolve_references
from pytest_modelreg.observe.seeding import seed_generators
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.subject import load_model, opened_subject
from pytest_modelreg.observe.tracing.activations import N_COLUMNS, sketch_returned
from pytest_modelreg.observe.tracing.exact_inputs import open_exact
from pytest_modelreg.observe.warning_log import WarningLog
from pytest_modelreg.runtimes import find_runtime
from pytest_modelreg.runtimes.artefacts import Artefacts
from pytest_modelreg.runtimes.port import WatchedModule
from pytest_modelreg.store.trace_file import write_trace

_N_SAMPLES = 2
_OUTPUTS = "the outputs of the graph"


def observe_graph_trace(
    spec: CaseSpec, folder: Path, request: TraceRequest, *, artefacts: Artefacts | None = None
) -> Trace:
    """Return what the modules of an exported model returned, as activations.

    Parameters
    ----------
    request : TraceRequest
        With exact inputs.
    artefacts : Artefacts or None
        Where exported models are kept for the session.

    Returns
    -------
    Trace
        Its modules' settings are the nodes that gave what they returned. Without activations where the
        runtime shows nothing of its inside.

    Raises
    ------
    CaseError
        As :func:`~pytest_modelreg.observe.observe_case`.
    GoldenError, EnvironmentUnavailable
        As :func:`~.exact_inputs.open_exact`.
    """
    assert request.exact is not None
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    runtime = find_runtime(spec.runtime.kind)
    guard = StateGuard(
        threads=spec.threads, default_threads=spec.default_threads, deterministic=spec.deterministic
    )
    with guard, WarningLog() as log, suite_imports(spec.python_path) as suite:
        references = list_references(spec, needs_model=True, prepares_inputs=False)
        found = resolve_references(references, case=spec.id, folders=suite.folders)
        suite.settings.update(guard.imported_settings())
        guard.prepare(suite.settings)
        loaded = load_model(spec, found)
        with opened_subject(
            spec,
            loaded,
            found,
            runtime=runtime,
            parts=(),
            guard=guard,
            log=log,
            resolve=lambda reference: resolve_reference(reference, suite.folders),
            artefacts=artefacts,
            n_edits=0,
        ) as subject:
            passes = subject.passes
            watch = getattr(passes.runner, "watch", None)
            if watch is None:
                return Trace(model_fault=f"runtime {spec.runtime.kind!r} shows nothing of its inside")
            kept = open_exact(Path(request.exact_folder), request.exact)
            watched = []
            with closing(HandedInputs(kept, to_tensors=True)) as source:
                for position in range(min(_N_SAMPLES, len(kept.samples))):
                    (sample,) = source.read(position, position + 1)
                    batch = collate_batch(
                        [sample.value],
                        sample_ids=[sample.observed.id],
                        collate=found.get("collate"),
                        reference=spec.collate,
                    )
                    inputs = passes.placement.place(batch)
                    seed_generators()
                    inside = watch(inputs)
                    whole = WatchedModule(module=ROOT_MODULE, node=_OUTPUTS, returned=passes.runner(inputs))
                    watched.append((*inside, *((whole,) if inside else ())))
    by_name = [{one.module: one for one in each} for each in watched]
    names = [name for name in (by_name[0] if by_name else ()) if all(name in each for each in by_name)]
    if not names:
        return Trace(model_fault="the graph says nothing of the modules that it was made of")
    table = np.array([sketch_returned(each[name].returned) for each in by_name for name in names])
    return Trace(
        modules=tuple(ModuleFacts(name=name, settings=by_name[0][name].node) for name in names),
        activations=Activations(
            file=write_trace(folder, "graph", table),
            n_columns=N_COLUMNS,
            samples=request.exact.ids[: len(watched)],
            calls=tuple(names),
        ),
    )
