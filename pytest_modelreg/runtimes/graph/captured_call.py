"""A call of a model, taken apart into named tensors and constants.

What belongs here: which arguments a graph takes as inputs, how they are called, and
putting a call together again from other tensors.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_modelreg.runtimes.graph.structure import Place, describe_structure, list_places, replace_leaves


@dataclass(frozen=True, kw_only=True, eq=False)
class CapturedCall:
    """How a model was called once.

    Parameters
    ----------
    args, kwargs : tuple, mapping
        As they were.
    places : tuple of Place
        Every leaf of both, in order, named by the parameter it arrived at and the keys
        inside: ``input_ids``, ``batch.image``.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    places: tuple[Place, ...]

    @property
    def inputs(self) -> dict[str, Any]:
        """Tensors and arrays by name: what a graph takes."""
        return {place.name: place.value for place in self.places if is_array(place.value)}

    @property
    def signature(self) -> str:
        """Everything but sizes and numbers: calls that agree in it can share a graph."""
        leaves = ";".join(f"{place.name}:{_describe_leaf(place.value)}" for place in self.places)
        return f"{describe_structure((self.args, dict(self.kwargs)))}|{leaves}"

    def hollow(self) -> HollowCall:
        """Return how to call the model the same way, without the tensors of this call."""
        constants = {
            index: place.value for index, place in enumerate(self.places) if not is_array(place.value)
        }
        positions = iter(range(len(self.places)))
        return HollowCall(
            arguments=replace_leaves((self.args, dict(self.kwargs)), positions),
            n_leaves=len(self.places),
            constants=constants,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class HollowCall:
    """A call with places for tensors.

    Parameters
    ----------
    arguments : tuple
        Positional and keyword arguments, leaves replaced by their positions.
    n_leaves : int
        Tensors and constants.
    constants : mapping of int to Any
        Leaves that are no tensors, by position.
    """

    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    n_leaves: int
    constants: Mapping[int, Any]

    def fill(self, inputs: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments with these tensors in the places of the call's, in order."""
        tensors = iter(inputs)
        leaves = [
            self.constants[index] if index in self.constants else next(tensors)
            for index in range(self.n_leaves)
        ]
        args, kwargs = replace_leaves(self.arguments, iter(leaves))
        return args, kwargs


def capture_call(
    args: Sequence[Any], kwargs: Mapping[str, Any], called: Callable[..., Any] | None
) -> CapturedCall:
    """Take a call apart.

    Parameters
    ----------
    called : callable or None
        Whose parameters name positional arguments; None names them by position.
    """
    names = _name_arguments(args, called)
    places = [place for name, value in zip(names, args, strict=True) for place in list_places(value, name)]
    for key, value in kwargs.items():
        places += list_places(value, key)
    return CapturedCall(args=tuple(args), kwargs=dict(kwargs), places=tuple(places))


def is_array(value: Any) -> bool:
    """Whether a value is a tensor or a numeric array; never imports torch."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return True
    return isinstance(value, np.ndarray) and value.dtype.kind in "biufc"


def _name_arguments(args: Sequence[Any], called: Callable[..., Any] | None) -> list[str]:
    names: list[str] = []
    try:
        parameters = [] if called is None else list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):  # written in C
        parameters = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            break
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    rest = next(
        (parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL), None
    )
    names = names[: len(args)]
    for index in range(len(args) - len(names)):
        names.append(f"{rest}.{index}" if rest is not None else str(len(names)))
    return names


def _describe_leaf(value: Any) -> str:
    if is_array(value):
        return f"{type(value).__name__} {value.dtype} {value.ndim}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    return f"{type(value).__qualname__} at {id(value)}"
