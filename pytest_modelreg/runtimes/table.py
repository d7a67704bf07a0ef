"""Which runtimes there are: the built-in table and installed entry points.

To add a built-in runtime, add a line to :data:`BUILTIN`; it is imported only when a
case asks for it.
"""

from __future__ import annotations

import difflib
import importlib
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.runtimes.port import Runtime

ENTRY_POINT_GROUP = "pytest_modelreg.runtimes"
BUILTIN = {"eager": "pytest_modelreg.runtimes.eager:EagerRuntime"}


def find_runtime(name: str) -> Runtime:
    """Return the runtime of this name.

    Built-in names win over entry points, so that installing a package cannot change
    what a suite's ``eager`` means.

    Raises
    ------
    RuntimeUnavailable
        No runtime has this name (the nearest one is named), two installed packages
        offer it, or its module cannot be imported.
    """
    if name in BUILTIN:
        module, _, attribute = BUILTIN[name].partition(":")
        return cast(Runtime, getattr(importlib.import_module(module), attribute)())
    # Scanning the metadata of every installed package takes tens of milliseconds, so
    # that it is only done for names that are not our own.
    offered = list(entry_points(group=ENTRY_POINT_GROUP))
    found = [point for point in offered if point.name == name]
    if not found:
        raise RuntimeUnavailable(_describe_unknown(name, {*BUILTIN, *(point.name for point in offered)}))
    if len({point.value for point in found}) > 1:
        values = ", ".join(sorted(point.value for point in found))
        raise RuntimeUnavailable(
            f"runtime {name!r}: expected one package to offer it, got {values}; uninstall all but one"
        )
    return _load(found[0])


def _describe_unknown(name: str, known: set[str]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    return f"runtime: expected one of {', '.join(sorted(known))}, got {name!r}{hint}"


def _load(point: EntryPoint) -> Runtime:
    try:
        offered = point.load()
        runtime = offered() if isinstance(offered, type) else offered
    except Exception as error:  # a third party's package
        raise RuntimeUnavailable(
            f"runtime {point.name!r}: loading its entry point {point.value!r} raised "
            f"{type(error).__name__}: {error}"
        ) from error
    if not callable(getattr(runtime, "open", None)):
        raise RuntimeUnavailable(
            f"runtime {point.name!r}: expected entry point {point.value!r} to be a Runtime with "
            f"open(model, request), got {type(runtime).__name__}"
        )
    return cast(Runtime, runtime)
