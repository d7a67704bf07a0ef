"""What ONNX Runtime refuses, by node, operator and the module that it came from.

What belongs here: finding the node that a message speaks of, and its origin, which
exporters leave in a node's metadata or name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_modelreg.runtimes.export_failure import strip_folder, summarise
from pytest_modelreg.runtimes.graph.flat_model import MODEL_ATTRIBUTE

_NODE_NAMES = (
    re.compile(r"Name:'(?P<name>[^']*)'"),
    re.compile(r"node with name '(?P<name>[^']*)'"),
    re.compile(r'In Node, \("(?P<name>[^"]*)"'),
    re.compile(r"node \((?P<name>[^)]*)\)"),
)
_UNREGISTERED = re.compile(r"(?P<domain>[\w.]+):(?P<op>\w+)\(-?\d+\) is not a registered function/op")
_OPERATORS = (
    _UNREGISTERED,
    re.compile(r"implementation for (?P<op>\w+)\(-?\d+\)"),
    re.compile(r'In Node, \("[^"]*", (?P<op>\w+), "(?P<domain>[^"]*)"'),
    re.compile(r"while running (?P<op>\w+) node"),
    re.compile(r"operator \((?P<op>\w+)\)"),
)
_SCOPES = "pkg.torch.onnx.name_scopes"


def describe_onnx_failure(error: BaseException, file: Path) -> str:
    """Return one line: what ONNX Runtime said, the operator and the module it came from.

    Parameters
    ----------
    file : pathlib.Path
        The graph; read only when the package onnx is there.
    """
    message = strip_folder(str(error), file)
    parts = [f"{type(error).__name__}: {summarise(message)}"]
    node_name = _search(_NODE_NAMES, message, "name")
    domain, operator = _find_operator(message)
    node = _find_node(file, node_name, domain, operator)
    if node is not None:
        domain, operator, node_name = node.domain, node.op_type, node.name
    if operator:
        parts.append(f"operator {f'{domain}:{operator}' if domain else operator}")
    if node_name:
        parts.append(f"node {node_name}")
    module = find_module(node, node_name)
    if module:
        parts.append(f"in module {module}")
    return "; ".join(parts)


def find_unregistered_domain(error: BaseException) -> str | None:
    """Return the domain of an operator that no library was loaded for; None for every other failure."""
    match = _UNREGISTERED.search(str(error))
    return None if match is None else match["domain"]


def _search(patterns: tuple[re.Pattern[str], ...], message: str, group: str) -> str | None:
    found = (pattern.search(message) for pattern in patterns)
    return next((match[group] for match in found if match is not None), None)


def _find_operator(message: str) -> tuple[str, str]:
    for pattern in _OPERATORS:
        match = pattern.search(message)
        if match is not None:
            groups = match.groupdict()
            return groups.get("domain") or "", groups["op"]
    return "", ""


def _find_node(file: Path, name: str | None, domain: str, operator: str) -> Any:
    """Return the node of a graph; None without the package onnx, or for a file that it cannot read."""
    try:
        import onnx

        graph = onnx.load(str(file), load_external_data=False).graph
    except Exception:  # noqa: BLE001 - a file that is broken; the first error is the one to tell
        return None
    nodes = list(_list_nodes(graph))
    for node in nodes:
        if name and node.name == name:
            return node
    for node in nodes:
        if operator and node.op_type == operator and node.domain == domain:
            return node
    return None


def _list_nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _list_nodes(attribute.g)


def find_module(node: Any, name: str | None) -> str | None:
    """Return the module that a node came from: of metadata, else of a name such as ``/model/layer/Op``."""
    for entry in getattr(node, "metadata_props", ()) if node is not None else ():
        if entry.key == _SCOPES:
            # Scopes from the outermost module to the operator: ['', 'model', 'model.layer', 'linear'].
            scopes = ast.literal_eval(entry.value)
            inside = [scope for scope in scopes[:-1] if scope]
            return _strip_root(inside[-1]) if inside else None
    if name is not None and name.startswith("/"):
        return _strip_root(".".join(name.split("/")[1:-1])) or None
    return None


def _strip_root(name: str) -> str:
    return name.removeprefix(f"{MODEL_ATTRIBUTE}.") if name != MODEL_ATTRIBUTE else "(model)"
