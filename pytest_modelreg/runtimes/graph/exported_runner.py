"""Running what was exported of a model: lazily, once a session, structure restored.

What belongs here: from a call of the model to its answer, for every runtime that
exports. What a graph is and what runs it, a :class:`~.graph_format.GraphFormat` knows.
"""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import CaseError, ExportError
from pytest_modelreg.domain.example_trial import GraphPlace
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.artefacts import Artefacts
from pytest_modelreg.runtimes.calling import call_model
from pytest_modelreg.runtimes.framework_calls import quiet_framework
from pytest_modelreg.runtimes.graph.captured_call import CapturedCall, capture_call
from pytest_modelreg.runtimes.graph.dynamic_axes import (
    DeclaredAxes,
    copy_inputs,
    declare_axes,
    find_fixed_shape,
    list_axis_names,
    widen_inputs,
)
from pytest_modelreg.runtimes.graph.export_record import ExportRecord, read_record
from pytest_modelreg.runtimes.graph.flat_model import make_flat_model, run_untraced
from pytest_modelreg.runtimes.graph.graph_export import export_graph
from pytest_modelreg.runtimes.graph.graph_format import GraphFormat, GraphSession, GraphSource
from pytest_modelreg.runtimes.graph.output_structure import OutputStructure, capture_outputs
from pytest_modelreg.runtimes.model_proxy import ModelProxy
from pytest_modelreg.runtimes.option import read_dynamic_axes
from pytest_modelreg.runtimes.port import RunRequest, WatchedModule

