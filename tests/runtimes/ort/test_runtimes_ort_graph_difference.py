"""Two graphs of one model, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.runtimes.ort.graph_difference import find_differences

onnx = pytest.importorskip("onnx")


def write(path: Path, nodes: Sequence[Any], constants: dict[str, Any] | None = None) -> Path:
    """Write a graph from x to y."""
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()],
    )
    onnx.save(helper.make_model(graph), str(path))
    return path


def node(kind: str, inputs: Sequence[str], output: str, name: str, **attributes: Any) -> Any:
    """Return a node."""
    return onnx.helper.make_node(kind, list(inputs), [output], name=name, **attributes)


def scale(path: Path, value: float, *, as_node: bool = False) -> Path:
    """Write a graph with a constant factor, as an initializer or as a node."""
    nodes = [node("Mul", ["x", "c"], "y", "/gate/Mul")]
    array = np.float32(value)
    if not as_node:
        return write(path, nodes, {"c": array})
    tensor = onnx.numpy_helper.from_array(np.asarray(array))
    return write(path, [node("Constant", [], "c", "/gate/Constant", value=tensor), *nodes])


@pytest.mark.parametrize("as_node", [False, True])
def test_a_constant_that_differs_is_found(tmp_path: Path, as_node: bool):
    """Module, the node that reads it, and both values."""
    first = scale(tmp_path / "a.onnx", 2.5, as_node=as_node)
    (place,) = find_differences(first, scale(tmp_path / "b.onnx", 7.0, as_node=as_node))
    assert (place.module, place.node) == ("gate", "Mul /gate/Mul")
    assert (place.first, place.second) == ("2.5", "7")


@pytest.mark.parametrize("as_node", [False, True])
def test_equal_graphs_have_no_difference(tmp_path: Path, as_node: bool):
    """Whatever their files are called."""
    first = scale(tmp_path / "a.onnx", 2.5, as_node=as_node)
    assert find_differences(first, scale(tmp_path / "b.onnx", 2.5, as_node=as_node)) == []


def test_a_branch_is_the_node_at_which_the_graphs_part(tmp_path: Path):
    """What follows it is not compared."""
    first = write(
        tmp_path / "a.onnx",
        [node("Relu", ["x"], "h", "/gate/Relu"), node("Abs", ["h"], "y", "/head/Abs")],
    )
    second = write(
        tmp_path / "b.onnx",
        [node("Neg", ["x"], "h", "/gate/Neg"), node("Exp", ["h"], "y", "/head/Exp")],
    )
    (place,) = find_differences(first, second)
    assert (place.module, place.first, place.second) == ("gate", "Relu /gate/Relu", "Neg /gate/Neg")


def test_a_node_that_only_one_graph_has_is_found(tmp_path: Path):
    """A branch without an else."""
    short = write(tmp_path / "a.onnx", [node("Relu", ["x"], "y", "/gate/Relu")])
    long = write(
        tmp_path / "b.onnx",
        [node("Relu", ["x"], "h", "/gate/Relu"), node("Abs", ["h"], "y", "/gate/Abs")],
    )
    (place,) = find_differences(short, long)
    assert (place.first, place.second) == ("the end of the graph", "Abs /gate/Abs")
    (place,) = find_differences(long, short)
    assert (place.first, place.second) == ("Abs /gate/Abs", "the end of the graph")


def test_a_setting_of_a_node_that_differs_is_found(tmp_path: Path):
    """An axis, a size written into an attribute."""
    first = write(tmp_path / "a.onnx", [node("LeakyRelu", ["x"], "y", "/act/LeakyRelu", alpha=0.5)])
    second = write(tmp_path / "b.onnx", [node("LeakyRelu", ["x"], "y", "/act/LeakyRelu", alpha=0.25)])
    (place,) = find_differences(first, second)
    assert "0.5" in place.first
    assert "0.25" in place.second


def test_a_long_constant_is_told_by_its_form(tmp_path: Path):
    """A mask has too many numbers for a sentence; a short one is shown."""
    nodes = [node("Mul", ["x", "c"], "y", "/gate/Mul")]
    first = write(tmp_path / "a.onnx", nodes, {"c": np.ones(64, np.float32)})
    second = write(tmp_path / "b.onnx", nodes, {"c": np.asarray([1, 2], np.float32)})
    (place,) = find_differences(first, second)
    assert (place.first, place.second) == ("float32 of shape [64]", "[1.0, 2.0]")
