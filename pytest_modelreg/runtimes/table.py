"""Which runtimes there are: the built-in table and installed entry points.

To add a built-in runtime, add a line to :data:`BUILTIN`; it is imported only when a
case asks for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, cast

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.runtimes.port import Runtime
from pytest_modelreg.runtimes.published import PublishedRuntime

ENTRY_POINT_GROUP = "pytest_modelreg.runtimes"
BUILTIN = {
    "eager": "pytest_modelreg.runtimes.eager:EagerRuntime",
    "compile": "pytest_modelreg.runtimes.compile:CompileRuntime",
    "export": "pytest_modelreg.runtimes.export:ExportRuntime",
    "torchscript": "pytest_modelreg.runtimes.torchscript:TorchScriptRuntime",
    "onnx": "pytest_modelreg.runtimes.onnx:OnnxRuntime",
    "onnx-file": "pytest_modelreg.runtimes.onnx_file:OnnxFileRuntime",
    "callable": "pytest_modelreg.runtimes.callable:CallableRuntime",
}


class BuiltInRuntime(Runtime, Protocol):
    """A runtime of our own: it says which options it takes, so that a suite file can be checked.

    Those of other distributions check theirs when they open a model: reading a suite
    file must not import a framework.
    """

    options: frozenset[str]

    def find_faults(self, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
        """List options whose value is wrong, or that are missing, each with what is wrong."""


def find_runtime(name: str, options: Mapping[str, Any] | None = None) -> Runtime:
    """Return the runtime of this name.

    Built-in names win over entry points, so that installing a package cannot change
    what a suite's ``eager`` means.

    Parameters
    ----------
    options : mapping or None
        As written in the suite file: one name may stand for a runtime that runs the suite's model and for
        one that brings its own.

    Raises
    ------
    RuntimeUnavailable
        No runtime has this name (the nearest one is named), two installed packages
        offer it, or its module cannot be imported.
    """
    if name in BUILTIN:
        runtime = _load_builtin(name)
        select: Callable[[Mapping[str, Any]], Runtime] | None = getattr(runtime, "select", None)
        return runtime if select is None else select(options or {})
    offered = _find_entry_points()
    found = [point for point in offered if point.name == name]
    if not found:
        known = _join_names(offered)
        raise RuntimeUnavailable(
            f"runtime: expected one of {', '.join(known)}, got {name!r}{suggest(name, known)}"
        )
    if len({point.value for point in found}) > 1:
        values = ", ".join(sorted(point.value for point in found))
        raise RuntimeUnavailable(
            f"runtime {name!r}: expected one package to offer it, got {values}; uninstall all but one"
        )
    return _load(found[0])


def list_runtime_names() -> tuple[str, ...]:
    """List the runtimes of this installation: built in, then those of entry points."""
    return _join_names(_find_entry_points())


def list_builtin_options(name: str) -> frozenset[str]:
    """Return the options that a built-in runtime takes."""
    return _load_builtin(name).options


def list_builtin_faults(name: str, options: Mapping[str, Any], root: Path) -> list[tuple[str, str]]:
    """List what is wrong with the options of a built-in runtime; imports no framework.

    Parameters
    ----------
    options : mapping
        As written in the suite file, ``kind`` and ``transform`` left out. Keys that the runtime does
        not take are passed over: :func:`list_builtin_options` names those that it does.
    root : pathlib.Path
        The suite's folder: paths are relative to it.

    Returns
    -------
    list of (str, str)
        The option's key, and ``expected X, got Y``; a missing option is named by its key.
    """
    return _load_builtin(name).find_faults(options, root)


def _load_builtin(name: str) -> BuiltInRuntime:
    module, _, attribute = BUILTIN[name].partition(":")
    return cast(BuiltInRuntime, getattr(importlib.import_module(module), attribute)())


def _find_entry_points() -> list[EntryPoint]:
    # Scanning the metadata of every installed package takes tens of milliseconds, so
    # that it is only done for names that are not our own.
    return list(entry_points(group=ENTRY_POINT_GROUP))


def _join_names(offered: Sequence[EntryPoint]) -> tuple[str, ...]:
    return (*BUILTIN, *sorted({point.name for point in offered} - BUILTIN.keys()))


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
    return PublishedRuntime(runtime, point.name)
