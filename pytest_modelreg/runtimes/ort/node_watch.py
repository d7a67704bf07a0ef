"""What the nodes of an ONNX graph return, module by module: where an exported model leaves its original.

What belongs here: a copy of a graph whose last node of every module is an output too, and running it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.runtimes.ort.failure import find_module
from pytest_modelreg.runtimes.ort.session import SessionSettings, open_session
from pytest_modelreg.runtimes.ort.values import from_numpy
from pytest_modelreg.runtimes.port import WatchedModule

ROOT = "(model)"
_MOST_BYTES = 1 << 30  # protobuf holds no larger graph in one piece


def watch_graph(file: Path, settings: SessionSettings, inputs: Mapping[str, Any]) -> list[WatchedModule]:
    """Run a graph and return what its innermost modules returned, in the order of their last nodes.

    Of a module with parts nothing says which node is its last: what it computes after them is its own.

    Modules are told apart by what exporters leave in a node's metadata or name; a graph that says nothing
    of them gives an empty list, and so does one without the package onnx.

    Parameters
    ----------
    settings : SessionSettings
        How the session is opened; more outputs can keep ONNX Runtime from fusing nodes.
    inputs : mapping
        Tensors or arrays by input name.

    Raises
    ------
    ExportError
        When ONNX Runtime cannot load the copy.
    """
    try:
        import onnx
    except ModuleNotFoundError:
        return []
    if file.stat().st_size > _MOST_BYTES:
        return []
    model = onnx.load(str(file))
    last: dict[str, Any] = {}
    for node in model.graph.node:
        module = find_module(node, node.name)
        if module is not None and node.output and node.output[0]:
            last.pop(module, None)
            last[module] = node
    last = {module: node for module, node in last.items() if not _has_parts(module, last)}
    own = {output.name for output in model.graph.output}
    for node in last.values():
        if node.output[0] not in own:
            own.add(node.output[0])
            model.graph.output.append(onnx.ValueInfoProto(name=node.output[0]))
    with tempfile.TemporaryDirectory(prefix="modelreg-") as folder:
        watched = Path(folder, file.name)
        onnx.save(model, str(watched))
        session = open_session(watched, settings)
        returned = dict(zip(session.output_names, session.run(inputs), strict=True))
    return [
        WatchedModule(
            module=module,
            node=f"{node.op_type} {node.name}".strip(),
            returned=from_numpy(returned[node.output[0]]),
        )
        for module, node in last.items()
        if node.output[0] in returned
    ]


def _has_parts(module: str, modules: Mapping[str, Any]) -> bool:
    return module == ROOT or any(other.startswith(f"{module}.") for other in modules)
