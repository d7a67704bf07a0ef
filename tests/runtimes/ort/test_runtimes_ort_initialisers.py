"""The element types of an ONNX file's weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.runtimes.ort.initialisers import count_element_types

onnx = pytest.importorskip("onnx")


def save(path: Path, *arrays: np.ndarray) -> Path:
    """Write a graph of nothing but initialisers."""
    tensors = [onnx.numpy_helper.from_array(array, f"w{number}") for number, array in enumerate(arrays)]
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    graph = onnx.helper.make_graph([], "g", [], [output], initializer=tensors)
    onnx.save(onnx.helper.make_model(graph), str(path))
    return path


def test_weights_are_counted_by_element_type(tmp_path: Path):
    """By numpy's names; a constant of one element is no weight."""
    arrays = (np.ones(4, np.float16), np.ones((2, 2), np.float16), np.ones(3, np.float32), np.float16(1))
    assert count_element_types(save(tmp_path / "m.onnx", *arrays)) == {"float16": 2, "float32": 1}


def test_a_file_of_another_format_has_none(tmp_path: Path):
    """ONNX Runtime reads its own format, too."""
    path = tmp_path / "m.ort"
    path.write_bytes(b"ORTM")
    assert count_element_types(path) == {}
