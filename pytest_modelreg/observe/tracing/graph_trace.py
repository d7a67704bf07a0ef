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
from pytest_modelreg.observe.handed_inputs import HandedInputs
from pytest_modelreg.observe.model import ROOT_MODULE
from pytest_modelreg.observe.seeding import SEED
from pytest_modelreg.observe.tracing.activations import N_COLUMNS, sketch_returned
from pytest_modelreg.observe.tracing.exact_inputs import open_exact
from pytest_modelreg.observe.tracing.opened_case import opened_case
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
        runtime shows nothing of its inside; with the element types of its weights where a file has them.

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
    with opened_case(spec, prepares_inputs=False, artefacts=artefacts) as case:
        runner = case.subject.passes.runner
        watch = getattr(runner, "watch", None)
        count = getattr(runner, "count_element_types", None)
        element_types = {} if count is None else dict(count())
        if watch is None:
            return Trace(
                element_types=element_types,
                model_fault=f"runtime {spec.runtime.kind!r} shows nothing of its inside",
            )
        kept = open_exact(Path(request.exact_folder), request.exact)
        watched = []
        with closing(HandedInputs(kept, to_tensors=True)) as source:
            for sample in source.read(0, min(_N_SAMPLES, len(kept.samples))):
                inside = watch(case.place_batch([sample]))
                returned = case.run([sample], SEED) if inside else None
                whole = WatchedModule(module=ROOT_MODULE, node=_OUTPUTS, returned=returned)
                watched.append((*inside, whole) if inside else ())
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
