"""The runtime ``onnx-file``: an ONNX file that ships, run by ONNX Runtime without its model.

What belongs here: opening the file, and its options. How a batch becomes its inputs is
in ``ort.file_inputs``, which of their axes may vary in ``ort.file_axes``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import CaseError, ExportError, RuntimeUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.calling import call_model
from pytest_modelreg.runtimes.framework_calls import quiet_framework
from pytest_modelreg.runtimes.model_proxy import ModelProxy
from pytest_modelreg.runtimes.option import (
    Check,
    check_dynamic_axes,
    check_file,
    check_names,
    find_option_faults,
    read_dynamic_axes,
    refuse_option_faults,
)
from pytest_modelreg.runtimes.ort.failure import describe_onnx_failure
from pytest_modelreg.runtimes.ort.file_axes import find_frozen_axes
from pytest_modelreg.runtimes.ort.file_inputs import FileInputs, refuse_other_dtype
from pytest_modelreg.runtimes.ort.initialisers import count_element_types
from pytest_modelreg.runtimes.ort.session import (
    SESSION_CHECKS,
    OnnxSession,
    SessionSettings,
    open_session,
    read_settings,
)
from pytest_modelreg.runtimes.ort.values import from_numpy
from pytest_modelreg.runtimes.packaged_file import place_file
from pytest_modelreg.runtimes.port import RunRequest
from pytest_modelreg.store import file_digest

_CHECKS: dict[str, Check] = {
    "path": check_file,
    "inputs": check_names,
    "outputs": check_names,
    "dynamic": check_dynamic_axes,
    **SESSION_CHECKS,
}


class OnnxFileRuntime:
    """Runs an ONNX file; the suite's model is never built.

    Options: ``path``; ``inputs`` (path in the batch, by the file's input name), ``outputs``
    (output path, by the file's output name), ``dynamic`` (axes that the file is declared to
    leave open; the batch's by default, ``off`` for a file that is meant for one size), and those of
    the session: ``optimization``, ``providers``, ``session_options``, ``custom_ops``.
    """

    name = "onnx-file"
    needs_model = False
    options = frozenset(_CHECKS)

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """List what is wrong with the options' values; imports no framework."""
        faults = find_option_faults(_CHECKS, options, root)
        if "path" not in options:
            faults.append(("path", "expected the path of an ONNX file, got nothing"))
        return faults

    def open(self, model: Any, request: RunRequest) -> OnnxFileRunner:
        """Load the file; the model is not looked at.

        Raises
        ------
        RuntimeUnavailable
            ONNX Runtime is missing, an option is wrong, or the case asks for what ONNX
            Runtime ignores, such as another dtype than the file's.
        ExportError
            ONNX Runtime cannot load the file.
        """
        faults = self.find_faults(request.options, request.root)
        refuse_option_faults(request.case, self.name, self.options, request.options, faults)
        settings = read_settings(request, self.name)
        file = place_file(request.options["path"], request.root)
        session = open_session(file, settings)
        refuse_other_dtype(
            session.inputs, session.output_dtypes, request.dtype, where=f"{settings.where}: {file.name}"
        )
        for option, known in (("inputs", tuple(session.inputs)), ("outputs", session.output_names)):
            unknown = [name for name in request.options.get(option) or () if name not in known]
            if unknown:
                raise RuntimeUnavailable(
                    f"{settings.where}: {option}: expected names of {file.name} ({', '.join(known)}), "
                    f"got {', '.join(unknown)}{suggest(unknown[0], known)}"
                )
        return OnnxFileRunner(file, session, settings, request)


class OnnxFileRunner:
    """An ONNX file that is loaded."""

    def __init__(
        self, file: Path, session: OnnxSession, settings: SessionSettings, request: RunRequest
    ) -> None:
        self._file = file
        self._session: OnnxSession | None = session
        self._request = request
        self._where = settings.where
        self._shapes = {name: shape for name, (_, shape) in session.inputs.items()}
        self._inputs = FileInputs(
            session.inputs,
            names=request.options.get("inputs") or {},
            dtype=request.dtype,
            where=f"{settings.where}: {file.name}",
        )
        self._facts = {"kind": "onnx-file", "sha256": file_digest(file), **settings.facts()}
        self._findings: tuple[RuntimeFinding, ...] | None = None
        self._proxy = ModelProxy(self._run, None, where=settings.where)

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass; see :class:`~.port.Runner`."""
        return (self._request.forward or call_model)(self._proxy, batch)

    def facts(self) -> Mapping[str, FactValue]:
        """Return kind, the file's sha256 and the session's settings."""
        return self._facts

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return where the file is not as the batches and the suite have it."""
        return (*self._inputs.findings, *(self._findings or ()))

    def count_element_types(self) -> Mapping[str, int]:
        """Return how many of the file's initialisers are of each element type."""
        return count_element_types(self._file)

    def close(self) -> None:
        """Let go of the file."""
        self._session = None

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        feeds, as_tensors = self._inputs.read(args, kwargs)
        outputs = self._run_file(feeds)
        if self._findings is None:
            self._findings = tuple(
                find_frozen_axes(
                    feeds,
                    self._shapes,
                    read_dynamic_axes(self._request.options),
                    self._run_file,
                    output_names=self._output_names,
                    case=self._request.case,
                )
            )
        values = [from_numpy(output) if as_tensors else output for output in outputs]
        names = self._output_names
        mapped = self._request.options.get("outputs") or {}
        if len(values) == 1 and not mapped:
            return values[0]
        return {str(mapped.get(name, name)): value for name, value in zip(names, values, strict=True)}

    @property
    def _output_names(self) -> tuple[str, ...]:
        return () if self._session is None else self._session.output_names

    def _run_file(self, feeds: Mapping[str, Any]) -> Sequence[Any]:
        assert self._session is not None, "called after close()"
        try:
            with quiet_framework():
                return self._session.run(feeds)
        except CaseError:
            raise
        except Exception as error:  # onnxruntime's errors share no base but this one
            shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in feeds.items())
            told = describe_onnx_failure(error, self._file)
            raise ExportError(f"{self._where}: {self._file.name} failed on {shapes}: {told}") from error
