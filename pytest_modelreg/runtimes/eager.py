"""The runtime ``eager``: the model itself, called as Python.

Serves every callable; torch is used only when something else has already imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.calling import call_model
from pytest_modelreg.runtimes.option import refuse_option_faults
from pytest_modelreg.runtimes.port import RunRequest


class EagerRuntime:
    """Runs a model as it is, in inference mode."""

    name = "eager"
    needs_model = True
    options: frozenset[str] = frozenset()

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """Return no faults: there are no options."""
        return []

    def open(self, model: Any, request: RunRequest) -> EagerRunner:
        """Take the model as it is.

        Raises
        ------
        RuntimeUnavailable
            Options were given: an option that does nothing is refused, never ignored.
        """
        refuse_option_faults(request.case, self.name, self.options, request.options, [])
        return EagerRunner(model, request.forward or call_model)


class EagerRunner:
    """A model that is called directly."""

    def __init__(self, model: Any, forward: Callable[[Any, Any], Any]) -> None:
        self._model = model
        self._forward = forward

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass in inference mode; see :class:`~.port.Runner`."""
        with _inference_mode():
            return self._forward(self._model, batch)

    def facts(self) -> Mapping[str, FactValue]:
        """Return ``kind``; example: ``eager``."""
        return {"kind": "eager"}

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return none: the model runs as it is."""
        return ()

    def close(self) -> None:
        """Let go of the model, so that its memory is free before the next case."""
        self._model = None


def _inference_mode() -> AbstractContextManager[None]:
    # A plain callable must not pay for importing torch, nor need it installed.
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.inference_mode()
