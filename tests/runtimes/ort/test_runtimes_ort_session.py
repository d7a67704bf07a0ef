"""ONNX Runtime: the session that a suite asks for, and operators that it does not have."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable
from pytest_modelreg.runtimes import RunRequest
from pytest_modelreg.runtimes.ort.session import _make_options, read_settings

torch = pytest.importorskip("torch")
ort = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")


@torch.library.custom_op("modelreg_tests::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """An operator that no exporter knows."""
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class Custom(torch.nn.Module):
    """Uses it one module down."""

    class Inner(torch.nn.Module):
        """The module that is named."""

        def forward(self, x):
            """Use it."""
            return twice(x)

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 2)
        self.head = self.Inner()

    def forward(self, x):
        """Pass on."""
        return self.head(self.first(x))


def settings(**options):
    """Read the options of a session."""
    return read_settings(RunRequest(case="toy[onnx]", options=options), "onnx")


@pytest.fixture
def linear():
    """A model."""
    return torch.nn.Linear(2, 2).eval()


@pytest.fixture
def write_node(tmp_path):
    """Write a file with one node."""

    def write(op_type, domain="", name="/body/layer/Node"):
        helper, float_type = onnx.helper, onnx.TensorProto.FLOAT
        node = helper.make_node(op_type, ["x"], ["y"], name=name, domain=domain)
        graph = helper.make_graph(
            [node],
            "graph",
            [helper.make_tensor_value_info("x", float_type, ["n", 2])],
            [helper.make_tensor_value_info("y", float_type, None)],
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "node.onnx")
        return {"path": "node.onnx"}

    return write


def test_threads_follow_torch_unless_the_suite_says_otherwise():
    """A case has one number of threads, and it is a fact."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert settings().facts()["session_options.intra_op_num_threads"] == 3
        told = settings(session_options={"intra_op_num_threads": 2})
    finally:
        torch.set_num_threads(before)
    assert told.facts()["session_options.intra_op_num_threads"] == 2
    assert _make_options(ort, told).intra_op_num_threads == 2


def test_deterministic_algorithms_are_asked_of_the_engine_too():
    """The suite says it once."""
    torch.use_deterministic_algorithms(True)
    try:
        assert settings().options["use_deterministic_compute"] is True
    finally:
        torch.use_deterministic_algorithms(False)
    assert "use_deterministic_compute" not in settings().options


def test_session_options_reach_the_session():
    """Attributes, and config entries, which have a dot."""
    options = {
        "enable_mem_pattern": False,
        "execution_mode": "parallel",
        "session.intra_op.allow_spinning": False,
    }
    made = _make_options(ort, settings(session_options=options, optimization="basic"))
    assert made.enable_mem_pattern is False
    assert made.execution_mode == ort.ExecutionMode.ORT_PARALLEL
    assert made.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    assert made.graph_optimization_level == ort.GraphOptimizationLevel.ORT_ENABLE_BASIC


def test_settings_are_facts():
    """A drift between two levels must lead with that difference."""
    facts = settings(session_options={"enable_mem_pattern": False}, optimization="disabled").facts()
    assert facts["optimization"] == "disabled"
    assert facts["providers"] == "CPUExecutionProvider"
    assert facts["session_options.enable_mem_pattern"] is False


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"session_options": {"intra_op_num_thread": 1}}, r"\(did you mean intra_op_num_threads\?\)"),
        ({"session_options": {"add_initializer": 1}}, "expected an attribute"),
        ({"session_options": {"graph_optimization_level": 1}}, "say it as optimization"),
        ({"session_options": {"execution_mode": "fast"}}, "expected one of sequential, parallel"),
        ({"session_options": {"enable_mem_pattern": "maybe"}}, "onnxruntime refuses 'maybe'"),
        ({"providers": ["CPUExecutionProvide"]}, r"\(did you mean CPUExecutionProvider\?\)"),
        ({"providers": [{"NoSuchProvider": {"a": 1}}]}, "got NoSuchProvider"),
        ({"custom_ops": ["no/such.so"]}, "expected files, got none at"),
        ({"custom_ops": ["mine:ops"]}, "mine:ops cannot be imported here"),
    ],
)
def test_what_the_engine_does_not_have_is_refused_before_exporting(options, said):
    """With the nearest name."""
    with pytest.raises(RuntimeUnavailable, match=said):
        settings(**options)


def test_a_device_without_its_provider_is_refused():
    """Otherwise numbers of the CPU would pass for those of the device."""
    if "CUDAExecutionProvider" in ort.get_available_providers():
        pytest.skip("this onnxruntime has CUDA")
    with pytest.raises(RuntimeUnavailable, match="got CUDAExecutionProvider"):
        read_settings(RunRequest(case="c", device="cuda:0"), "onnx")


def test_a_library_that_is_none_is_named(tmp_path):
    """By its file name."""
    (tmp_path / "ops.so").write_bytes(b"no library")
    request = RunRequest(case="c", options={"custom_ops": ["ops.so"]}, root=tmp_path)
    with pytest.raises(RuntimeUnavailable, match=r"custom_ops: ops\.so cannot be loaded"):
        read_settings(request, "onnx")


