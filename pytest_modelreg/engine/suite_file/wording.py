"""A suite file against the model of its keys, every misfit in our own words.

What belongs here: pydantic's error types as ``expected X, got Y``. pydantic's own text
never leaves this module: it names types of Python, not things of a suite file. Rules that
hold for the tree as a whole are in ``tree``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_modelreg.domain.nearest import find_nearest, phrase_suggestion
from pytest_modelreg.engine.suite_file.axes import ReferenceBlock
from pytest_modelreg.engine.suite_file.axis_value import runs_a_model
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import (
    FaultLog,
    KeyPath,
    describe_value,
    list_names,
    shorten,
)
from pytest_modelreg.engine.suite_file.model import SuiteBlock, find_block
from pytest_modelreg.engine.suite_file.samples import SamplesBlock, check_samples, list_missing
from pytest_modelreg.engine.suite_file.scalar import Scalar, resolve_scalar
from pytest_modelreg.engine.suite_file.support import SUITE_FORMAT
from pytest_modelreg.engine.suite_file.tree import check_tree

_EXPECTED: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {
    "string_type": "text",
    "string_too_short": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "greater_than": lambda context: f"more than {context['gt']:g}",
    "greater_than_equal": lambda context: f"at least {context['ge']:g}",
    "less_than_equal": lambda context: f"at most {context['le']:g}",
}
"""What each pydantic error type means for somebody who edits the file."""

_ELSEWHERE: Mapping[str, str] = {
    **{key: f"samples.{key}" for key in SamplesBlock.model_fields},
    **{key: f"reference.{key}" for key in ReferenceBlock.model_fields},
    **{key: f"{key} at the top of the file" for key in SuiteBlock.model_fields},
}
"""Where a key belongs that was written in another mapping."""

_OPPOSITE: Mapping[str, str] = {"min": "max", "max": "min"}
"""The end of a limit that was meant when a check has only the other one."""


def check_version(document: Document, log: FaultLog) -> None:
    """Stop at a file that is no suite of this format: nothing else said of it would be true.

    Raises
    ------
    SuiteFileError
        For a file that is no mapping, or of a newer format.
    """
    if not isinstance(document.data, dict):
        got = describe_value(document.data)
        raise log.stop(document.line(()), f"expected a mapping with the keys of a suite, got {got}")
    version = document.data.get("modelreg")
    if type(version) is int and version > SUITE_FORMAT:
        got = f"got {describe_value(version)}: the file is for a newer release; upgrade pytest-modelreg"
        raise log.stop(document.line(("modelreg",)), f"expected {SUITE_FORMAT}, {got}", ("modelreg",))


def validate(document: Document, root: Path, log: FaultLog) -> SuiteBlock | None:
    """Return the suite's keys as values, or None after noting everything that does not fit."""
    try:
        block = SuiteBlock.model_validate(document.data, context={"root": root})
    except ValidationError as error:
        block = None
        log_errors(error, document, log)
    _require_model(document, log)
    _require_samples(document, log)
    check_samples(document, log)
    check_tree(document, root, log)
    return block


def _require_model(document: Document, log: FaultLog) -> None:
    """Note a reference without a model, unless its runtime brings one or a misspelt key was meant."""
    reference = document.data.get("reference")
    if not isinstance(reference, dict) or "model" in reference:
        return
    misspelt = any(find_nearest(key, ["model"]) for key in reference if log.has(("reference", key)))
    if not misspelt and runs_a_model(reference.get("runtime", "eager")):
        _log_missing(("reference", "model"), document, log)


def _require_samples(document: Document, log: FaultLog) -> None:
    """Note what says where the samples are, and how they are read, unless a misspelt key was meant."""
    for key in list_missing(document):
        if not any(
            find_nearest(name, [key]) for name in document.data["samples"] if log.has(("samples", name))
        ):
            _log_missing(("samples", key), document, log)


def log_errors(error: ValidationError, document: Document, log: FaultLog) -> None:
    """Note everything that pydantic found, in our own words."""
    suggested: set[KeyPath] = set()
    missing: list[KeyPath] = []
    for details in error.errors(include_url=False):
        path = tuple(part for part in details["loc"] if part != "[key]")
        context: dict[str, Any] = dict(details.get("ctx") or {})
        if details["type"] == "extra_forbidden":
            suggestion = _log_unknown_key(path, document, log)
            if suggestion is not None:
                suggested.add((*path[:-1], suggestion))
        elif details["type"] == "missing":
            missing.append(path)
        else:
            _log_value(path, details["type"], context, document, log, of_key="[key]" in details["loc"])
    for path in missing:
        if path not in suggested:
            _log_missing(path, document, log)


def _log_unknown_key(path: KeyPath, document: Document, log: FaultLog) -> str | None:
    """Note a key that is not known; return the key beside it that was probably meant."""
    key, block = str(path[-1]), find_block(path[:-1])
    known = list(block.model_fields) if block is not None else []
    opposite = _OPPOSITE.get(key)
    near = opposite if opposite in known else find_nearest(key, known)
    message = f"expected {list_names(known)}, got {describe_value(key)}"
    message += phrase_suggestion(near or _ELSEWHERE.get(key))
    log.add(document.line(path, of_key=True), path, message)
    return near


def _log_missing(path: KeyPath, document: Document, log: FaultLog) -> None:
    block = find_block(path[:-1])
    field = block.model_fields.get(str(path[-1])) if block is not None else None
    examples = field.examples if field is not None and field.examples else []
    hint = f", for example {path[-1]}: {_show_example(examples[0])}" if examples else ""
    log.add(document.line(path[:-1], of_key=True), path, f"expected this key{hint}, got none")


def _show_example(example: Any) -> str:
    if isinstance(example, dict):
        return "{" + ", ".join(f"{key}: {value}" for key, value in example.items()) + "}"
    return str(example)


def _log_value(
    path: KeyPath, kind: str, context: Mapping[str, Any], document: Document, log: FaultLog, *, of_key: bool
) -> None:
    below = context.get("below")
    place = document.nearest((*path, below) if below else path)
    line = document.line(place, of_key=of_key)
    if log.has(place, line=line):
        return  # its syntax is at fault, or it was said in another way
    value = path[-1] if of_key else document.value(place)
    if kind == "expected":
        expected = context["expected"]
    else:
        known = _EXPECTED.get(kind, "another value")
        expected = known if isinstance(known, str) else known(context)
    got = context.get("got") or describe_value(value)
    hint = context.get("hint") or _guess_value(kind, context, place, value)
    message = f"expected {expected}, got {got}{phrase_suggestion(hint)}"
    if context.get("remark"):
        message += f": {context['remark']}"
    log.add(line, place, message)


def _guess_value(kind: str, context: Mapping[str, Any], place: KeyPath, value: Any) -> str | None:
    """Return what was probably meant by a value of another type, or out of range."""
    if kind == "string_type" and isinstance(value, int | float):
        return f'"{describe_value(value)}"'
    if kind == "bool_type" and isinstance(value, str):
        return {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(value.lower())
    if kind in ("int_type", "float_type") and isinstance(value, str):
        meant = _resolve_quietly(value)
        return f"{value} without quotes" if type(meant) in (int, float) else None
    if kind == "less_than_equal" and context.get("le") == 1 and "cosine" not in place and 1 < value <= 100:
        return f"{value / 100:g}"  # a percentage
    if kind == "int_type" and isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    if kind in ("list_type", "tuple_type") and isinstance(value, str):
        return f"[{shorten(value)}]"
    return None


def _resolve_quietly(text: str) -> Scalar:
    try:
        return resolve_scalar(text)
    except ValueError:
        return None
