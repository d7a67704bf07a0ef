"""A suite file as text to plain values, every key and value with its line.

What belongs here: reading within bounds, and where in the file a key path is. What the
keys mean does not, nor does YAML's syntax (``suite_file.composer``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.engine.suite_file.composer import Node, compose
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath
from pytest_modelreg.engine.suite_file.naming import name_value
from pytest_modelreg.engine.suite_file.scalar import Scalar

MAX_BYTES = 256 * 1024
"""Largest suite file, in bytes."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Lines (from 1) of a value and of the key or dash in front of it."""

    key_line: int
    value_line: int


@dataclass(frozen=True, kw_only=True)
class Document:
    """A suite file's content.

    Parameters
    ----------
    data : dict, list or scalar
        Plain values; keys of mappings are text as written.
    marks : mapping of key path to Mark
        For everything in ``data``, the empty path included.
    unquoted : mapping of key path to scalar
        Keys that would be a number, a truth value or null if they were values, with
        what they would be: as an output path ``0`` is fine, elsewhere it may not be.
    """

    data: Any
    marks: Mapping[KeyPath, Mark]
    unquoted: Mapping[KeyPath, Scalar]

    def nearest(self, path: KeyPath) -> KeyPath:
        """Return the path, cut to what the file has.

        An entry of a list is also found by the name that it was given when it was read.
        """
        for part in range(len(path)):
            head, name = path[:part], path[part]
            found = self.value(head) if head in self.marks else None
            if isinstance(found, list) and isinstance(name, str):
                named = [index for index, entry in enumerate(found) if name_value(entry) == name]
                path = (*head, *named[:1], *path[part + 1 :])
        while path not in self.marks:
            path = path[:-1]
        return path

    def value(self, path: KeyPath) -> Any:
        """Return what the file has at a path that exists."""
        found = self.data
        for part in path:
            found = found[part]
        return found

    def line(self, path: KeyPath, *, of_key: bool = False) -> int:
        """Return the line of a value; of its key for mappings and lists, or if asked to."""
        path = self.nearest(path)
        mark = self.marks[path]
        return mark.key_line if of_key or isinstance(self.value(path), dict | list) else mark.value_line


def read_document(path: Path, log: FaultLog) -> Document:
    """Read and parse a suite file.

    Duplicate keys, tags and the like go to ``log``, and reading goes on.

    Raises
    ------
    SuiteFileError
        With what is in ``log``, when the file cannot be read as YAML at all.
    """
    try:
        if not path.is_file():
            raise log.stop(0, "expected a file, found none")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise log.stop(
            0, f"expected a readable file, got: {error.strerror or type(error).__name__}"
        ) from error
    if len(content) > MAX_BYTES:
        raise log.stop(0, f"expected at most {MAX_BYTES} bytes, got more")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise log.stop(line, f"expected UTF-8 text, got the byte 0x{content[error.start]:02x}") from error
    return parse_document(text, log)


def parse_document(text: str, log: FaultLog) -> Document:
    """Parse a suite file's text; see :func:`read_document`."""
    tree = compose(text, log)
    marks: dict[KeyPath, Mark] = {}
    unquoted: dict[KeyPath, Scalar] = {}

    def lay_out(node: Node, path: KeyPath, key_line: int) -> Any:
        marks[path] = Mark(key_line=key_line, value_line=node.line)
        if isinstance(node.value, list):
            return [lay_out(item, (*path, index), item.line) for index, item in enumerate(node.value)]
        if not isinstance(node.value, dict):
            return node.value
        values: dict[str, Any] = {}
        for name, entry in node.value.items():
            place = (*path, name)
            if not isinstance(entry.key, str):
                unquoted[place] = entry.key
            values[name] = lay_out(entry.node, place, entry.key_line)
        return values

    data = lay_out(tree, (), tree.line)
    return Document(data=data, marks=marks, unquoted=unquoted)
