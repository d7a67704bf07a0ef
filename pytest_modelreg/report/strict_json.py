"""Strict JSON: what ``json`` would write as NaN becomes null with a reason beside it."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import UsageFault


def finite(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy in which every non-finite float is None, with ``<key>_reason`` saying which.

    Inside lists, where there is no key to put a reason under, non-finite floats become
    the strings ``nan``, ``inf`` and ``-inf``.
    """
    result: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, float) and not math.isfinite(value):
            result[key] = None
            result[f"{key}_reason"] = _name(value)
        else:
            result[key] = _finite_value(value)
    return result


def dump_json(document: Mapping[str, Any], path: Path) -> None:
    """Write a document atomically, so that a reader never sees half of one.

    Raises
    ------
    UsageFault
        When the file cannot be written, naming it.
    """
    text = json.dumps(finite(document), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageFault(
            f"{path}: the report cannot be written here ({error.strerror}); name another file"
        ) from error


def _finite_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return finite(value)
    if isinstance(value, (list, tuple)):
        return [
            _name(item) if isinstance(item, float) and not math.isfinite(item) else _finite_value(item)
            for item in value
        ]
    return value


def _name(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def _umask() -> int:
    """Return the process's umask; ``mkstemp`` ignores it and would leave the file private."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
