"""Changing one value in a suite file's text, everything else left as it is written.

What belongs here: where in the text a key is, and how an entry is put beside others: in braces or on a line
of its own. Whether the result says what was meant, ``suite_patch`` asks the suite loader. A text that this
cannot change (another place is meant through an alias, a value stands where a mapping is needed) is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import yaml

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def has_key(text: str, path: Sequence[str]) -> bool:
    """Whether the text has a value at a key path."""
    _, n_found = _descend(yaml.compose(text, Loader=yaml.SafeLoader), path)
    return n_found == len(path)


def list_keys(text: str, path: Sequence[str]) -> list[str]:
    """Return the keys of the mapping at a path; none where there is no mapping."""
    node, n_found = _descend(yaml.compose(text, Loader=yaml.SafeLoader), path)
    if n_found < len(path) or not isinstance(node, yaml.MappingNode):
        return []
    return [str(key.value) for key, _ in node.value]


def set_value(text: str, path: Sequence[str], value: str, comment: str) -> str | None:
    """Return the text with a value at a key path, and a comment on a line above it.

    None where the text has something else than a mapping in the way, or is YAML no more: an earlier change
    broke what it could not see.

    Parameters
    ----------
    path : sequence of str
        Keys from the top; those that are not there are added. A mapping at the end gets the value under
        ``max``: the long form of a limit.
    value : str
        As it is to be written.
    """
    try:
        node, n_found = _descend(yaml.compose(text, Loader=yaml.SafeLoader), path)
    except yaml.YAMLError:
        return None
    if n_found == len(path):
        if isinstance(node, yaml.MappingNode):
            return set_value(text, [*path, "max"], value, comment)
        if not isinstance(node, yaml.ScalarNode):
            return None
        start, stop = node.start_mark.index, node.end_mark.index
        return _with_comment(text[:start] + value + text[stop:], start, comment)
    if not isinstance(node, yaml.MappingNode):
        return None
    entry = render_entry(path[n_found:], value)
    if node.flow_style:
        return _insert_in_braces(text, node, entry, comment)
    return _insert_line(text, node, entry, comment)


def render_entry(path: Sequence[str], value: str) -> str:
    """Return ``a: {b: 1e-5}`` for a key path and a value."""
    key = render_key(path[0])
    return f"{key}: {value}" if len(path) == 1 else f"{key}: {{{render_entry(path[1:], value)}}}"


def render_key(key: str) -> str:
    """Return a key as YAML reads it back as the same text."""
    return key if _PLAIN.fullmatch(key) and key.lower() not in _RESERVED else json.dumps(key)


def _descend(node: yaml.Node | None, path: Sequence[str]) -> tuple[yaml.Node | None, int]:
    """Return the deepest node along a path, and how many of its keys were found."""
    n_found = 0
    for part in path:
        entries = node.value if isinstance(node, yaml.MappingNode) else []
        below = next((entry for key, entry in entries if key.value == part), None)
        if below is None:
            break
        node, n_found = below, n_found + 1
    return node, n_found


def _insert_in_braces(text: str, node: yaml.MappingNode, entry: str, comment: str) -> str:
    if node.value:
        at = _end_of(node.value[-1][1])
        return _with_comment(f"{text[:at]}, {entry}{text[at:]}", at, comment)
    at = node.start_mark.index + 1
    return _with_comment(text[:at] + entry + text[at:], at, comment)


def _insert_line(text: str, node: yaml.MappingNode, entry: str, comment: str) -> str:
    end_of_line = _line_end(text)
    indent = " " * node.value[0][0].start_mark.column
    at = _end_of(node.value[-1][1])
    if text[at - 1 : at] != "\n":  # a comment behind the last value stays with it
        newline = text.find("\n", at)
        if newline < 0:
            text, newline = text + end_of_line, len(text) + len(end_of_line) - 1
        at = newline + 1
    lines = f"{indent}# {comment}{end_of_line}{indent}{entry}{end_of_line}"
    return text[:at] + lines + text[at:]


def _end_of(node: yaml.Node) -> int:
    """Return where a value ends; a block ends with its last value, not before the next key."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end


def _with_comment(text: str, at: int, comment: str) -> str:
    """Put a comment on a line of its own above the line of a position."""
    start = text.rfind("\n", 0, at) + 1
    indent = re.match(r"[ ]*", text[start:])
    spaces = indent[0] if indent else ""
    return f"{text[:start]}{spaces}# {comment}{_line_end(text)}{text[start:]}"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
