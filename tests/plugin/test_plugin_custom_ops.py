"""A shipped file with operators of a library, as a variant of a suite."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

VARIANTS = """
variants:
  shipped: {runtime: {kind: onnx-file, path: model.onnx, custom_ops: ["LIBRARY_path"]}}
  forgotten: {runtime: {kind: onnx-file, path: model.onnx}}
  misspelt: {runtime: {kind: onnx-file, path: model.onnx, custom_ops: ["LIBRARY"]}}
""".replace("LIBRARY", "onnxruntime_extensions:get_library")

RECTIFIED = "np.maximum(scale * (x @ WEIGHT), 0)"


@pytest.fixture
def shipped(project):
    """A project whose model has been written to a file with an operator of onnxruntime-extensions."""
    project.edit("toymodel.py", "scale * (x @ WEIGHT)", RECTIFIED)
    helper, float_type = onnx.helper, onnx.TensorProto.FLOAT
    weight = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "weight"], ["scores"]),
            helper.make_node("NegPos", ["scores"], ["negatives", "logits"], domain="ai.onnx.contrib"),
        ],
        "graph",
        [helper.make_tensor_value_info("x", float_type, ["n", 3])],
        [helper.make_tensor_value_info("logits", float_type, ["n", 4])],
        [onnx.numpy_helper.from_array(weight, "weight")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.contrib", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), project.path / "model.onnx")
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", suite + VARIANTS)
    project.pin()
    project.pytest("--modelreg-regen=missing", "-k", "reference")
    return project


def test_a_library_that_is_given_decides_between_match_and_error(shipped):
    """With the right one the numbers are the golden's; without it the case says what to do."""
    cases = {case["variant"]: case for case in shipped.report()["cases"]}
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "reference": "match",
        "shipped": "match",
        "forgotten": "error",
        "misspelt": "error",
    }
    forgotten = cases["forgotten"]["message"]
    assert "operator ai.onnx.contrib:NegPos" in forgotten
    assert "name the library that has it in custom_ops" in forgotten
    assert "onnxruntime_extensions:get_library_path" in forgotten
    assert "did you mean" in cases["misspelt"]["message"]
    assert "get_library_path" in cases["misspelt"]["message"]
