"""What a stage of preprocessing is called, and its settings in one line.

What belongs here: text that is the same in every run, so that two goldens can be compared
by eye and a diagnosis can say what changed. How a pipeline falls into stages is ``stages``'.
"""

from __future__ import annotations

import functools
import re
from typing import Any

MAX_LENGTH = 300
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def name_stage(stage: Any) -> str:
    """Return ``Resize`` for an object, ``to_tensor`` for a function, whatever partial is around it."""
    while isinstance(stage, functools.partial):
        stage = stage.func
    name = getattr(stage, "__qualname__", None) or type(stage).__name__
    return str(name).rpartition(".")[2]


def describe_stage(stage: Any) -> str:
    """Return a stage's settings in one line, at most 300 characters.

    Functions by ``module:qualname``, a partial with its arguments, other objects by their repr
    without addresses; an object without a repr of its own by its public attributes.
    """
    line = " ".join(_describe(stage).split())
    return line if len(line) <= MAX_LENGTH else line[: MAX_LENGTH - 3] + "..."


def _describe(value: Any) -> str:
    if isinstance(value, functools.partial):
        arguments = [_describe(value.func), *map(_describe, value.args)]
        arguments += [f"{name}={_describe(argument)}" for name, argument in value.keywords.items()]
        return f"functools.partial({', '.join(arguments)})"
    if callable(value) and hasattr(value, "__qualname__"):
        module = getattr(value, "__module__", None) or type(getattr(value, "__self__", None)).__module__
        return f"{module}:{value.__qualname__}"
    if getattr(type(value), "__repr__", None) is object.__repr__:
        settings = ", ".join(f"{name}={text}" for name, text in _list_settings(value))
        return f"{type(value).__module__}:{type(value).__qualname__}({settings})"
    return _ADDRESS.sub("", repr(value))


def _list_settings(value: Any) -> list[tuple[str, str]]:
    # Private attributes are left out: counters and caches live there.
    return [
        (name, _ADDRESS.sub("", repr(setting)))
        for name, setting in sorted(getattr(value, "__dict__", {}).items())
        if not name.startswith("_") and isinstance(setting, (bool, int, float, str, tuple, list, dict))
    ]
