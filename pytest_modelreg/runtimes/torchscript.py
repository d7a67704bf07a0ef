"""The runtime ``torchscript``: a model traced or scripted now, or a TorchScript archive that ships.

What is made now is written to an archive and loaded again, so that what is compared is what can be shipped.
What belongs here: the three ways to an archive. How a traced call's structure is kept is
``graph.exported_runner``'s.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.calling import call_model
from pytest_modelreg.runtimes.export_failure import describe_failure, summarise
from pytest_modelreg.runtimes.framework_calls import quiet_framework
from pytest_modelreg.runtimes.graph.exported_runner import ExportedRunner
from pytest_modelreg.runtimes.graph.graph_format import ExportedGraph, GraphSource
from pytest_modelreg.runtimes.option import (
    Check,
    check_dynamic_axes,
    check_file,
    find_option_faults,
    one_of,
    refuse_option_faults,
)
from pytest_modelreg.runtimes.packaged_file import place_file
from pytest_modelreg.runtimes.port import Runner, RunRequest, Runtime
from pytest_modelreg.runtimes.requirement import require_torch
from pytest_modelreg.store import file_digest

_NAME = "torchscript"
_CHECKS: dict[str, Check] = {
    "path": check_file,
    "mode": one_of("trace", "script"),
    "dynamic": check_dynamic_axes,
}


class TorchScriptRuntime:
    """Runs the TorchScript that torch makes of a model.

    Options: ``mode`` (``trace``, the default, records one call; ``script`` compiles the source), ``dynamic``
    (axes that may vary, by input, of a traced model), or ``path`` (an archive: see :class:`ArchiveRuntime`).
    """

    name = _NAME
    needs_model = True
    options = frozenset(_CHECKS)

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """List what is wrong with the options' values; imports no framework."""
        return _find_faults(options, root)

    def select(self, options: Mapping[str, Any]) -> Runtime:
        """Return the runtime that these options mean."""
        return ArchiveRuntime() if "path" in options else self

    def open(self, model: Any, request: RunRequest) -> Runner:
        """Script the model, or get ready to trace it at the first call.

        Raises
        ------
        RuntimeUnavailable
            torch is missing, or an option is wrong.
        ExportError
            The model is no module, or cannot be scripted.
        """
        _refuse_faults(request)
        torch = require_torch(case=request.case, runtime=self.name)
        mode = request.options.get("mode", "trace")
        facts = {"kind": self.name, "mode": mode}
        if mode == "trace":
            return ExportedRunner(model, request, _TraceFormat(), facts)
        if not isinstance(model, torch.nn.Module):
            raise ExportError(
                f"{_where(request)}: expected the factory to return a torch.nn.Module, which alone can be "
                f"scripted, got {type(model).__name__}; use the runtime eager"
            )
        return ScriptRunner(_script(model, request), request, facts)


class ArchiveRuntime:
    """Runs a TorchScript archive; the suite's model is never built.

    The archive is the model: it is put in eval mode and placed like one, and its weights are on record.
    Loading one runs what it holds: TorchScript code of its author, on this machine.
    """

    name = _NAME
    needs_model = False
    options = frozenset(_CHECKS)

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """List what is wrong with the options' values; imports no framework."""
        return _find_faults(options, root)

    def load_own(self, request: RunRequest) -> Any:
        """Return the module of the archive, in eval mode.

        Raises
        ------
        RuntimeUnavailable
            torch is missing, or an option is wrong.
        ExportError
            The file is no archive, or needs operators that are not there.
        """
        _refuse_faults(request)
        torch = require_torch(case=request.case, runtime=self.name)
        file = place_file(request.options["path"], request.root)
        try:
            with _quiet_jit():
                module = torch.jit.load(str(file), map_location=request.device or "cpu")
        except (RuntimeError, ValueError, OSError) as error:
            raise ExportError(f"{_where(request)}: {file.name}: {_describe_load_failure(error)}") from error
        if hasattr(module, "training"):  # what torch.jit.freeze returned has no mode
            module.eval()
        return module

    def open(self, model: Any, request: RunRequest) -> Runner:
        """Take the module of the archive; None: load it.

        Raises
        ------
        RuntimeUnavailable
            A dtype or memory format is asked for, and nobody has given the module them.
        ExportError
            As :meth:`load_own`.
        """
        if model is None:
            asked = [axis for axis in (request.dtype, request.memory_format) if axis is not None]
            if asked:
                raise RuntimeUnavailable(
                    f"{_where(request)}: expected a module in {', '.join(asked)}, got none"
                )
            model = self.load_own(request)
        file = place_file(request.options["path"], request.root)
        return ScriptRunner(model, request, {"kind": self.name, "mode": "file", "sha256": file_digest(file)})


