"""What a model returned, as a flat row of tensors and back.

What belongs here: which leaves a graph computes (tensors and python numbers) and which
are constants of the model (None, text, anything else).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.runtimes.graph.structure import Place, follow, list_places, replace_leaves


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputStructure:
    """The structure that the model itself returned.

    Parameters
    ----------
    returned : Any
        What the model returned, leaves replaced by their position.
    places : tuple of Place
        Every leaf; the value of a computed one is its python type: None for a tensor, int,
        float or bool for a number.
    computed : tuple of int
        Positions among ``places`` of what a graph computes.
    """

    returned: Any
    places: tuple[Place, ...]
    computed: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of what a graph computes, keys joined by ``.``; ``output`` where there is no key."""
        return tuple(self.places[index].name or "output" for index in self.computed)

    def flatten(self, returned: Any) -> tuple[Any, ...]:
        """Return the computed leaves of another result as tensors, in order.

        Raises
        ------
        LookupError, AttributeError, TypeError
            It is of another structure.
        """
        places = [self.places[index] for index in self.computed]
        return tuple(_to_tensor(follow(returned, place.steps), place.value) for place in places)

    def restore(self, tensors: Sequence[Any]) -> Any:
        """Return the model's structure with other tensors in it."""
        leaves = [place.value for place in self.places]
        for index, tensor in zip(self.computed, tensors, strict=True):
            leaves[index] = tensor if leaves[index] is None else leaves[index](tensor.item())
        return replace_leaves(self.returned, iter(leaves))


def capture_outputs(returned: Any) -> OutputStructure:
    """Learn the structure of what a model returned."""
    torch = sys.modules["torch"]
    places: list[Place] = []
    computed: list[int] = []
    for index, place in enumerate(list_places(returned)):
        value = place.value
        if isinstance(value, torch.Tensor):
            value = None
            computed.append(index)
        elif type(value) in (bool, int, float):
            value = type(value)
            computed.append(index)
        places.append(Place(name=place.name, steps=place.steps, value=value))
    # Without the tensors themselves: they would be kept for as long as the case runs.
    hollow = replace_leaves(returned, iter(range(len(places))))
    return OutputStructure(returned=hollow, places=tuple(places), computed=tuple(computed))


def _to_tensor(value: Any, kind: type | None) -> Any:
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return value
    if kind is None:
        raise TypeError(f"expected a tensor, as the model itself returned, got {type(value).__name__}")
    dtype = {bool: torch.bool, int: torch.int64, float: torch.float64}[kind]
    # TorchScript knows no scalar_tensor of a bool; a size that an exporter follows stays as it is.
    return torch.scalar_tensor(int(value) if type(value) is bool else value, dtype=dtype)