MAX_GRAPHS = 8
"""Different calls of one model that are exported, each a graph of its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Graph:
    fixed_shapes: Mapping[str, tuple[int | None, ...]]
    outputs: OutputStructure
    session: GraphSession
    record: ExportRecord
    file: Path


class ExportedRunner:
    """A model that is exported at its first call, with that batch as the example.

    Parameters
    ----------
    model : torch.nn.Module
        Built, loaded and in eval mode.
    format : GraphFormat
        What it is exported to.
    facts : mapping
        What is known before the export.

    Raises
    ------
    ExportError
        The model is no module.
    """

    def __init__(
        self, model: Any, request: RunRequest, format: GraphFormat, facts: Mapping[str, FactValue]
    ) -> None:
        import torch

        self._where = f"{request.case}: runtime {format.runtime!r}"
        if not isinstance(model, torch.nn.Module):
            raise ExportError(
                f"{self._where}: expected the factory to return a torch.nn.Module, which alone can be "
                f"exported, got {type(model).__name__}; use the runtime eager or compile"
            )
        self._model: Any = model
        self._request = request
        self._format = format
        self._facts = dict(facts)
        self._graphs: dict[str, _Graph] = {}
        self._nonce = uuid.uuid4().hex
        self._own: tempfile.TemporaryDirectory[str] | None = None
        self._proxy = ModelProxy(self._run, model, where=self._where)

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass; see :class:`~.port.Runner`."""
        import torch

        with torch.inference_mode():
            return (self._request.forward or call_model)(self._proxy, batch)

    def facts(self) -> Mapping[str, FactValue]:
        """Return kind, options, and what is known of the exported file."""
        return self._facts

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return where graphs are not as declared, without repetitions."""
        found = [finding for graph in self._graphs.values() for finding in graph.record.findings]
        return tuple(dict.fromkeys(found))

    def watch(self, batch: Any) -> tuple[WatchedModule, ...]:
        """Run one forward pass and return what the modules inside of the graphs returned.

        Empty for a format whose graphs cannot be looked into.
        """
        watch = getattr(self._format, "watch", None)
        if watch is None:
            return ()
        found: list[WatchedModule] = []

        def run(*args: Any, **kwargs: Any) -> Any:
            returned = self._run(*args, **kwargs)
            call = capture_call(args, kwargs, self._model.forward)
            with quiet_framework():
                found.extend(watch(self._graphs[call.signature].file, call.inputs))
            return returned

        import torch

        proxy = ModelProxy(run, self._model, where=self._where)
        with torch.inference_mode():
            (self._request.forward or call_model)(proxy, batch)
        return tuple(found)

    @property
    def files(self) -> tuple[Path, ...]:
        """The graphs that were made or found, in the order in which they were first called."""
        return tuple(graph.file for graph in self._graphs.values())

    def find_differences(self, first: Path, second: Path) -> tuple[GraphPlace, ...]:
        """Return where two graphs part; empty for a format whose graphs cannot be compared."""
        find = getattr(self._format, "find_differences", None)
        return () if find is None else tuple(find(first, second))

    def close(self) -> None:
        """Let go of model and graphs; files that no session keeps are removed."""
        self._model = None
        self._graphs.clear()
        self._proxy = ModelProxy(self._run, None, where=self._where)
        if self._own is not None:
            self._own.cleanup()
            self._own = None

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        call = capture_call(args, kwargs, self._model.forward)
        graph = self._graphs.get(call.signature)
        if graph is None:
            graph = self._graphs[call.signature] = self._open_graph(call)
        self._check_shapes(graph, call)
        try:
            with quiet_framework():
                outputs = graph.session(call.inputs)
        except CaseError:
            raise
        except Exception as error:  # whatever an engine raises
            raise ExportError(self._describe_failed_run(graph, call, error)) from error
        return graph.outputs.restore(outputs)

    def _open_graph(self, call: CapturedCall) -> _Graph:
        if not call.inputs:
            raise ExportError(f"{self._where}: expected a tensor among the model's inputs, got none")
        if len(self._graphs) == MAX_GRAPHS:
            raise ExportError(
                f"{self._where}: expected at most {MAX_GRAPHS} ways of calling the model, got another; what "
                f"is no tensor (numbers, flags, text) is a constant of the graph: make tensors of what "
                f"differs from batch to batch"
            )
        import torch

        with torch.inference_mode(False):
            inputs = {name: _to_plain_tensor(value) for name, value in call.inputs.items()}
            declared = declare_axes(inputs, read_dynamic_axes(self._request.options), self._request.case)
            hollow = call.hollow()
            args, kwargs = hollow.fill(list(copy_inputs(inputs).values()))
            outputs = capture_outputs(run_untraced(lambda: self._model(*args, **kwargs), self._model))
            if not outputs.computed:
                raise ExportError(f"{self._where}: expected a tensor in what the model returns, got none")
            source = GraphSource(
                flat=make_flat_model(self._model, hollow, outputs),
                inputs=widen_inputs(inputs, declared),
                declared=declared,
                output_names=outputs.names,
                where=self._where,
            )
            fixed = {
                name: find_fixed_shape(value.shape, declared.get(name, {})) for name, value in inputs.items()
            }
            file = self._make_artefact(source, call, fixed, _list_sizes(inputs, declared))
            with quiet_framework():
                session = self._format.load(file)
        record = read_record(file)
        self._facts.update(record.facts)
        return _Graph(fixed_shapes=fixed, outputs=outputs, session=session, record=record, file=file)

    def _make_artefact(
        self,
        source: GraphSource,
        call: CapturedCall,
        fixed: Mapping[str, tuple[int | None, ...]],
        sizes: Mapping[str, int],
    ) -> Path:
        def build(file: Path) -> None:
            export_graph(self._format, source, file, sizes=sizes)

        key: dict[str, Any] = {
            "identity": self._request.identity or self._nonce,
            "runtime": self._format.runtime,
            "options": self._format.describe(),
            "dynamic": {name: dict(axes) for name, axes in source.declared.items()},
            "autocast": self._request.autocast,
            "call": call.signature,
            "shapes": fixed,
        }
        artefacts = self._request.artefacts or self._make_own()
        file = artefacts.make(json.dumps(key, sort_keys=True), self._format.file_name, build)
        record = read_record(file)
        if record.findings and dict(record.sizes) != dict(sizes):
            # A graph that froze another case's batch size must not decide this case's verdict.
            key["sizes"] = dict(sizes)
            file = artefacts.make(json.dumps(key, sort_keys=True), self._format.file_name, build)
        return file

    def _make_own(self) -> Artefacts:
        self._own = self._own or tempfile.TemporaryDirectory(prefix="modelreg-")
        return Artefacts(Path(self._own.name))

    def _check_shapes(self, graph: _Graph, call: CapturedCall) -> None:
        faults = []
        for name, value in call.inputs.items():
            for axis, size in enumerate(graph.fixed_shapes[name]):
                if size is not None and size != value.shape[axis]:
                    faults.append(
                        f"input {name}: expected {size} along axis {axis}, as in the first batch, got "
                        f"{value.shape[axis]} (shape {list(value.shape)}); declare that it varies, as in "
                        f"dynamic: {{{name}: {{0: batch, {axis}: length}}}}"
                    )
        if faults:
            raise ExportError(f"{self._where}: " + "; ".join(faults))

    def _describe_failed_run(self, graph: _Graph, call: CapturedCall, error: Exception) -> str:
        told = self._format.describe_run_failure(error, graph.file)
        shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in call.inputs.items())
        lines = [f"{self._where}: the exported graph failed on {shapes}: {told}"]
        lines += [
            f"{finding.subject}, {finding.what}: declared {finding.expected}, exported: {finding.actual}"
            for finding in graph.record.findings
        ]
        return "; ".join(lines)


def _list_sizes(inputs: Mapping[str, Any], declared: DeclaredAxes) -> dict[str, int]:
    return {
        meant: int(inputs[name].shape[axis])
        for meant, [(name, axis), *_] in list_axis_names(declared).items()
    }


def _to_plain_tensor(value: Any) -> Any:
    """Return an input as a tensor that can be traced, in memory of its own.

    A model that writes into its input would otherwise change the batch before the graph sees it. A
    tensor that was made in inference mode cannot be traced; its clone can.
    """
    import torch

    return torch.as_tensor(value).detach().clone()
