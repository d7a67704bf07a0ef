"""The two ways in which torch writes ONNX: its exporter on torch.export, and TorchScript's.

What belongs here: calling them. To add an exporter, write a function that takes a
source, a file and an opset, and name it in :data:`EXPORTERS`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable
from pytest_modelreg.runtimes.export_failure import chain_errors, describe_failure, find_operator
from pytest_modelreg.runtimes.graph.exported_program import MINIMUM_TORCH, list_ranges, trace_program
from pytest_modelreg.runtimes.graph.flat_model import MODEL_ATTRIBUTE
from pytest_modelreg.runtimes.graph.graph_format import ExportedGraph, GraphSource
from pytest_modelreg.runtimes.requirement import ONNX_EXTRA, read_version, require_package, require_torch

DEFAULT_EXPORTER = "dynamo"
_TRANSLATED = re.compile(r"translating node %(?P<name>\w+)")


def require_exporter(name: str, *, case: str, runtime: str) -> None:
    """Check that this installation has an exporter.

    Raises
    ------
    RuntimeUnavailable
        torch is too old for it or has dropped it, or onnx or onnxscript is missing.
    """
    require_package("onnx", case=case, runtime=runtime, extra=ONNX_EXTRA)
    if name == "dynamo":
        require_torch(MINIMUM_TORCH, case=case, runtime=runtime, hint=", or say exporter: torchscript")
        require_package("onnxscript", case=case, runtime=runtime, extra=ONNX_EXTRA)
    else:
        torch = require_torch(case=case, runtime=runtime)
        if not _has_dynamo_switch(torch) and read_version(torch) >= MINIMUM_TORCH:
            raise RuntimeUnavailable(
                f"{case}: runtime {runtime!r}: expected a torch with the TorchScript exporter, got "
                f"{torch.__version__}, which has dropped it; say exporter: dynamo"
            )


def write_with_dynamo(source: GraphSource, file: Path, opset: int | None) -> ExportedGraph:
    """Write ONNX by way of torch.export."""
    import torch

    program = trace_program(source, strict=False)
    # Opsets, names of axes: what is not asked for is torch's to choose.
    chosen: dict[str, Any] = {} if opset is None else {"opset_version": opset}
    try:
        torch.onnx.export(
            program,
            (),
            str(file),
            dynamo=True,
            input_names=list(source.inputs),
            output_names=list(source.output_names),
            **chosen,
        )
    except Exception as error:
        module = _find_program_module(error, program)
        if module is None:
            raise
        told = describe_failure(error)
        raise ExportError(
            f"{source.where}: the model cannot be translated to ONNX: {told}; in module {module}"
        ) from error
    return ExportedGraph(ranges=tuple(list_ranges(program, source)), facts=_read_facts(file))


def write_with_torchscript(source: GraphSource, file: Path, opset: int | None) -> ExportedGraph:
    """Write ONNX by tracing with TorchScript, in the mode that the model is in."""
    import torch

    chosen: dict[str, Any] = {} if opset is None else {"opset_version": opset}
    if _has_dynamo_switch(torch):
        chosen["dynamo"] = False
    mode = torch.onnx.TrainingMode
    # In its eval mode the exporter would put a part that is in train mode in eval mode too, and hide it.
    in_training = any(getattr(part, "training", False) for part in source.flat.modules())
    # It refuses a number for a name, as the outputs of a tuple have it; outputs are taken in order.
    output_names = [f"output.{name}" if name.isdigit() else name for name in source.output_names]
    try:
        with _traceable(torch):
            torch.onnx.export(
                source.flat,
                tuple(source.inputs.values()),
                str(file),
                input_names=list(source.inputs),
                output_names=output_names,
                dynamic_axes={name: dict(axes) for name, axes in source.declared.items()},
                training=mode.PRESERVE if in_training else mode.EVAL,
                do_constant_folding=not in_training,
                **chosen,
            )
    except Exception as error:
        module = _find_traced_module(error, source)
        if module is None:
            raise
        told = describe_failure(error)
        raise ExportError(
            f"{source.where}: the model cannot be translated to ONNX: {told}; in module {module}"
        ) from error
    return ExportedGraph(facts=_read_facts(file))


Exporter = Callable[[GraphSource, Path, "int | None"], ExportedGraph]
EXPORTERS: Mapping[str, Exporter] = {"dynamo": write_with_dynamo, "torchscript": write_with_torchscript}
"""By the name that the option ``exporter`` gives."""


@contextmanager
def _traceable(torch: Any) -> Iterator[None]:
    """Keep attention on the operators that ONNX has, and the tracer's graph off the output.

    Without gradients torch takes a fused path for attention that has no translation; and
    this exporter writes the whole graph past Python's stdout when it fails.
    """
    attention: Any = getattr(torch.backends, "mha", None)
    is_fast = attention is not None and attention.get_fastpath_enabled()
    log = getattr(torch._C, "_jit_onnx_log", None)
    if is_fast:
        attention.set_fastpath_enabled(False)
    torch._C._jit_onnx_log = lambda *parts: None
    try:
        yield
    finally:
        if is_fast:
            attention.set_fastpath_enabled(True)
        torch._C._jit_onnx_log = log


def _has_dynamo_switch(torch: Any) -> bool:
    return "dynamo" in inspect.signature(torch.onnx.export).parameters


def _read_facts(file: Path) -> dict[str, int]:
    import onnx

    model = onnx.load(str(file), load_external_data=False)
    opsets = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    return {"opset": max(opsets, default=0), "ir_version": model.ir_version}


def _find_program_module(error: BaseException, program: Any) -> str | None:
    """Return the module of the node that a translation stopped at."""
    operator = find_operator(error)
    translated = [_TRANSLATED.search(str(found)) for found in chain_errors(error)]
    names = {match["name"] for match in translated if match is not None}
    stopped_at = _find_call(program, names, operator)
    if stopped_at is None:
        # The exporter translates a program in which composite operators are taken apart, such as
        # linalg_svdvals into _linalg_svd; what they are made of keeps the module of the composite.
        try:
            stopped_at = _find_call(program.run_decompositions(), names, operator)
        except Exception:  # noqa: BLE001 - the first error is the one to tell
            return None
    stack = {} if stopped_at is None else stopped_at.meta.get("nn_module_stack") or {}
    modules = [entry[0] for entry in stack.values()]
    return _strip_root(modules[-1]) if modules else None


def _find_call(program: Any, names: Collection[str], operator: str | None) -> Any:
    """Return the first node of these names or, where none has one, that calls an operator; None for none."""
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    if operator is not None:
        calls = [node for node in calls if str(node.target) == operator]
    named = [node for node in calls if node.name in names]
    return next(iter(named or (calls if operator is not None else [])), None)


def _find_traced_module(error: BaseException, source: GraphSource) -> str | None:
    """Return the module in which an operator is called that TorchScript's exporter does not know."""
    import torch

    operator = find_operator(error)
    if operator is None or "::" not in operator:
        return None
    try:
        trace: Any = torch.jit.trace
        with _traceable(torch):
            traced = trace(source.flat, tuple(source.inputs.values()), check_trace=False)
    except Exception:  # noqa: BLE001 - tracing is what failed: then the error's own frames tell
        return None
    graph = traced.inlined_graph  # nodes die with it
    for node in graph.findAllNodes(operator):
        scopes = [scope.removeprefix("__module.") for scope in node.scopeName().split("/")]
        return _strip_root(scopes[-1]) if scopes[-1] else None
    return None


def _strip_root(name: str) -> str:
    name = name.removeprefix("L['self'].")
    return name.removeprefix(f"{MODEL_ATTRIBUTE}.") if name != MODEL_ATTRIBUTE else "(model)"