def test_libraries_are_asked_of_a_function(tmp_path):
    """What a package's own function returns, one path or several; no path is refused."""
    (tmp_path / "ops.so").write_bytes(b"no library")
    for answer, said in [
        (str(tmp_path / "ops.so"), "ops.so cannot be loaded"),
        ([tmp_path / "ops.so"], "ops.so cannot be loaded"),
        (None, "expected mine:ops to return paths, got NoneType"),
    ]:
        request = RunRequest(
            case="c",
            options={"custom_ops": ["mine:ops"]},
            root=tmp_path,
            resolve={"mine:ops": lambda answer=answer: answer}.get,
        )
        with pytest.raises(RuntimeUnavailable, match=said):
            read_settings(request, "onnx")


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_an_operator_that_cannot_be_exported_is_named_with_its_module(open_runner, exporter):
    """Planted fault: a custom operator without a translation."""
    runner = open_runner("onnx", Custom().eval(), options={"exporter": exporter})
    with pytest.raises(ExportError) as caught:
        runner(torch.ones(2, 2))
    told = str(caught.value)
    assert told.startswith("toy[variant]: runtime 'onnx': ")
    assert "operator modelreg_tests" in told
    assert "twice" in told
    assert told.endswith("in module head")


class Composite(torch.nn.Module):
    """Uses an operator that exporters take apart, beside its own parts in a module that does not fail."""

    class Inner(torch.nn.Module):
        """The module that is named."""

        def forward(self, x):
            """Use it."""
            return torch.linalg.svdvals(x[:, :, None] * x[:, None, :])

    def __init__(self):
        super().__init__()
        self.head = torch.nn.Sequential(torch.nn.Linear(2, 2), self.Inner())

    def forward(self, x):
        """Pass on."""
        return self.head(x)


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_an_operator_that_was_taken_apart_is_named_with_its_module(open_runner, exporter):
    """Planted fault: the exporter fails at _linalg_svd, which stands nowhere in the model."""
    runner = open_runner("onnx", Composite().eval(), options={"exporter": exporter})
    with pytest.raises(ExportError, match=r"operator aten\S*linalg_svd\S*; in module head\.1$"):
        runner(torch.ones(2, 2))


@pytest.mark.parametrize("opset", [13, 99])
def test_an_opset_that_the_exporter_does_not_write_is_an_error(open_runner, linear, opset, monkeypatch):
    """Planted fault: what serves the model knows no later opset, and the exporter writes 18 all the same."""
    monkeypatch.setattr("pytest_modelreg.runtimes.ort.exporters._read_facts", lambda file: {"opset": 18})
    runner = open_runner("onnx", linear, options={"opset": opset})
    with pytest.raises(ExportError, match=rf"of opset {opset}, got opset 18, .*say opset: 18 .*torchscript"):
        runner(torch.ones(2, 2))


@pytest.mark.parametrize(("exporter", "opset"), [("dynamo", 18), ("torchscript", 13), ("dynamo", None)])
def test_the_opset_that_is_asked_for_is_a_fact(open_runner, linear, exporter, opset):
    """Just inside."""
    options = {"exporter": exporter} if opset is None else {"exporter": exporter, "opset": opset}
    runner = open_runner("onnx", linear, options=options)
    torch.testing.assert_close(runner(torch.ones(2, 2)), linear(torch.ones(2, 2)))
    assert runner.facts()["opset"] == (opset or runner.facts()["opset"])


def test_an_operator_that_the_engine_does_not_have_is_named(open_runner, write_node):
    """Planted fault: a file that needs a library which is not given."""
    with pytest.raises(ExportError) as caught:
        open_runner("onnx-file", options=write_node("Foo", "com.acme"))
    told = str(caught.value)
    assert "operator com.acme:Foo" in told
    assert "node /body/layer/Node" in told
    assert "in module body.layer; " in told
    assert told.endswith("custom_ops, by path or as module:fn that returns it")


def test_an_operator_of_a_later_opset_is_named(open_runner, write_node):
    """Planted fault: the default domain has no such operator."""
    with pytest.raises(ExportError, match=r"operator NoSuch; node /body/layer/Node; in module body\.layer"):
        open_runner("onnx-file", options=write_node("NoSuch"))


def test_a_node_that_fails_is_named_with_its_module(open_runner, linear):
    """Planted fault: the graph runs on the example and fails on another batch."""

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = linear

        def forward(self, x):
            return self.body(x.view(4, -1))

    runner = open_runner("onnx", Outer().eval(), options={"exporter": "torchscript"})
    runner(torch.ones(4, 2))
    with pytest.raises(ExportError, match=r"operator Gemm; node .*; in module body"):
        runner(torch.ones(2, 2))


def test_a_broken_file_is_named(open_runner, tmp_path):
    """One line, no traceback."""
    (tmp_path / "broken.onnx").write_bytes(b"no graph")
    with pytest.raises(ExportError, match=r"cannot load broken\.onnx: InvalidProtobuf"):
        open_runner("onnx-file", options={"path": "broken.onnx"})


def test_levels_agree_on_a_healthy_model(open_runner, linear):
    """Just inside: every optimisation level, both exporters."""
    batch = torch.ones(3, 2)
    for exporter in ("torchscript", "dynamo"):
        for level in ("all", "extended", "basic", "disabled"):
            options = {"exporter": exporter, "optimization": level}
            runner = open_runner("onnx", linear, options=options, identity="m")
            torch.testing.assert_close(runner(batch), linear(batch))
            assert runner.facts()["exporter"] == exporter
    assert np.isfinite(runner.facts()["opset"])


def test_a_broken_file_is_named_without_its_folder(open_runner, tmp_path):
    """Planted fault: reports of two sessions would differ by the folders of their artefacts."""
    (tmp_path / "broken.onnx").write_bytes(b"no graph")
    with pytest.raises(ExportError) as caught:
        open_runner("onnx-file", options={"path": "broken.onnx"})
    assert str(tmp_path) not in str(caught.value)
    assert "Load model from broken.onnx failed" in str(caught.value)
