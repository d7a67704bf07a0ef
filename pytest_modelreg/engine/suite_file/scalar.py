"""Plain scalars of a suite file by the YAML 1.2 core schema.

What belongs here: which unquoted text is null, a truth value or a number. PyYAML follows
YAML 1.1, where ``1e-5`` is text, ``off`` is false, ``012`` is ten and ``1:30`` is ninety;
a limit read as text or a switch read as a value would change what is compared.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

MAX_NUMBER_CHARS = 100
"""Longest number, in characters; longer ones cost quadratic time to convert."""

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?(\.inf|\.Inf|\.INF)")
_NAN = frozenset({".nan", ".NaN", ".NAN"})


def resolve_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar.

    Raises
    ------
    ValueError
        When it is a number of more than :data:`MAX_NUMBER_CHARS` characters.

    Notes
    -----
    YAML 1.2.2, section 10.3.2, "Tag Resolution" of the core schema.
    """
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if text in _NAN:
        return float("nan")
    if _INFINITY.fullmatch(text):
        return float(text.replace(".", ""))
    for pattern, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            return int(_bounded(text), base)
    if _FLOAT.fullmatch(text):
        return float(_bounded(text))
    return text


def _bounded(text: str) -> str:
    if len(text) > MAX_NUMBER_CHARS:
        raise ValueError(f"a number of {len(text)} characters")
    return text
