"""A stand-in for a model: what a suite's ``forward`` gets when something else runs it.

What belongs here: which uses of the model reach what was made of it, and refusing those
that would go past it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_modelreg.domain.errors import AbsentPartError, ExportError

READING = frozenset(
    {"parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules", "state_dict"}
)
"""Methods of a module that only tell about it, so that ``next(model.parameters()).device`` works."""


class ModelProxy:
    """Called like the model; data attributes are the model's own.

    Parameters
    ----------
    run : callable
        What a call of the model becomes.
    model : Any
        The model, None where there is none.
    where : str
        Case and runtime, for messages.
    """

    def __init__(self, run: Callable[..., Any], model: Any, *, where: str) -> None:
        self._modelreg_run = run
        self._modelreg_model = model
        self._modelreg_where = where

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run what stands in for the model."""
        return self._modelreg_run(*args, **kwargs)

    forward = __call__

    def eval(self) -> ModelProxy:
        """Do nothing: the model is in eval mode."""
        return self

    def __getattr__(self, name: str) -> Any:
        """Return a data attribute of the model.

        Raises
        ------
        AbsentPartError
            There is no model, only a file.
        ExportError
            It is a method or a part of the model: calling it would run Python, not what was
            made of the model, and the case would be green with the wrong thing compared.
        """
        model = self.__dict__.get("_modelreg_model")
        if name.startswith(("__", "_modelreg")):
            raise AttributeError(name)
        if model is None:
            raise AbsentPartError(
                f"{self._modelreg_where}: forward asked for model.{name}, but there is no model, only a "
                f"file; call model(...) alone"
            )
        found = getattr(model, name)
        if callable(found) and name not in READING:
            raise ExportError(
                f"{self._modelreg_where}: forward uses model.{name}, which would run as Python and go past "
                f"what was made of the model; call model(...) itself, or let the factory return a module "
                f"whose forward is what you need"
            )
        return found
