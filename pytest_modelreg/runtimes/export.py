"""The runtime ``export``: a program of torch.export, run by its module.

The program is written to a file and loaded again, so that what is compared is what can
be shipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.runtimes.export_failure import describe_failure
from pytest_modelreg.runtimes.graph.exported_program import MINIMUM_TORCH, list_ranges, trace_program
from pytest_modelreg.runtimes.graph.exported_runner import ExportedRunner
from pytest_modelreg.runtimes.graph.graph_format import ExportedGraph, GraphSource
from pytest_modelreg.runtimes.option import (
    Check,
    check_dynamic_axes,
    check_flag,
    find_option_faults,
    refuse_option_faults,
)
from pytest_modelreg.runtimes.port import RunRequest
from pytest_modelreg.runtimes.requirement import require_torch

_CHECKS: dict[str, Check] = {"dynamic": check_dynamic_axes, "strict": check_flag}


class ExportRuntime:
    """Runs the program that ``torch.export.export`` makes of a model.

    Options: ``dynamic`` (axes that may vary, by input) and ``strict`` (trace the bytecode
    instead of running the Python code).
    """

    name = "export"
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
            torch is older than 2.6, or an option is wrong.
        ExportError
            The model is no module.
        """
        faults = self.find_faults(request.options, request.root)
        refuse_option_faults(request.case, self.name, self.options, request.options, faults)
        require_torch(MINIMUM_TORCH, case=request.case, runtime=self.name)
        strict = request.options.get("strict", False)
        return ExportedRunner(model, request, _ProgramFormat(strict), {"kind": self.name, "strict": strict})


class _ProgramFormat:
    runtime = "export"
    file_name = "model.pt2"

    def __init__(self, strict: bool) -> None:
        self._strict = strict

    def describe(self) -> Mapping[str, Any]:
        return {"strict": self._strict}

    def export(self, source: GraphSource, file: Path) -> ExportedGraph:
        import torch

        program = trace_program(source, strict=self._strict)
        torch.export.save(program, file)
        return ExportedGraph(ranges=tuple(list_ranges(program, source)))

    def load(self, file: Path) -> _ProgramSession:
        import torch

        return _ProgramSession(torch.export.load(file))

    def describe_run_failure(self, error: Exception, file: Path) -> str:
        return describe_failure(error, None, file)


class _ProgramSession:
    def __init__(self, program: Any) -> None:
        values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
        self._dtypes = [str(values[name].dtype) for name in program.graph_signature.user_inputs]
        self._module = program.module()

    def list_inputs(self, names: Sequence[str]) -> Mapping[str, str]:
        return {name: dtype.removeprefix("torch.") for name, dtype in zip(names, self._dtypes, strict=True)}

    def __call__(self, inputs: Mapping[str, Any]) -> Sequence[Any]:
        import torch

        outputs: Sequence[Any] = self._module(*(torch.as_tensor(value) for value in inputs.values()))
        return outputs
