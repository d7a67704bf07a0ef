"""Structures that models return: what is a leaf, what are a structure's children.

What belongs here: the types that are walked. To accept one more structure, add it to
:func:`children_of`; to accept one more kind of leaf, to :func:`is_leaf`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pytest_modelreg.observe.arrays import is_tensor


def is_leaf(node: Any) -> bool:
    """Whether a value is a tensor, an array, a number or another framework's array."""
    if is_tensor(node) or isinstance(node, (np.ndarray, np.generic, bool, int, float, complex)):
        return True
    return hasattr(node, "__array__") and hasattr(node, "dtype")  # other frameworks' arrays


def children_of(node: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return keys and values of a structure; None for what is none."""
    if isinstance(node, Mapping):
        return iter(node.items())
    fields = getattr(node, "_fields", None)
    if isinstance(node, tuple) and fields is not None:
        return zip(fields, node, strict=True)
    if isinstance(node, (tuple, list)):
        return iter(enumerate(node))
    if isinstance(node, type):
        return None
    if hasattr(node, "to_tuple") and hasattr(node, "keys"):
        return ((key, node[key]) for key in node.keys())  # noqa: SIM118 - it need not be iterable
    if dataclasses.is_dataclass(node):
        return ((field.name, getattr(node, field.name)) for field in dataclasses.fields(node))
    return None


def join_path(path: str, key: Any) -> str:
    """Return the output path of a child, keys joined by ``.``."""
    return f"{path}.{key}" if path else str(key)


def describe_value(node: Any) -> str:
    """Return a value's type for a message; text and None with their value."""
    kind = type(node)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{name} {node!r:.60}" if isinstance(node, (str, bytes)) or node is None else name
