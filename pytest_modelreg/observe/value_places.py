"""Places where code keeps values: names, containers, numbers, enclosed variables.

What belongs here: reading a place, comparing what was read, and putting it back. Which places a
preprocess can reach is ``held_state``'s. To know one more kind of place, add a class with ``read`` and
``write``, and to :func:`is_same` what it reads, unless identity tells.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from pytest_modelreg.observe.arrays import is_tensor

_MISSING = object()


class Place(Protocol):
    """Something whose content can be read, compared and put back."""

    def read(self) -> Any:
        """Return a copy of what is there."""

    def write(self, content: Any) -> None:
        """Put back what was read."""


class Names:
    """The names of a module, an object, a class, or the keys of a dict."""

    def __init__(
        self,
        names: Mapping[Any, Any],
        put: Callable[[Any, Any], None],
        remove: Callable[[Any], None],
    ) -> None:
        self._names, self._put, self._remove = names, put, remove

    def read(self) -> dict[Any, Any]:
        """Return the values by name."""
        # Dunder names are Python's own: a warning leaves a registry of them behind.
        return {name: value for name, value in list(self._names.items()) if not is_dunder(name)}

    def write(self, content: dict[Any, Any]) -> None:
        """Bind what is bound otherwise, and no other name."""
        for name, value in self.read().items():
            if name not in content:
                self._remove(name)
            elif content[name] is not value:
                self._put(name, content[name])
        for name, value in content.items():
            if name not in self._names:
                self._put(name, value)


class Items:
    """A list, a deque or a set."""

    def __init__(self, items: Any) -> None:
        self._items = items

    def read(self) -> list[Any]:
        """Return the items."""
        return list(self._items)

    def write(self, content: list[Any]) -> None:
        """Put the items back."""
        self._items.clear()
        (self._items.update if isinstance(self._items, set) else self._items.extend)(content)


class Numbers:
    """An array or a tensor."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers

    def read(self) -> Any:
        """Return a copy."""
        return self._numbers.detach().clone() if is_tensor(self._numbers) else self._numbers.copy()

    def write(self, content: Any) -> None:
        """Copy the numbers back."""
        if is_tensor(self._numbers):
            self._numbers.detach().copy_(content)
        else:
            self._numbers[...] = content


class Cell:
    """A variable that a function encloses."""

    def __init__(self, cell: types.CellType) -> None:
        self._cell = cell

    def read(self) -> Any:
        """Return the value; a mark where none was assigned yet."""
        try:
            return self._cell.cell_contents
        except ValueError:
            return _MISSING

    def write(self, content: Any) -> None:
        """Assign the value."""
        if content is not _MISSING:
            self._cell.cell_contents = content


def is_dunder(name: Any) -> bool:
    """Whether a name is Python's own."""
    return isinstance(name, str) and name.startswith("__")


def count_bytes(numbers: Any) -> int | None:
    """Return the size of an array or tensor; None for one that cannot be put back."""
    if is_tensor(numbers):
        is_plain = str(numbers.layout) == "torch.strided" and numbers.device.type == "cpu"
        return numbers.numel() * numbers.element_size() if is_plain else None
    return int(numbers.nbytes) if numbers.flags.writeable else None


def is_same(now: Any, before: Any) -> bool:
    """Whether two contents are equal; values are compared by identity, which never asks user code."""
    if isinstance(now, dict):
        return now.keys() == before.keys() and all(now[name] is before[name] for name in now)
    if isinstance(now, list):
        return len(now) == len(before) and all(one is other for one, other in zip(now, before, strict=True))
    if is_tensor(now) and is_tensor(before):
        return bool((now == before).all())
    if isinstance(now, np.ndarray) and isinstance(before, np.ndarray):
        return now.tobytes() == before.tobytes()
    return now is before
