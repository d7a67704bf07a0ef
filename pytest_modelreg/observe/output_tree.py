"""Structures that models return: what is a leaf, what are a structure's children.

What belongs here: the types that are walked. To accept one more structure, add it to
:func:`children_of`; to accept one more kind of leaf, to :func:`is_leaf`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.arrays import is_tensor

MAX_DEPTH = 100
"""Most levels of structure: what is deeper contains itself in a way that cannot be seen."""


def is_leaf(node: Any) -> bool:
    """Whether a value is a tensor, an array, a number or another framework's array."""
    if is_tensor(node) or isinstance(node, (np.ndarray, np.generic, bool, int, float, complex)):
        return True
    return hasattr(node, "__array__") and hasattr(node, "dtype")  # other frameworks' arrays


def children_of(node: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return keys and values of a structure; None for what is none.

    Raises
    ------
    OutputError
        While iterating: a field of a dataclass was never set.
    """
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
        return ((field.name, _read_field(node, field.name)) for field in dataclasses.fields(node))
    return None


def walk_leaves(
    node: Any, path: str, *, is_whole: Callable[[Any, str], bool] = lambda node, path: False
) -> Iterator[tuple[str, Any]]:
    """Yield output path and value of everything that is no structure, depth first; None is skipped.

    Parameters
    ----------
    is_whole : callable
        Whether a structure is yielded as it is instead of entered.

    Raises
    ------
    OutputError
        Naming the path: a structure that contains itself, is nested too deeply or cannot
        be read.
    """
    yield from _walk(node, path, is_whole, {})


def join_path(path: str, key: Any) -> str:
    """Return the output path of a child, keys joined by ``.``."""
    return f"{path}.{key}" if path else str(key)


def describe_value(node: Any) -> str:
    """Return a value's type for a message; text and None with their value."""
    kind = type(node)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{name} {node!r:.60}" if isinstance(node, (str, bytes)) or node is None else name


def _read_field(node: Any, name: str) -> Any:
    try:
        return getattr(node, name)
    except AttributeError as error:
        raise OutputError(
            f"expected every field of {type(node).__qualname__} to be set, got none for {name}; "
            "set it, to None where there is nothing"
        ) from error


def _walk(
    node: Any, path: str, is_whole: Callable[[Any, str], bool], above: dict[int, str]
) -> Iterator[tuple[str, Any]]:
    """Walk; ``above`` holds the structures around the node, as long as they are walked, by identity."""
    if node is None:
        return
    if is_leaf(node) or is_whole(node, path):
        yield path, node
        return
    children = _read_children(node, path)
    if children is None:
        yield path, node
        return
    shown = path or "the values"
    if id(node) in above:
        raise OutputError(
            f"output {shown!r}: expected a structure that ends, got {describe_value(node)} that contains "
            f"itself (it is {above[id(node)]!r} too); hand over only what is to be recorded"
        )
    if len(above) >= MAX_DEPTH:
        raise OutputError(
            f"output {shown!r}: expected at most {MAX_DEPTH} levels of structure, got more; "
            "hand over only what is to be recorded"
        )
    above[id(node)] = shown
    for key, child in children:
        yield from _walk(child, join_path(path, key), is_whole, above)
    del above[id(node)]


def _read_children(node: Any, path: str) -> list[tuple[Any, Any]] | None:
    try:
        children = children_of(node)
        return None if children is None else list(children)
    except OutputError as error:
        raise OutputError(f"output {path or 'the values'!r}: {error}") from error
    except Exception as error:
        raise OutputError(
            f"output {path or 'the values'!r}: expected a structure that can be read, got "
            f"{describe_value(node)} that raised {type(error).__name__}: {error}"
        ) from error
