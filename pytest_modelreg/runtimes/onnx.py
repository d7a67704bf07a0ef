"""The runtime ``onnx``: a model exported now and run by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable
from pytest_modelreg.domain.example_trial import GraphPlace
from pytest_modelreg.runtimes.graph.exported_runner import ExportedRunner
from pytest_modelreg.runtimes.graph.graph_format import ExportedGraph, GraphSource
from pytest_modelreg.runtimes.option import (
    Check,
    check_dynamic_axes,
    find_option_faults,
    one_of,
    refuse_option_faults,
    whole_number,
)
from pytest_modelreg.runtimes.ort.exporters import DEFAULT_EXPORTER, EXPORTERS, require_exporter
from pytest_modelreg.runtimes.ort.failure import describe_onnx_failure
from pytest_modelreg.runtimes.ort.graph_difference import find_differences
from pytest_modelreg.runtimes.ort.node_watch import watch_graph
from pytest_modelreg.runtimes.ort.session import (
    SESSION_CHECKS,
    OnnxSession,
    SessionSettings,
    open_session,
    read_settings,
)
from pytest_modelreg.runtimes.ort.values import from_numpy
from pytest_modelreg.runtimes.port import RunRequest, WatchedModule

_CHECKS: dict[str, Check] = {
    "exporter": one_of(*EXPORTERS),
    "opset": whole_number(7),
    "dynamic": check_dynamic_axes,
    **SESSION_CHECKS,
}


class OnnxRuntime:
    """Exports a model to ONNX and runs it by ONNX Runtime.

    Options: ``exporter`` (``dynamo`` or ``torchscript``), ``opset`` (an exporter that writes another
    one is an error), ``dynamic`` (axes that may vary, by input), and those of the session:
    ``optimization``, ``providers``, ``session_options``, ``custom_ops``.
    """

    name = "onnx"
    needs_model = True
    options = frozenset(_CHECKS)

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """List what is wrong with the options' values; imports no framework."""
        return find_option_faults(_CHECKS, options, root)

    def open(self, model: Any, request: RunRequest) -> ExportedRunner:
        """Get ready to export at the first call.

        Raises
        ------
        RuntimeUnavailable
            A package or the exporter is missing, an option is wrong, or the case asks for
            what ONNX Runtime ignores.
        ExportError
            The model is no module.
        """
        faults = self.find_faults(request.options, request.root)
        refuse_option_faults(request.case, self.name, self.options, request.options, faults)
        if request.dtype == "bfloat16":
            raise RuntimeUnavailable(
                f"{request.case}: runtime {self.name!r}: expected dtype float16, float32 or float64, got "
                f"bfloat16, which onnxruntime takes no inputs of from Python; choose another dtype"
            )
        exporter = request.options.get("exporter", DEFAULT_EXPORTER)
        opset = request.options.get("opset")
        settings = read_settings(request, self.name)
        require_exporter(exporter, case=request.case, runtime=self.name)
        facts = {"kind": self.name, "exporter": exporter, "opset": opset, **settings.facts()}
        return ExportedRunner(model, request, _OnnxFormat(exporter, opset, settings), facts)


class _OnnxFormat:
    runtime = "onnx"
    file_name = "model.onnx"

    def __init__(self, exporter: str, opset: int | None, settings: SessionSettings) -> None:
        self._exporter = exporter
        self._opset = opset
        self._settings = settings

    def describe(self) -> Mapping[str, Any]:
        return {"exporter": self._exporter, "opset": self._opset}

    def export(self, source: GraphSource, file: Path) -> ExportedGraph:
        exported = EXPORTERS[self._exporter](source, file, self._opset)
        written = exported.facts["opset"]
        if self._opset not in (None, written):
            # What serves the model asked for this opset; a match of another graph would say nothing of it.
            others = " or ".join(f"exporter: {name}" for name in EXPORTERS if name != self._exporter)
            raise ExportError(
                f"{source.where}: expected a graph of opset {self._opset}, got opset {written}, the nearest "
                f"that the exporter {self._exporter} writes of this model; say opset: {written} if what "
                f"serves it runs that, or try {others}"
            )
        return exported

    def load(self, file: Path) -> _GraphSession:
        return _GraphSession(open_session(file, self._settings))

    def watch(self, file: Path, inputs: Mapping[str, Any]) -> list[WatchedModule]:
        return watch_graph(file, self._settings, inputs)

    def find_differences(self, first: Path, second: Path) -> list[GraphPlace]:
        return find_differences(first, second)

    def describe_run_failure(self, error: Exception, file: Path) -> str:
        return describe_onnx_failure(error, file)


class _GraphSession:
    def __init__(self, session: OnnxSession) -> None:
        self._session = session

    def list_inputs(self, names: Sequence[str]) -> Mapping[str, str]:
        return {name: dtype for name, (dtype, _) in self._session.inputs.items()}

    def __call__(self, inputs: Mapping[str, Any]) -> Sequence[Any]:
        return [from_numpy(output) for output in self._session.run(inputs)]
