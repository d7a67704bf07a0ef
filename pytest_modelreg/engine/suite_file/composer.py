"""YAML events of a suite file to a tree of values that know their line.

What belongs here: syntax, duplicate keys, tags, anchors, nesting. PyYAML's parser
gives the events; the tree is built here, because its constructors lose lines, let the
last of two equal keys win, and hand on aliases as shared objects that grow without
bound once somebody walks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath, shorten
from pytest_modelreg.engine.suite_file.scalar import MAX_NUMBER_CHARS, Scalar, resolve_scalar

MAX_DEPTH = 32
"""Deepest nesting of mappings and lists."""

MAX_VALUES = 20_000
"""Most values in a file, after every alias was replaced by what it stands for."""

_MAX_EVENTS = 2 * MAX_VALUES + 10
_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float,),
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of a mapping; ``key`` is what its text would be as a value."""

    key_line: int
    key: Scalar
    node: Node


@dataclass(frozen=True, kw_only=True)
class Node:
    """One value with its line (from 1); ``n_values`` counts everything inside, itself too."""

    line: int
    value: Scalar | list[Node] | dict[str, Entry]
    n_values: int = 1


def compose(text: str, log: FaultLog) -> Node:
    """Return the tree of a file's only document.

    Raises
    ------
    SuiteFileError
        With what is in ``log``, when there is no tree: syntax, nesting, size.
    """
    try:
        loader = yaml.SafeLoader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        got = f"the character U+{ord(text[error.position]):04X}"
        raise log.stop(line, f"expected printable characters, got {got}") from error
    try:
        return _Composer(loader, log).compose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = loader.line + 1 if mark is None else mark.line + 1
        raise log.stop(line, f"expected YAML, got a syntax error: {_describe_problem(error)}") from error
    except (ValueError, OverflowError) as error:
        # PyYAML hands \U escapes and %YAML versions to chr() and int() without a look.
        raise log.stop(loader.line + 1, f"expected YAML, got {shorten(str(error))}") from error
    finally:
        loader.dispose()


def _describe_problem(error: yaml.MarkedYAMLError) -> str:
    problem = " ".join((error.problem or error.context or "it cannot be parsed").split())
    if "'\\t'" in problem:
        return "a tab (indent with spaces)"
    return shorten(problem)


class _Composer:
    def __init__(self, loader: Any, log: FaultLog) -> None:
        self._loader = loader
        self._log = log
        self._anchors: dict[str, Node | None] = {}
        self._n_events = 0

    def compose(self) -> Node:
        self._next()  # the stream's start
        if self._loader.check_event(yaml.StreamEndEvent):
            raise self._log.stop(1, "expected a mapping with the keys of a suite, got an empty file")
        self._next()  # the document's start
        tree = self._node((), 0)
        self._next()  # the document's end
        if not self._loader.check_event(yaml.StreamEndEvent):
            raise self._log.stop(self._line(self._next()), "expected one YAML document, got a second one")
        if tree.n_values > MAX_VALUES:
            got = f"got {tree.n_values}" if tree.n_values < 10**9 else "got more than 10^9"
            raise self._log.stop(
                1, f"expected at most {MAX_VALUES} values, {got} once each alias is replaced by its values"
            )
        return tree

    def _next(self) -> Any:
        self._n_events += 1
        if self._n_events > _MAX_EVENTS:
            line = self._loader.line + 1
            raise self._log.stop(line, f"expected at most {MAX_VALUES} values, got more")
        return self._loader.get_event()

    @staticmethod
    def _line(event: Any) -> int:
        line: int = event.start_mark.line + 1
        return line

    def _node(self, path: KeyPath, depth: int) -> Node:
        event = self._next()
        line = self._line(event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, line, path)
        if event.anchor is not None:
            self._anchors[event.anchor] = None  # known, but not usable inside itself
        if isinstance(event, yaml.ScalarEvent):
            node = Node(line=line, value=self._scalar(event, path))
        else:
            if depth >= MAX_DEPTH:
                raise self._log.stop(line, f"expected at most {MAX_DEPTH} levels of nesting, got more")
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
            if event.tag not in (None, "!", _TAG + kind):
                self._refuse_tag(event, path)
            node = self._mapping(path, depth, line) if kind == "map" else self._list(path, depth, line)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any, line: int, path: KeyPath) -> Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            got = f"*{shorten(event.anchor)}"
            why = (
                "which contains itself" if event.anchor in self._anchors else "which is defined nowhere above"
            )
            self._log.add(line, path, f"expected the name of an anchor, got {got}, {why}")
            return Node(line=line, value=None)
        return replace(node, line=line)

    def _list(self, path: KeyPath, depth: int, line: int) -> Node:
        items: list[Node] = []
        while not self._loader.check_event(yaml.SequenceEndEvent):
            items.append(self._node((*path, len(items)), depth + 1))
        self._next()
        return Node(line=line, value=items, n_values=1 + sum(item.n_values for item in items))

    def _mapping(self, path: KeyPath, depth: int, line: int) -> Node:
        entries: dict[str, Entry] = {}
        n_values = 1
        while not self._loader.check_event(yaml.MappingEndEvent):
            event = self._loader.peek_event()
            key_line = self._line(event)
            if isinstance(event, yaml.ScalarEvent):
                self._next()
                name, is_fit = event.value, True
                key = self._scalar(event, (*path, name))
            else:
                self._node(path, depth + 1)
                name, key, is_fit = "", "", False
                self._log.add(key_line, path, "expected text as a key, got a list, a mapping or an alias")
            node = self._node((*path, name), depth + 1)
            n_values += node.n_values
            if name == "<<" and event.implicit[0]:
                self._log.add(
                    key_line,
                    (*path, name),
                    "expected the keys themselves, got '<<' (merging is not YAML 1.2)",
                )
            elif name in entries:
                first = entries[name].key_line
                self._log.add(
                    key_line, (*path, name), f"expected each key once, got it again (first on line {first})"
                )
            elif is_fit:
                entries[name] = Entry(key_line=key_line, key=key, node=node)
        self._next()
        return Node(line=line, value=entries, n_values=n_values)

    def _scalar(self, event: Any, path: KeyPath) -> Scalar:
        text: str = event.value
        line = self._line(event)
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            # JSON escapes an emoji as two surrogates; one alone can be neither printed nor a path.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if "\ufffd" in text:
                self._log.add(line, path, "expected Unicode text, got half of a surrogate pair")
        if event.tag is None and not event.implicit[0]:
            return text  # quoted
        if event.tag in ("!", _TAG + "str"):
            return text
        try:
            value = resolve_scalar(text)
        except ValueError as error:
            self._log.add(
                line, path, f"expected a number of at most {MAX_NUMBER_CHARS} characters, got {error}"
            )
            return text
        if event.tag is not None and not self._fits_tag(event, value):
            self._refuse_tag(event, path)
        return value

    def _fits_tag(self, event: Any, value: Scalar) -> bool:
        allowed = _SCALAR_TAGS.get(event.tag.removeprefix(_TAG), ()) if event.tag.startswith(_TAG) else ()
        return type(value) in allowed

    def _refuse_tag(self, event: Any, path: KeyPath) -> None:
        shown = event.tag.replace(_TAG, "!!", 1)
        self._log.add(
            self._line(event), path, f"expected a value without a tag, got the tag {shorten(shown)}"
        )
