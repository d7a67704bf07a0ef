"""Nested structures of what goes into a model and comes out of it.

What belongs here: taking a structure apart into leaves with their places, and putting
others in. To support one more container, add it to :func:`_open_container`.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Step = tuple[str, Any]
"""How to get from a container to a child: ``("item", key)`` or ``("attribute", name)``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Place:
    """A leaf, and the way to it.

    Parameters
    ----------
    name : str
        Keys on the way, joined by ``.``; empty for a structure that is one leaf.
    steps : tuple of Step
        The way.
    value : Any
        The leaf itself.
    """

    name: str
    steps: tuple[Step, ...]
    value: Any


@dataclass(frozen=True, kw_only=True, eq=False)
class _Container:
    keys: tuple[tuple[str, Step], ...]
    children: tuple[Any, ...]
    rebuild: Callable[[Sequence[Any]], Any]


def list_places(node: Any, name: str = "", steps: tuple[Step, ...] = ()) -> Iterator[Place]:
    """Yield every leaf of a structure in order; what is no known container is a leaf."""
    container = _open_container(node)
    if container is None:
        yield Place(name=name, steps=steps, value=node)
        return
    for (key, step), child in zip(container.keys, container.children, strict=True):
        yield from list_places(child, f"{name}.{key}" if name else key, (*steps, step))


def replace_leaves(node: Any, leaves: Iterator[Any]) -> Any:
    """Return a structure of the same containers with other leaves, taken in order."""
    container = _open_container(node)
    if container is None:
        return next(leaves)
    return container.rebuild([replace_leaves(child, leaves) for child in container.children])


def follow(node: Any, steps: Sequence[Step]) -> Any:
    """Return the leaf that is at a place.

    Raises
    ------
    LookupError, AttributeError, TypeError
        The structure has no such place.
    """
    for kind, key in steps:
        node = node[key] if kind == "item" else getattr(node, key)
    return node


def describe_structure(node: Any) -> str:
    """Return the containers of a structure as text, leaves left out: what two calls must share."""
    container = _open_container(node)
    if container is None:
        return "*"
    inner = ",".join(
        f"{key}={describe_structure(child)}"
        for (key, _), child in zip(container.keys, container.children, strict=True)
    )
    return f"{type(node).__module__}.{type(node).__qualname__}({inner})"


def _open_container(node: Any) -> _Container | None:
    if isinstance(node, type):
        return None
    if isinstance(node, Mapping):
        return _open_mapping(node, tuple(node.keys()))
    if isinstance(node, tuple) and (fields := getattr(node, "_fields", None)) is not None:
        return _Container(
            keys=tuple((name, ("item", index)) for index, name in enumerate(fields)),
            children=tuple(node),
            rebuild=lambda children: type(node)(*children),
        )
    if isinstance(node, (tuple, list)):
        kind: type[Any] = tuple if isinstance(node, tuple) else list
        return _Container(
            keys=tuple((str(index), ("item", index)) for index in range(len(node))),
            children=tuple(node),
            rebuild=lambda children: kind(children),
        )
    if hasattr(node, "to_tuple") and hasattr(node, "keys"):
        return _open_mapping(node, tuple(node.keys()))
    if dataclasses.is_dataclass(node):
        return _open_dataclass(node)
    return None


def _open_mapping(node: Any, keys: tuple[Any, ...]) -> _Container:
    def rebuild(children: Sequence[Any]) -> Any:
        items = dict(zip(keys, children, strict=True))
        if type(node) in (dict, OrderedDict):
            return type(node)(items)
        try:
            # A library's own output class keeps its type; what else it knows stays.
            other = copy.copy(node)
            for key, child in items.items():
                other[key] = child
        except (TypeError, NotImplementedError, ValueError):  # a mapping that cannot be written
            return items
        return other

    return _Container(
        keys=tuple((str(key), ("item", key)) for key in keys),
        children=tuple(node[key] for key in keys),
        rebuild=rebuild,
    )


def _open_dataclass(node: Any) -> _Container:
    names = tuple(field.name for field in dataclasses.fields(node))

    def rebuild(children: Sequence[Any]) -> Any:
        other = copy.copy(node)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(other, name, child)  # also where it is frozen
        return other

    return _Container(
        keys=tuple((name, ("attribute", name)) for name in names),
        children=tuple(getattr(node, name) for name in names),
        rebuild=rebuild,
    )
