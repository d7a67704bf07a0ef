"""Operators of a real library: ``NegPos`` of onnxruntime-extensions, in files and in exports."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import ExportError

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

from onnxruntime_extensions import get_library_path  # noqa: E402 - after what may be missing

REFERENCE = "onnxruntime_extensions:get_library_path"
GIVEN = {"custom_ops": [REFERENCE]}
LIBRARY = Path(get_library_path())
DOMAIN = "ai.onnx.contrib"
X = np.array([[1.0, -2.0], [-0.5, 3.0], [0.0, -4.0]], np.float32)
NEGATIVES = np.minimum(X, 0)


def resolve(reference):
    """Import what the suite names, as the engine does."""
    return {REFERENCE: get_library_path}[reference]


@pytest.fixture
def write(tmp_path):
    """Write a file with one node of the library's domain; returns the options that name it."""

    def write_file(op_type="NegPos", domain=DOMAIN):
        helper, float_type = onnx.helper, onnx.TensorProto.FLOAT
        node = helper.make_node(
            op_type, ["x"], ["negatives", "positives"], name="/body/head/Node", domain=domain
        )
        graph = helper.make_graph(
            [node],
            "graph",
            [helper.make_tensor_value_info("x", float_type, ["n", 2])],
            [helper.make_tensor_value_info("negatives", float_type, ["n", 2])],
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "node.onnx")
        return {"path": "node.onnx"}

    return write_file


@torch.library.custom_op("modelreg_custom_ops::negatives", mutates_args=())
def negatives(x: torch.Tensor) -> torch.Tensor:
    """What the library's operator is for torch."""
    return x.clamp(max=0)


@negatives.register_fake
def _(x):
    return torch.empty_like(x)


class Traced(torch.nn.Module):
    """A torch operator, translated by a function that its owner registers."""

    def forward(self, x):
        """Keep what is negative."""
        return negatives(2 * x)


class Symbolic(torch.nn.Module):
    """A node that the model itself asks for while it is exported."""

    def forward(self, x):
        """Keep what is negative."""
        x = 2 * x
        if not torch.compiler.is_exporting():
            return x.clamp(max=0)
        kinds = {"dtypes": (x.dtype, x.dtype), "shapes": (x.shape, x.shape)}
        return torch.onnx.ops.symbolic_multi_out(f"{DOMAIN}::NegPos", (x,), **kinds, version=1)[0]


@pytest.fixture
def translated():
    """Register the translation that TorchScript's exporter uses."""
    name = "modelreg_custom_ops::negatives"
    torch.onnx.register_custom_op_symbolic(
        name, lambda graph, x: graph.op(f"{DOMAIN}::NegPos", x, outputs=2)[0], 17
    )
    yield
    torch.onnx.unregister_custom_op_symbolic(name, 17)


def test_a_file_runs_on_the_library_of_an_installed_package(open_runner, write):
    """A package's own function returns the path, which no suite file could spell."""
    runner = open_runner("onnx-file", options={**write(), **GIVEN}, resolve=resolve)
    assert np.array_equal(runner(X), NEGATIVES)
    assert runner.findings() == ()


def test_a_file_runs_on_a_library_beside_the_suite(open_runner, write, tmp_path):
    """A project's own library is named by its path, relative to the suite."""
    (tmp_path / "libs").mkdir()
    shutil.copy(LIBRARY, tmp_path / "libs" / LIBRARY.name)
    runner = open_runner("onnx-file", options={**write(), "custom_ops": [f"libs/{LIBRARY.name}"]})
    assert np.array_equal(runner(X), NEGATIVES)


def test_a_path_may_lead_into_an_installed_package(open_runner, write, tmp_path):
    """Just inside: relative to the suite, as any other."""
    there = os.path.relpath(LIBRARY, tmp_path)
    runner = open_runner("onnx-file", options={**write(), "custom_ops": [there]})
    assert np.array_equal(runner(X), NEGATIVES)


def test_the_library_is_on_record(open_runner, write):
    """By name and bytes: what it computes depends on its version."""
    facts = open_runner("onnx-file", options={**write(), **GIVEN}, resolve=resolve).facts()
    assert facts["custom_ops"] == LIBRARY.name
    assert facts["custom_ops.sha256"] == hashlib.sha256(LIBRARY.read_bytes()).hexdigest()
    assert not [key for key in open_runner("onnx", torch.nn.Identity()).facts() if "custom_ops" in key]


def test_a_file_without_its_library_names_operator_domain_and_remedy(open_runner, write):
    """Planted fault: the suite forgot ``custom_ops``."""
    with pytest.raises(ExportError) as caught:
        open_runner("onnx-file", options=write())
    told = str(caught.value)
    assert told.startswith("toy[variant]: runtime 'onnx-file': ONNX Runtime cannot load node.onnx: ")
    assert f"operator {DOMAIN}:NegPos; node /body/head/Node; in module body.head; " in told
    assert "; name the library that has it in custom_ops, by path or as module:fn" in told
    assert told.endswith(f"such as {REFERENCE}")


def test_a_library_without_the_operator_is_named(open_runner, write):
    """Planted fault: another library, or an older version of it."""
    with pytest.raises(ExportError) as caught:
        open_runner("onnx-file", options={**write("NoSuch"), **GIVEN}, resolve=resolve)
    told = str(caught.value)
    assert f"operator {DOMAIN}:NoSuch; " in told
    assert f"custom_ops ({LIBRARY.name}) has no such operator" in told


@pytest.mark.parametrize(("exporter", "model"), [("torchscript", Traced), ("dynamo", Symbolic)])
def test_an_export_runs_on_the_library(open_runner, translated, exporter, model):
    """Both exporters: what torch calls its own operator is the library's in the graph."""
    options = {"exporter": exporter, **GIVEN}
    runner = open_runner("onnx", model().eval(), options=options, resolve=resolve)
    batch = torch.from_numpy(X)
    torch.testing.assert_close(runner(batch), torch.from_numpy(2 * NEGATIVES), rtol=0, atol=0)
    assert runner(batch[:1]).shape == (1, 2)
    assert runner.findings() == ()


@pytest.mark.parametrize(("exporter", "model"), [("torchscript", Traced), ("dynamo", Symbolic)])
def test_an_export_without_the_library_names_the_operator(open_runner, translated, exporter, model):
    """Planted fault: it can be exported and not be run."""
    runner = open_runner("onnx", model().eval(), options={"exporter": exporter})
    with pytest.raises(ExportError, match=rf"operator {DOMAIN}:NegPos; .*custom_ops.*{REFERENCE}"):
        runner(torch.from_numpy(X))
