"""Where two ONNX graphs of one model part: what an exporter made a constant of.

What belongs here: reading two files side by side, node by node.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.example_trial import GraphPlace
from pytest_modelreg.runtimes.ort.failure import find_module

_MOST_BYTES = 1 << 30  # see node_watch
_MOST_PLACES = 5
_MOST_SHOWN = 4


def find_differences(first: Path, second: Path) -> list[GraphPlace]:
    """Return where the nodes of two graphs, or the constants that they read, are not the same.

    At most five places, and none behind one at which the nodes themselves differ: what follows it has
    nothing to be compared with. Empty without the package onnx, and for graphs above 1 GB.
    """
    try:
        import onnx
    except ModuleNotFoundError:
        return []
    if max(first.stat().st_size, second.stat().st_size) > _MOST_BYTES:
        return []
    graphs = [onnx.load(str(file)).graph for file in (first, second)]
    constants = [_read_constants(graph) for graph in graphs]
    nodes = [[node for node in graph.node if node.op_type != "Constant"] for graph in graphs]
    places: list[GraphPlace] = []
    for one, other in zip(*nodes, strict=False):
        if one.op_type != other.op_type or len(one.input) != len(other.input):
            return [*places, _make_place(one, _describe(one), _describe(other))]
        pairs = [
            (constants[0].get(a), constants[1].get(b)) for a, b in zip(one.input, other.input, strict=True)
        ]
        changed = [pair for pair in pairs if not _is_equal(*pair)]
        settings = [sorted(str(attribute) for attribute in node.attribute) for node in (one, other)]
        if changed:
            places.append(_make_place(one, *map(_show, changed[0])))
        elif settings[0] != settings[1]:
            places.append(_make_place(one, *(" ".join(" ".join(part).split()) for part in settings)))
        if len(places) == _MOST_PLACES:
            return places
    if len(nodes[0]) != len(nodes[1]):
        longer = max(nodes, key=len)
        left = longer[min(map(len, nodes))]
        told = [_describe(left) if side is longer else "the end of the graph" for side in nodes]
        places.append(_make_place(left, *told))
    return places


def _read_constants(graph: Any) -> Mapping[str, NDArray[Any]]:
    from onnx import numpy_helper

    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    found[node.output[0]] = numpy_helper.to_array(attribute.t)
                elif attribute.name.startswith("value_"):
                    value = attribute.f or attribute.i or list(attribute.floats) or list(attribute.ints)
                    found[node.output[0]] = np.asarray(value)
    return found


def _is_equal(first: NDArray[Any] | None, second: NDArray[Any] | None) -> bool:
    if first is None or second is None:
        return first is second
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


def _make_place(node: Any, first: str, second: str) -> GraphPlace:
    module = find_module(node, node.name) or ""
    return GraphPlace(module=module, node=_describe(node), first=first, second=second)


def _describe(node: Any) -> str:
    return f"{node.op_type} {node.name}".strip()


def _show(value: NDArray[Any] | None) -> str:
    """Return a constant in a few characters."""
    if value is None:
        return "computed"
    if value.size == 1:
        return (
            f"{value.reshape(-1)[0].item():.5g}"
            if value.dtype.kind == "f"
            else str(value.reshape(-1)[0].item())
        )
    if value.size <= _MOST_SHOWN:
        return str(value.tolist())
    return f"{value.dtype.name} of shape {list(value.shape)}"
