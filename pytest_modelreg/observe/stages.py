"""Pipelines: how a preprocess falls into stages that can be applied one by one.

What belongs here: deciding that applying an object's parts in turn is the very same as
calling it. Whatever is not known to be so is one opaque callable: a Compose that skips
stages, or treats a sample in its own way, must not be taken apart. To know one more
library's Compose, add it to :func:`_is_known_chain`; one that is written as the plain loop
over ``self.transforms`` is recognised from its source.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.stage_description import describe_stage, name_stage


@dataclass(frozen=True, kw_only=True)
class PipelineStage:
    """One stage of a pipeline.

    Parameters
    ----------
    call : callable
        Takes what the stage before returned.
    name, description : str
        What it is called, and its settings in one line.
    """

    call: Callable[[Any], Any]
    name: str
    description: str


def number_stage(index: int, name: str) -> str:
    """Return what messages call a stage, counted from 1 as in every note and report: ``stage 2 (Resize)``."""
    return f"stage {index + 1} ({name})"


def split_pipeline(found: Any) -> tuple[PipelineStage, ...]:
    """Return the stages of a list, a Compose or a Sequential, nested ones flattened.

    Empty for a single callable, and for a Compose whose own way of calling is not known.
    """
    if _list_parts(found) is None:
        return ()
    return tuple(
        PipelineStage(call=stage, name=name_stage(stage), description=describe_stage(stage))
        for stage in _flatten(found)
    )


def _flatten(found: Any) -> Iterator[Any]:
    parts = _list_parts(found)
    if parts is None:
        yield found
    else:
        for part in parts:
            yield from _flatten(part)


def _list_parts(found: Any) -> Sequence[Any] | None:
    """Return what an object calls one after the other, None when that is not all it does."""
    if isinstance(found, (list, tuple)):
        return found
    if isinstance(found, type):
        return None
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(found, torch.nn.Sequential):
        parts: Any = list(found)
        is_chain = type(found).forward is torch.nn.Sequential.forward and _is_called_plainly(found)
    else:
        parts = getattr(found, "__dict__", {}).get("transforms")
        is_chain = isinstance(parts, (list, tuple)) and all(map(callable, parts)) and _is_chain(found)
    return parts if parts and is_chain else None


def _is_chain(found: Any) -> bool:
    if is_module(found):
        torch = sys.modules["torch"]
        if type(found).__call__ is not torch.nn.Module.__call__ or not _is_called_plainly(found):
            return False
        entry = type(found).forward
    else:
        entry = type(found).__call__
    return _is_known_chain(entry) or _is_plain_loop(entry)


def _is_called_plainly(module: Any) -> bool:
    """Whether calling a module is calling the ``forward`` of its class: no hook, nothing compiled."""
    own = vars(module)
    hooks = own.get("_forward_hooks") or own.get("_forward_pre_hooks")
    return not hooks and "forward" not in own and own.get("_compiled_call_impl") is None


def _is_known_chain(entry: Any) -> bool:
    """Whether a method is that of torchvision's Compose, of either generation."""
    known = (("torchvision.transforms", "__call__"), ("torchvision.transforms.v2", "forward"))
    return any(
        entry is getattr(getattr(sys.modules.get(module), "Compose", None), method, None)
        for module, method in known
    )


def _is_plain_loop(method: Any) -> bool:
    """Whether a method's source is ``for t in self.transforms: x = t(x)`` and ``return x``."""
    if not inspect.isfunction(method) or hasattr(method, "__wrapped__"):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
    except (OSError, TypeError, SyntaxError):  # no source, or only a piece of it
        return False
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    body = [part for part in function.body if not _is_docstring(part)]
    arguments = function.args
    if len(arguments.args) != 2 or arguments.vararg or arguments.kwonlyargs or len(body) != 2:
        return False
    owner, sample = (argument.arg for argument in arguments.args)
    loop, end = body
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return False
    expected = f"for {loop.target.id} in {owner}.transforms:\n {sample} = {loop.target.id}({sample})"
    return _is_same(loop, expected) and _is_same(end, f"return {sample}")


def _is_docstring(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _is_same(part: ast.stmt, source: str) -> bool:
    return ast.dump(part) == ast.dump(ast.parse(source).body[0])
