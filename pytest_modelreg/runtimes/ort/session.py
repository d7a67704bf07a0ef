"""ONNX Runtime: a file opened with the options that a suite gives.

What belongs here: the options that both ONNX runtimes share (optimisation level,
providers, session options, custom operators), and how a session is opened with them.
To support one more, add it to :data:`SESSION_CHECKS` and :class:`SessionSettings`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.runtimes.option import (
    Check,
    check_libraries,
    check_providers,
    check_settings,
    one_of,
)
from pytest_modelreg.runtimes.ort.failure import describe_onnx_failure, find_unregistered_domain
from pytest_modelreg.runtimes.ort.libraries import advise_library, find_libraries
from pytest_modelreg.runtimes.ort.values import read_dtype, to_numpy
from pytest_modelreg.runtimes.port import RunRequest
from pytest_modelreg.runtimes.requirement import ONNX_EXTRA, require_package
from pytest_modelreg.store import file_digest

_LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "extended": "ORT_ENABLE_EXTENDED",
    "basic": "ORT_ENABLE_BASIC",
    "disabled": "ORT_DISABLE_ALL",
}
_EXECUTION_MODES = {"sequential": "ORT_SEQUENTIAL", "parallel": "ORT_PARALLEL"}
_CPU = "CPUExecutionProvider"
_CUDA = "CUDAExecutionProvider"
_THREADS = "intra_op_num_threads"
_SILENT = 4  # what fails is raised as well; twice would be once in the middle of the output

SESSION_CHECKS: dict[str, Check] = {
    "optimization": one_of(*_LEVELS),
    "providers": check_providers,
    "session_options": check_settings,
    "custom_ops": check_libraries,
}


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    """How sessions of a case are opened; made once, when its runtime is.

    Parameters
    ----------
    where : str
        Case and runtime, for messages.
    optimization : str
        One of ``all``, ``extended``, ``basic``, ``disabled``.
    providers : tuple
        Execution providers, first choice first: names, or pairs of name and options.
    options : mapping of str to scalar
        Attributes of ``SessionOptions``, and config entries, which have a dot in their name.
    libraries : tuple of pathlib.Path
        With custom operators.
    """

    where: str
    optimization: str
    providers: tuple[str | tuple[str, dict[str, str]], ...]
    options: Mapping[str, Any]
    libraries: tuple[Path, ...]

    def facts(self) -> dict[str, FactValue]:
        """Return what the fingerprint records, scalars by key."""
        names = [provider if isinstance(provider, str) else provider[0] for provider in self.providers]
        facts: dict[str, FactValue] = {"optimization": self.optimization, "providers": ",".join(names)}
        facts.update({f"session_options.{name}": value for name, value in sorted(self.options.items())})
        for provider in self.providers:
            if not isinstance(provider, str):
                facts.update({f"providers.{provider[0]}.{key}": value for key, value in provider[1].items()})
        if self.libraries:
            facts["custom_ops"] = ",".join(library.name for library in self.libraries)
            # Another version of a library most often has the same name.
            facts["custom_ops.sha256"] = ",".join(map(file_digest, self.libraries))
        return facts


class OnnxSession:
    """A file that ONNX Runtime has loaded."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.inputs: dict[str, tuple[str, tuple[Any, ...]]] = {
            found.name: (read_dtype(found.type), tuple(found.shape)) for found in session.get_inputs()
        }
        self.output_dtypes: dict[str, str] = {
            found.name: read_dtype(found.type) for found in session.get_outputs()
        }

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs, in order."""
        return tuple(self.output_dtypes)

    def run(self, feeds: Mapping[str, Any]) -> Sequence[Any]:
        """Run on tensors or arrays by input name; those that the file does not have are left out."""
        arrays = {name: to_numpy(value) for name, value in feeds.items() if name in self.inputs}
        outputs: Sequence[Any] = self._session.run(None, arrays)
        return outputs


def read_settings(request: RunRequest, runtime: str) -> SessionSettings:
    """Read the options that both ONNX runtimes share.

    Raises
    ------
    RuntimeUnavailable
        ONNX Runtime is not installed, a provider is not part of it, an option of
        ``SessionOptions`` does not exist, or the case asks for what ONNX Runtime ignores.
    """
    where = f"{request.case}: runtime {runtime!r}"
    if request.autocast is not None:
        advice = "" if runtime == "onnx-file" else ", or give it dtype: float16"
        raise RuntimeUnavailable(
            f"{where}: expected no autocast, which ONNX Runtime knows nothing of, got {request.autocast}; "
            f"take autocast from this variant (autocast: off){advice}"
        )
    engine = require_package("onnxruntime", case=request.case, runtime=runtime, extra=ONNX_EXTRA)
    options = dict(request.options.get("session_options") or {})
    torch = sys.modules.get("torch")
    if torch is not None:
        # A case has one number of threads, whatever runs it.
        options.setdefault(_THREADS, torch.get_num_threads())
        can_be_asked = hasattr(engine.SessionOptions, "use_deterministic_compute")
        if can_be_asked and torch.are_deterministic_algorithms_enabled():
            options.setdefault("use_deterministic_compute", True)
    settings = SessionSettings(
        where=where,
        optimization=request.options.get("optimization", "all"),
        providers=_choose_providers(engine, request, where),
        options=options,
        libraries=find_libraries(request, where),
    )
    _make_options(engine, settings)  # faults show before anything is exported
    return settings


def open_session(file: Path, settings: SessionSettings) -> OnnxSession:
    """Load a file.

    Raises
    ------
    ExportError
        ONNX Runtime cannot load it: operator, node and module are named where known, and what to
        do about an operator of a library that was not given.
    RuntimeUnavailable
        A provider that was asked for does not start on this machine.
    """
    import onnxruntime

    options = _make_options(onnxruntime, settings)
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=list(settings.providers))
    except Exception as error:  # onnxruntime's errors share no base but this one
        told = describe_onnx_failure(error, file)
        domain = find_unregistered_domain(error)
        if domain is not None:
            told = f"{told}; {advise_library(domain, settings.libraries)}"
        raise ExportError(f"{settings.where}: ONNX Runtime cannot load {file.name}: {told}") from error
    first = settings.providers[0] if isinstance(settings.providers[0], str) else settings.providers[0][0]
    started = session.get_providers()
    if first not in started:
        # Otherwise numbers of the CPU would pass for those of the device.
        raise RuntimeUnavailable(
            f"{settings.where}: expected provider {first} to start, got {', '.join(started)} alone; "
            f"see what onnxruntime says it needs, or choose another provider"
        )
    return OnnxSession(session)


def _choose_providers(
    engine: Any, request: RunRequest, where: str
) -> tuple[str | tuple[str, dict[str, str]], ...]:
    available = engine.get_available_providers()
    on_cuda = (request.device or "").startswith("cuda")
    asked = request.options.get("providers") or ([_CUDA, _CPU] if on_cuda else [_CPU])
    chosen: list[str | tuple[str, dict[str, str]]] = []
    for entry in asked:
        if isinstance(entry, str):
            chosen.append(entry)
        else:
            ((name, given),) = entry.items()
            chosen.append((name, {str(key): str(value) for key, value in given.items()}))
    names = [entry if isinstance(entry, str) else entry[0] for entry in chosen]
    absent = [name for name in names if name not in available]
    if absent:
        raise RuntimeUnavailable(
            f"{where}: expected providers of this onnxruntime ({', '.join(available)}), "
            f"got {', '.join(absent)}{suggest(absent[0], available)}; install the onnxruntime that has it"
        )
    return tuple(chosen)


def _make_options(engine: Any, settings: SessionSettings) -> Any:
    options = engine.SessionOptions()
    options.log_severity_level = _SILENT
    options.graph_optimization_level = getattr(engine.GraphOptimizationLevel, _LEVELS[settings.optimization])
    for library in settings.libraries:
        try:
            options.register_custom_ops_library(str(library))
        except Exception as error:  # see open_session
            raise RuntimeUnavailable(
                f"{settings.where}: custom_ops: {library.name} cannot be loaded: {error}"
            ) from error
    known = [name for name in dir(engine.SessionOptions) if not name.startswith("_")]
    for name, value in settings.options.items():
        if "." in name:
            options.add_session_config_entry(name, _spell(value))
        elif name == "graph_optimization_level":
            raise RuntimeUnavailable(
                f"{settings.where}: session_options: expected no {name}; say it as optimization: "
                f"{settings.optimization}"
            )
        elif name not in known or callable(getattr(options, name)):
            raise RuntimeUnavailable(
                f"{settings.where}: session_options: expected an attribute of onnxruntime's SessionOptions "
                f"or a config entry such as session.intra_op.allow_spinning, got {name}{suggest(name, known)}"
            )
        else:
            _set_option(engine, options, name, value, settings.where)
    return options


def _set_option(engine: Any, options: Any, name: str, value: Any, where: str) -> None:
    kind = _EXECUTION_MODES if name == "execution_mode" else {}
    if kind and value not in kind:
        raise RuntimeUnavailable(
            f"{where}: session_options: {name}: expected one of {', '.join(kind)}, got {value!r}"
        )
    try:
        setattr(options, name, getattr(engine.ExecutionMode, kind[value]) if kind else value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise RuntimeUnavailable(
            f"{where}: session_options: {name}: onnxruntime refuses {value!r}: {str(error).splitlines()[0]}"
        ) from error


def _spell(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
