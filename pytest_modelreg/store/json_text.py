"""Strict JSON as text: deterministic, and laid out so that a diff shows what changed.

What belongs here: rendering and parsing, with no knowledge of what the JSON means.
Layout: one key a line; a list of scalars on one line when it fits; a record in a list
(a sample) always on one line. Keys are sorted. Non-finite numbers are no JSON: they
become null next to a ``<key>_reason`` that names them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.substitute import describe_pointer

_WIDTH = 100
_REASON = "_reason"
_NON_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def render_json(value: Mapping[str, Any]) -> bytes:
    """Return the bytes of a JSON file, newline at the end.

    Raises
    ------
    GoldenError
        When a value is no builtin scalar, list or mapping, or a list holds a
        non-finite number.
    """
    text = _render(_strict(value, ""), "") + "\n"
    # A lone surrogate (an undecodable file name) has no UTF-8, but it has a JSON escape.
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def parse_json(data: bytes, path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Parameters
    ----------
    path : pathlib.Path
        Where the bytes come from, for the message.

    Raises
    ------
    GoldenError
        When the bytes are no strict JSON object; one line with the path.
    """
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        if (pointer := describe_pointer(data)) is not None:
            raise GoldenError(f"{shown(path)}: expected JSON, got {pointer}") from error
        what = "a file with merge conflict markers" if b"<<<<<<< " in data else f"other bytes ({error})"
        raise GoldenError(f"{shown(path)}: expected JSON, got {what}; {RESTORE}") from error
    if not isinstance(value, dict):
        raise GoldenError(f"{shown(path)}: expected a JSON object, got {type(value).__name__}; {RESTORE}")
    return value


def restore_non_finite(value: Any) -> Any:
    """Undo what :func:`render_json` did to non-finite numbers, at any depth."""
    if isinstance(value, dict):
        marked = {
            key: reason
            for key in value
            if value[key] is None
            and isinstance(reason := value.get(key + _REASON), str)
            and reason in _NON_FINITE
        }
        return {
            key: _NON_FINITE[marked[key]] if key in marked else restore_non_finite(item)
            for key, item in value.items()
            if key.removesuffix(_REASON) not in marked or key in marked
        }
    if isinstance(value, list):
        return [restore_non_finite(item) for item in value]
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _strict(value: Any, where: str) -> Any:
    """Return the value in JSON types only, non-finite numbers replaced."""
    if isinstance(value, Mapping):
        strict: dict[str, Any] = {}
        for key, item in value.items():
            # YAML has integer keys ({0: batch}), JSON has not: they become text.
            if not isinstance(key, (str, int)):
                raise GoldenError(f"{where or 'value'}: expected text as key, got {key!r}")
            name = str(key)
            strict[name] = _strict(item, f"{where}.{name}".lstrip("."))
            if isinstance(item, float) and not math.isfinite(item):
                strict[name] = None
                strict[name + _REASON] = "nan" if math.isnan(item) else "inf" if item > 0 else "-inf"
        return strict
    if isinstance(value, (list, tuple)):
        items = [_strict(item, f"{where}[{index}]") for index, item in enumerate(value)]
        for index, item in enumerate(items):
            if isinstance(item, float) and not math.isfinite(item):
                raise GoldenError(
                    f"{where}[{index}]: expected a finite number, got {item}; strict JSON has no other"
                )
        return items
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise GoldenError(
        f"{where or 'value'}: expected text, a number, true, false, null, a list or a mapping,"
        f" got {type(value).__name__}"
    )


def _render(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{_line(key)}: {_render(value[key], inner)}" for key in sorted(value)]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        line = _line(value)
        if len(line) <= _WIDTH and not any(isinstance(item, (dict, list)) for item in value):
            return line
        return "[\n" + ",\n".join(inner + _line(item) for item in value) + f"\n{indent}]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
