"""Runtimes of other distributions, completed with what the port has got since.

What belongs here: the defaults by which a runtime that was written for an earlier
release of the port keeps working. A field that is added to the port gets its default here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.port import Runner, RunRequest


class PublishedRuntime:
    """A third party's runtime behind today's port.

    Parameters
    ----------
    runtime : Any
        What its entry point gave: it has ``open(model, request)``.
    name : str
        The entry point's name.
    """

    def __init__(self, runtime: Any, name: str) -> None:
        self._runtime = runtime
        self.name = name
        self.needs_model = bool(getattr(runtime, "needs_model", True))

    def open(self, model: Any, request: RunRequest) -> Runner:
        """Open a model; see :class:`~.port.Runtime`."""
        return PublishedRunner(self._runtime.open(model, request), self.name)


class PublishedRunner:
    """A third party's runner behind today's port."""

    def __init__(self, runner: Any, kind: str) -> None:
        self._runner = runner
        self._kind = kind

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass; see :class:`~.port.Runner`."""
        return self._runner(batch)

    def facts(self) -> Mapping[str, FactValue]:
        """Return the runner's own facts; ``kind`` alone for one that tells none."""
        tell = getattr(self._runner, "facts", None)
        return {"kind": self._kind} if tell is None else {"kind": self._kind, **tell()}

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return the runner's own findings; none for one that looks for none."""
        tell = getattr(self._runner, "findings", None)
        return () if tell is None else tuple(tell())

    def close(self) -> None:
        """Close the runner, where it can be."""
        close = getattr(self._runner, "close", None)
        if close is not None:
            close()
