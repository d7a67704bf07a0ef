"""The runtime ``compile``: a model compiled by ``torch.compile`` at its first call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import CaseError, ExportError, RuntimeUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.calling import call_model
from pytest_modelreg.runtimes.export_failure import describe_failure
from pytest_modelreg.runtimes.framework_calls import quiet_framework
from pytest_modelreg.runtimes.model_proxy import ModelProxy
from pytest_modelreg.runtimes.option import (
    Check,
    check_flag,
    check_text,
    find_option_faults,
    is_reference,
    one_of,
    refuse_option_faults,
)
from pytest_modelreg.runtimes.port import RunRequest
from pytest_modelreg.runtimes.requirement import require_torch

_MINIMUM_TORCH = (2, 0)
_CHECKS: dict[str, Check] = {
    "backend": check_text,
    "mode": one_of("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"),
    "fullgraph": check_flag,
    "dynamic": check_flag,
}


class CompileRuntime:
    """Runs a model compiled by ``torch.compile``.

    Options: ``backend`` (a name, or ``module:fn``), ``mode``, ``fullgraph`` and ``dynamic``, as
    ``torch.compile`` has them; what is left out is torch's to choose.
    """

    name = "compile"
    needs_model = True
    options = frozenset(_CHECKS)

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """List what is wrong with the options' values; imports no framework."""
        return find_option_faults(_CHECKS, options, root)

    def open(self, model: Any, request: RunRequest) -> CompileRunner:
        """Get ready to compile at the first call.

        Raises
        ------
        RuntimeUnavailable
            torch is older than 2.0, this Python is too new for it, or an option is wrong.
        """
        faults = self.find_faults(request.options, request.root)
        refuse_option_faults(request.case, self.name, self.options, request.options, faults)
        torch = require_torch(_MINIMUM_TORCH, case=request.case, runtime=self.name)
        chosen = dict(request.options)
        if "backend" in chosen:
            chosen["backend"] = _find_backend(chosen["backend"], request)
        try:
            with quiet_framework():
                compiled = torch.compile(model, **chosen)
        except (RuntimeError, TypeError, ValueError) as error:
            raise RuntimeUnavailable(
                f"{request.case}: runtime {self.name!r}: torch.compile refuses: {error}"
            ) from error
        return CompileRunner(model, compiled, request)


class CompileRunner:
    """A compiled model."""

    def __init__(self, model: Any, compiled: Any, request: RunRequest) -> None:
        self._model = model
        self._compiled = compiled
        self._request = request
        self._where = f"{request.case}: runtime 'compile'"
        self._proxy = ModelProxy(self._run, model, where=self._where)
        self._is_compiled: bool | None = None

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass; the first compiles. See :class:`~.port.Runner`."""
        import torch

        with torch.inference_mode():
            return (self._request.forward or call_model)(self._proxy, batch)

    def facts(self) -> Mapping[str, FactValue]:
        """Return kind and options."""
        options = self._request.options
        return {
            "kind": "compile",
            "backend": options.get("backend", "inductor"),
            "mode": options.get("mode", "default"),
            "fullgraph": options.get("fullgraph", False),
            "dynamic": options.get("dynamic"),
        }

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return that nothing was compiled, where the whole model ran as Python."""
        if self._is_compiled is not False:
            return ()
        actual = "none: all of it ran as Python"
        return (
            RuntimeFinding(subject="model", what="compiled graphs", expected="at least one", actual=actual),
        )

    def close(self) -> None:
        """Let go of the model and of everything that was compiled in this process."""
        import torch._dynamo

        self._model = self._compiled = None
        self._proxy = ModelProxy(self._run, None, where=self._where)
        # Compiled code is kept by code object: the next case would get this one's.
        torch._dynamo.reset()

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        import torch._dynamo

        before = _count_graphs()
        try:
            with quiet_framework():
                returned = self._compiled(*args, **kwargs)
        except CaseError:
            raise
        except torch._dynamo.exc.TorchDynamoException as error:
            told = describe_failure(error, self._model)
            raise ExportError(f"{self._where}: the model cannot be compiled: {told}") from error
        if not self._is_compiled:
            self._is_compiled = _count_graphs() > before
        return returned


def _find_backend(backend: str, request: RunRequest) -> Any:
    import torch._dynamo

    if is_reference(backend) and request.resolve is not None:
        return request.resolve(backend)
    known = torch._dynamo.list_backends(exclude_tags=())
    if backend not in known:
        raise RuntimeUnavailable(
            f"{request.case}: runtime 'compile': backend: expected one of {', '.join(known)} or module:fn, "
            f"got {backend!r}{suggest(backend, known)}"
        )
    return backend


def _count_graphs() -> int:
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"])
