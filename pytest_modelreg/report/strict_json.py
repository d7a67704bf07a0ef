"""Strict JSON: what ``json`` would write as NaN becomes null with a reason beside it.

What belongs here: a document's way into a file, for strangers or for this package itself. What the
document says is ``document``'s.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.report.report_file import write_report
from pytest_modelreg.store.own_digest import BLANK, OWN_DIGEST_KEY, write_own_digest


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
    """Write a document as strict JSON, atomically.

    Raises
    ------
    UsageFault
        When the file cannot be written, naming it.
    """
    text = json.dumps(finite(document), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    write_report(text, path)


def seal_json(document: Mapping[str, Any], path: Path) -> None:
    """Write the same with a digest over its own bytes, for a reader that decides by it.

    Raises
    ------
    UsageFault
        When the file cannot be written, naming it.
    """
    sealed = {**finite(document), OWN_DIGEST_KEY: BLANK}
    text = json.dumps(sealed, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    # Of a lone surrogate the digest has to see the escape that is written for it.
    data = write_own_digest(text.encode("utf-8", errors="backslashreplace"))
    write_report(data.decode("utf-8"), path)


def read_number(record: Mapping[str, Any], key: str) -> float:
    """Return a number of a record that :func:`finite` made, what is not finite from the reason beside it.

    NaN where there is neither.
    """
    value = record.get(key)
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return float(record.get(f"{key}_reason", "nan"))
    except ValueError:  # a reason in words: not defined
        return math.nan


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
