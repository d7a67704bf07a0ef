"""What of a model are its weights: a module's state dict, the arrays of any other object.

What belongs here: finding them. What of a value counts is ``weight_values``'. To look into one more kind of
container, give it a branch in :func:`_list_parts`.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pytest_modelreg.observe.model import is_module

_MAX_DEPTH = 6
_MAX_ARRAYS = 20_000
_MAX_VISITED = 100_000  # a vocabulary, or an application around the model
_KINDS = "biufc"
_CODE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, str, bytes)


def read_state(model: Any) -> Mapping[str, Any]:
    """Return a model's weights by name; empty for one that has none that can be found.

    Notes
    -----
    Of an object that is no module, numeric arrays count that it holds in attributes, lists, tuples and
    mappings, by their way: ``steps.0.1.coef_``. Single numbers do not: objects count their calls in such. Of
    a method its object is looked into; a function has no weights that could be found.
    """
    if is_module(model):
        state: Mapping[str, Any] = model.state_dict()
        return state
    owner = model.__self__ if isinstance(model, types.MethodType) else model
    found: dict[str, Any] = {}
    for name, array in _find_arrays(owner, "", 0, {id(owner)}):
        found.setdefault(name, array)
        if len(found) == _MAX_ARRAYS:
            break
    return found


def _find_arrays(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    for key, part in _list_parts(value):
        name = f"{path}.{key}" if path else key
        if isinstance(part, np.ndarray):
            if part.dtype.kind in _KINDS:
                yield name, part
        elif depth < _MAX_DEPTH and id(part) not in seen and len(seen) < _MAX_VISITED:
            seen.add(id(part))  # objects may hold each other
            yield from _find_arrays(part, name, depth + 1, seen)


def _list_parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, _CODE):
        return []
    if isinstance(value, Mapping):
        return [(str(key), part) for key, part in list(value.items())]
    if isinstance(value, (list, tuple)):
        return [(str(index), part) for index, part in enumerate(value)]
    attributes = getattr(value, "__dict__", None)
    return [] if not isinstance(attributes, dict) else list(attributes.items())
