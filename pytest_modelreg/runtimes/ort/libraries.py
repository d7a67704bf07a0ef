"""Shared libraries with custom operators, found by path or asked of a function.

What belongs here: the option ``custom_ops``, and what to do where one is missing. Loading
them is ONNX Runtime's. A package that is known to have the operators of a domain is named in
:data:`_KNOWN`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import CaseError, RuntimeUnavailable
from pytest_modelreg.runtimes.option import is_reference
from pytest_modelreg.runtimes.port import RunRequest

_EXTENSIONS = "onnxruntime_extensions:get_library_path"
_KNOWN = {"ai.onnx.contrib": _EXTENSIONS, "com.microsoft.extensions": _EXTENSIONS}
"""From an operator's domain to what returns the library of it."""


def find_libraries(request: RunRequest, where: str) -> tuple[Path, ...]:
    """Return the files of the option ``custom_ops``, in order.

    Raises
    ------
    RuntimeUnavailable
        A reference cannot be resolved or returns no paths, or a file does not exist.
    """
    libraries: list[Path] = []
    for entry in request.options.get("custom_ops") or ():
        paths = _ask(entry, request, where) if is_reference(entry) else [entry]
        libraries += [(request.root / path).resolve() for path in paths]
    absent = [str(library) for library in libraries if not library.is_file()]
    if absent:
        raise RuntimeUnavailable(f"{where}: custom_ops: expected files, got none at {', '.join(absent)}")
    return tuple(libraries)


def advise_library(domain: str, libraries: Sequence[Path]) -> str:
    """Return what to do when no operator of this name is registered in a domain.

    Parameters
    ----------
    domain : str
        Of the operator.
    libraries : sequence of pathlib.Path
        Those that were loaded.
    """
    if libraries:
        names = ", ".join(library.name for library in libraries)
        return f"custom_ops ({names}) has no such operator; name the library, or the version of it, that has"
    example = f", such as {_KNOWN[domain]}" if domain in _KNOWN else ""
    return f"name the library that has it in custom_ops, by path or as module:fn that returns it{example}"


def _ask(reference: str, request: RunRequest, where: str) -> list[Any]:
    if request.resolve is None:
        raise RuntimeUnavailable(f"{where}: custom_ops: {reference} cannot be imported here; give paths")
    function = request.resolve(reference)
    try:
        answer = function()
    except CaseError:
        raise
    except Exception as error:  # user code
        raise RuntimeUnavailable(
            f"{where}: custom_ops: {reference} raised {type(error).__name__}: {error}"
        ) from error
    paths = [answer] if isinstance(answer, (str, Path)) else answer
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, (str, Path)) for path in paths):
        raise RuntimeUnavailable(
            f"{where}: custom_ops: expected {reference} to return paths, got {type(answer).__name__}"
        )
    return list(paths)
