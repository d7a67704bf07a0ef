"""Rules that hold for a suite file as a tree, whatever its keys: nothing empty, plain arguments.

What belongs here: what no single key's type can say, options of runtimes included: the
runtimes themselves know those.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.nearest import phrase_suggestion, suggest
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath, describe_value, list_names
from pytest_modelreg.runtimes import BUILTIN, list_builtin_faults, list_builtin_options

_FREE_FORM = ("model_args", "runtime")
"""Keys of a case whose values are handed on as they are."""

_OWN_RUNTIME_KEYS = frozenset({"kind", "transform"})
"""Keys of a runtime that are no options of it."""


def check_tree(document: Document, root: Path, log: FaultLog) -> None:
    """Note keys left empty, arguments that are not plain, and options that a runtime refuses."""
    for path in document.marks:
        value = document.value(path)
        is_free = _is_free(path)
        may_be_empty = is_free or _unsets_variable(path)
        if value is None and not may_be_empty and not any(log.has(path[:n]) for n in range(len(path) + 1)):
            log.add(document.line(path), path, "expected a value, got nothing (leave the key out instead)")
        if is_free and isinstance(value, float) and not math.isfinite(value):
            log.add(document.line(path), path, f"expected a finite number, got {describe_value(value)}")
        if is_free and path in document.unquoted and not _may_be_number(path):
            got = describe_value(document.unquoted[path])
            log.add(
                document.line(path, of_key=True),
                path,
                f"expected text as a key, got {got}{phrase_suggestion(json.dumps(path[-1]))}",
            )
    for path, runtime in _find_runtimes(document.data):
        _check_options(path, runtime, document, root, log)


def _is_free(path: KeyPath) -> bool:
    """Whether a key path is inside a mapping that is handed on as it is."""
    below: KeyPath = ()
    if path[:1] == ("reference",):
        below = path[1:]
    elif path[:1] == ("variants",):
        below = path[2:]
    elif path[:1] == ("matrix",):
        below = (*path[1:2], *path[3:])
    return len(below) > 1 and below[0] in _FREE_FORM


def _unsets_variable(path: KeyPath) -> bool:
    """Whether a key path is an environment variable of an environment, which nothing unsets."""
    return len(path) > 3 and path[-2] == "variables" and "environment" in path[1:-2]


def _may_be_number(path: KeyPath) -> bool:
    """Whether a key is the number of an axis, as in ``dynamic: {image: {0: batch}}``."""
    return "dynamic" in path[:-1]


def _find_runtimes(data: Any) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield every runtime that is written as a mapping, wherever a case has one."""
    places: list[tuple[KeyPath, Any]] = [(("reference", "runtime"), _get(_get(data, "reference"), "runtime"))]
    variants = _get(data, "variants")
    if isinstance(variants, dict):
        places += [
            (("variants", name, "runtime"), _get(value, "runtime")) for name, value in variants.items()
        ]
    listed = _get(_get(data, "matrix"), "runtime")
    if isinstance(listed, dict):
        places += [(("matrix", "runtime", name), value) for name, value in listed.items()]
    elif isinstance(listed, list):
        places += [(("matrix", "runtime", index), value) for index, value in enumerate(listed)]
    for path, value in places:
        if isinstance(value, dict | str):
            yield path, {"kind": value} if isinstance(value, str) else value


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _check_options(
    place: KeyPath, runtime: Mapping[str, Any], document: Document, root: Path, log: FaultLog
) -> None:
    kind = runtime.get("kind")
    if not isinstance(kind, str) or kind not in BUILTIN:
        return
    options = sorted(list_builtin_options(kind))
    expected = list_names(options) if options else "no options"
    known: dict[str, Any] = {}
    for key, value in runtime.items():
        if key in options:
            known[key] = value
        elif key not in _OWN_RUNTIME_KEYS:
            path = (*place, key)
            got = f"{describe_value(key)}{suggest(key, options)}"
            message = f"expected {expected} for the runtime {kind}, got {got}"
            log.add(document.line(path, of_key=True), path, message)
    for key, message in list_builtin_faults(kind, known, root):
        path = document.nearest((*place, *key.split(".")) if key else place)
        log.add(document.line(path), path, message)