class ScriptRunner:
    """A scripted module that is called directly; ``forward`` gets it as the model."""

    def __init__(self, module: Any, request: RunRequest, facts: Mapping[str, FactValue]) -> None:
        self._module = module
        self._request = request
        self._facts = dict(facts)

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass; see :class:`~.port.Runner`."""
        import torch

        with torch.inference_mode():
            return (self._request.forward or call_model)(self._module, batch)

    def facts(self) -> Mapping[str, FactValue]:
        """Return kind, mode and, of a file, its sha256."""
        return self._facts

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return parts that are in train mode all the same."""
        if self._module is None:
            return ()
        parts = self._module.named_modules()
        training = [name or "(model)" for name, part in parts if getattr(part, "training", False)]
        if not training:
            return ()
        actual = f"train: {', '.join(training[:5])}"
        return (RuntimeFinding(subject="model", what="mode", expected="eval", actual=actual),)

    def close(self) -> None:
        """Let go of the module."""
        self._module = None


class _TraceFormat:
    runtime = _NAME
    file_name = "model.pt"

    def __init__(self) -> None:
        self._dtypes: dict[str, str] = {}

    def describe(self) -> Mapping[str, Any]:
        return {"mode": "trace"}

    def export(self, source: GraphSource, file: Path) -> ExportedGraph:
        # What is traced is held against the model with other sizes and numbers, which torch's check does not.
        jit = _import_jit()
        with _quiet_jit():
            jit.save(jit.trace(source.flat, tuple(source.inputs.values()), check_trace=False), str(file))
        self._dtypes = {
            name: str(value.dtype).removeprefix("torch.") for name, value in source.inputs.items()
        }
        return ExportedGraph()

    def load(self, file: Path) -> _TraceSession:
        with _quiet_jit():
            return _TraceSession(_import_jit().load(str(file)), self._dtypes)

    def describe_run_failure(self, error: Exception, file: Path) -> str:
        return describe_failure(error, None, file)


class _TraceSession:
    def __init__(self, module: Any, dtypes: Mapping[str, str]) -> None:
        self._module = module
        self._dtypes = dtypes

    def list_inputs(self, names: Sequence[str]) -> Mapping[str, str]:
        return self._dtypes  # a traced call keeps all of its inputs, and takes them as they come

    def __call__(self, inputs: Mapping[str, Any]) -> Sequence[Any]:
        import torch

        outputs: Sequence[Any] = self._module(*(torch.as_tensor(value) for value in inputs.values()))
        return outputs


def _import_jit() -> Any:
    import torch

    return torch.jit


@contextmanager
def _quiet_jit() -> Iterator[None]:
    """Leave out that torch.jit is deprecated, which a suite that asks for it knows."""
    with quiet_framework():
        warnings.filterwarnings("ignore", message=r"`torch\.jit\.\w+` is (deprecated|not supported)")
        yield


def _script(model: Any, request: RunRequest) -> Any:
    """Return what scripting a model and loading the archive again gives."""
    jit = _import_jit()
    try:
        with _quiet_jit():
            archive = io.BytesIO()
            jit.save(jit.script(model), archive)
            archive.seek(0)
            return jit.load(archive, map_location=request.device or "cpu")
    except Exception as error:  # whatever the compiler raises
        told = describe_failure(error, model)
        raise ExportError(
            f"{_where(request)}: the model cannot be scripted: {told}; mode: trace records a call instead"
        ) from error


def _find_faults(options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
    faults = find_option_faults(_CHECKS, options, root)
    if "path" in options:
        what = "expected none beside path, whose archive is run as it is; take it out"
        faults += [(key, what) for key in ("mode", "dynamic") if key in options]
    elif options.get("mode") == "script" and "dynamic" in options:
        faults.append(("dynamic", "expected none for mode script, where every axis may vary; take it out"))
    return faults


def _refuse_faults(request: RunRequest) -> None:
    faults = _find_faults(request.options, request.root)
    refuse_option_faults(request.case, _NAME, frozenset(_CHECKS), request.options, faults)


def _where(request: RunRequest) -> str:
    return f"{request.case}: runtime {_NAME!r}"


def _describe_load_failure(error: Exception) -> str:
    text = summarise(str(error))
    if "nknown builtin op" in text or ("not exist" in text and "perator" in text):
        return (
            f"needs an operator that is not there: {text}; import what registers it where forward is defined"
        )
    return f"expected an archive of torch.jit.save, got: {text}"
