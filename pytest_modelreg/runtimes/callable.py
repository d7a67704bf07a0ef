"""The runtime ``callable``: a model that is no framework's, numpy in and numpy out.

What belongs here: calling an object, or one of its methods, with arrays. torch is neither needed nor used;
where something else imported it, tensors of a batch are handed over as arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import ModelError, RuntimeUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.calling import call_model
from pytest_modelreg.runtimes.graph.structure import list_places, replace_leaves
from pytest_modelreg.runtimes.option import Check, check_text, find_option_faults, refuse_option_faults
from pytest_modelreg.runtimes.port import RunRequest

_CHECKS: dict[str, Check] = {"method": check_text}
_USUAL_METHODS = ("predict_proba", "decision_function", "predict", "transform", "score_samples")


class CallableRuntime:
    """Runs a function, or a method of an object, on numpy arrays.

    Options: ``method`` (such as ``predict_proba``; default: the object itself is called).
    """

    name = "callable"
    needs_model = True
    takes_objects = True
    options = frozenset(_CHECKS)

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """List what is wrong with the options' values."""
        return find_option_faults(_CHECKS, options, root)

    def open(self, model: Any, request: RunRequest) -> CallableRunner:
        """Find what is called.

        Raises
        ------
        RuntimeUnavailable
            An option is wrong, or the case asks for what only a framework can do.
        ModelError
            The model is a torch module, has no such method, or is not callable.
        """
        faults = self.find_faults(request.options, request.root)
        refuse_option_faults(request.case, self.name, self.options, request.options, faults)
        where = f"{request.case}: runtime {self.name!r}"
        asked = {"dtype": request.dtype, "autocast": request.autocast, "memory_format": request.memory_format}
        given = [f"{axis}: {value}" for axis, value in asked.items() if value is not None]
        if given:
            raise RuntimeUnavailable(
                f"{where}: expected no axis that a framework carries out, got {', '.join(given)}; remove it"
            )
        method = request.options.get("method")
        return CallableRunner(_find_called(model, method, where, has_forward=bool(request.forward)), request)


class CallableRunner:
    """An object that is called with arrays."""

    def __init__(self, called: Any, request: RunRequest) -> None:
        self._called = called
        self._request = request

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass; see :class:`~.port.Runner`."""
        assert self._called is not None, "called after close()"
        return (self._request.forward or call_model)(self._called, _to_arrays(batch))

    def facts(self) -> Mapping[str, FactValue]:
        """Return kind and method; example: ``callable``, ``predict_proba``."""
        return {"kind": "callable", "method": self._request.options.get("method")}

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return none: the model runs as it is."""
        return ()

    def close(self) -> None:
        """Let go of the model."""
        self._called = None


def _find_called(model: Any, name: str | None, where: str, *, has_forward: bool) -> Any:
    """Return what is called with a batch, or handed to the suite's ``forward``."""
    kind = type(model).__name__
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        raise ModelError(
            f"{where}: expected a model without a framework, got the torch module {kind}; use the "
            f"runtime eager"
        )
    if name is not None:
        method = getattr(model, name, None)
        if not callable(method):
            known = [found for found in dir(model) if not found.startswith("_")]
            raise ModelError(
                f"{where}: method: expected a method of {kind}, got {name!r}{suggest(name, known)}"
            )
        return method
    if not callable(model) and not has_forward:
        offered = [method for method in _USUAL_METHODS if callable(getattr(model, method, None))]
        raise ModelError(
            f"{where}: expected something callable, got {kind}; name its method: "
            f"{{kind: callable, method: {offered[0] if offered else 'NAME'}}}"
        )
    return model


def _to_arrays(batch: Any) -> Any:
    """Return a batch whose tensors are arrays; the arrays share their memory."""
    torch = sys.modules.get("torch")
    if torch is None:
        return batch
    leaves = [
        place.value.detach().cpu().numpy() if isinstance(place.value, torch.Tensor) else place.value
        for place in list_places(batch)
    ]
    return replace_leaves(batch, iter(leaves))
