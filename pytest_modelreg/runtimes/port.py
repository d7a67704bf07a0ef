"""The port between observing a case and the framework that runs its model.

What belongs here: the two protocols that a runtime implements and the value that it is
handed. To hand a runtime one more fact, add a field with a default to
:class:`RunRequest`, so that published runtimes keep working.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.artefacts import Artefacts


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
    identity : str
        Digest of everything the model is made of (factory, arguments, weights, transform,
        dtype, device): what an artefact made of it is kept under.
    artefacts : Artefacts or None
        Where what is made of the model is kept for the session; None: nothing is kept.
    root : pathlib.Path
        The suite's folder: paths among the options are relative to it.
    resolve : callable or None
        Imports a ``module:attr`` reference with the suite's modules in front.
    device, dtype, autocast, memory_format : str or None
        The case's axes, already applied to the model (autocast is entered around every
        call by the caller); for a runtime that has to repeat or refuse them. To one that brings
        its own model nothing was applied: it computes in ``dtype`` or refuses it, because
        limits are those of the dtype that the case declares.
    """

    case: str
    options: Mapping[str, Any] = field(default_factory=dict)
    forward: Callable[[Any, Any], Any] | None = None
    identity: str = ""
    artefacts: Artefacts | None = None
    root: Path = field(default_factory=Path)
    resolve: Callable[[str], Any] | None = None
    device: str | None = None
    dtype: str | None = None
    autocast: str | None = None
    memory_format: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class WatchedModule:
    """What a module returned inside of an exported model.

    Parameters
    ----------
    module : str
        Its path in the model that was exported; ``(model)`` for the root.
    node : str
        Operator and name of the node that gave it.
    returned : Any
        A tensor or array.
    """

    module: str
    node: str
    returned: Any


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

    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Return what the runtime made of the model that is not as declared; asked after the last batch."""

    def close(self) -> None:
        """Release what the runtime holds; called once, also after an error."""


class Runtime(Protocol):
    """A way to run a model.

    Attributes
    ----------
    name : str
        What a suite's ``runtime`` says.
    needs_model : bool
        False for a runtime that brings its own: then ``open`` is called with None, and
        the suite's factory is never called.

    Notes
    -----
    Of the built-in ones some have more. ``takes_objects`` is true where the factory may return what
    is not callable. ``load_own(request)`` returns the torch module that a runtime brings: it is put in eval
    mode, placed and looked into like one of a factory, and handed to ``open``. ``select(options)`` returns
    the runtime that the options mean.
    """

    name: str
    needs_model: bool

    def open(self, model: Any, request: RunRequest) -> Runner:
        """Get a model that is built, loaded and in eval mode ready for batches.

        Raises
        ------
        RuntimeUnavailable
            The runtime's framework is missing, or an option is unknown.
        """
