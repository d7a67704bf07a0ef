"""The port between observing a case and the framework that runs its model.

What belongs here: the two protocols that a runtime implements and the value that it is
handed. To hand a runtime one more fact, add a field with a default to
:class:`RunRequest`, so that published runtimes keep working.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_modelreg.domain.environment import FactValue


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What a runtime is told when it opens a model.

    Parameters
    ----------
    case : str
        The case id, for messages.
    options : mapping
        The runtime's options as written in the suite file, ``kind`` left out.
    forward : callable or None
        The suite's ``forward(model, batch)``; None calls the model by the batch's type.
    """

    case: str
    options: Mapping[str, Any] = field(default_factory=dict)
    forward: Callable[[Any, Any], Any] | None = None


class Runner(Protocol):
    """A model opened by a runtime, ready for batches."""

    def __call__(self, batch: Any) -> Any:
        """Run one forward pass without recording gradients.

        Parameters
        ----------
        batch : Any
            What ``collate`` returned: a tensor of axes (sample, ...), a tuple, a
            mapping or a list of such.

        Returns
        -------
        Any
            What the model returned, untouched.
        """

    def facts(self) -> Mapping[str, FactValue]:
        """Return what the fingerprint records of this runtime, as ``runtime.<key>``."""

    def close(self) -> None:
        """Release what the runtime holds; called once, also after an error."""


class Runtime(Protocol):
    """A way to run a model."""

    name: str

    def open(self, model: Any, request: RunRequest) -> Runner:
        """Get a model that is built, loaded and in eval mode ready for batches.

        Raises
        ------
        RuntimeUnavailable
            The runtime's framework is missing, or an option is unknown.
        """
