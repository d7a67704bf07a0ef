"""The JSON Schema of a suite file, for editors that complete and check it.

What belongs here: the schema as editors want it. Its content comes from the models and
their descriptions; what a schema cannot say (files that exist, checks that fit an
output's kind) is checked when a suite is loaded.
"""

from __future__ import annotations

from typing import Any

from pytest_modelreg.engine.suite_file.model import SuiteBlock

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL = {"type": "null"}


def json_schema() -> dict[str, Any]:
    """Return the schema of ``modelreg.yaml``, JSON Schema draft 2020-12, as builtin values."""
    schema: dict[str, Any] = _without_noise(SuiteBlock.model_json_schema(mode="validation"))
    return {"$schema": _DIALECT, **schema, "title": "pytest-modelreg suite file"}


def _without_noise(node: Any) -> Any:
    """Leave out null, which cannot be written, and titles made from names."""
    if isinstance(node, list):
        return [_without_noise(item) for item in node if item != _NULL]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _without_noise(item) for name, item in value.items()}
        elif key != "title" and not (key == "default" and value is None):
            kept[key] = _without_noise(value)
    if len(kept.get("anyOf", ())) == 1:
        kept = {**kept.pop("anyOf")[0], **kept}
    return kept
