"""Exported models: structure, sharing, and what an export silently changes."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable

torch = pytest.importorskip("torch")

LEGACY = ("onnx", {"exporter": "torchscript"})
DYNAMO = ("onnx", {"exporter": "dynamo"})
PROGRAM = ("export", {})
FAST = [LEGACY, PROGRAM]
ALL = [LEGACY, DYNAMO, PROGRAM]
Pair = namedtuple("Pair", "first second")


@pytest.fixture(autouse=True)
def _needs_onnx():
    pytest.importorskip("onnxruntime")


@dataclass(frozen=True)
class Out:
    """Output of a model, as a dataclass."""

    logits: Any
    n: int
    hidden: Any = None


class Rich(torch.nn.Module):
    """Returns every structure there is."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x, flag=True, mode="plain"):
        """Return tensors, numbers, text and None."""
        logits = self.linear(x) if flag else x
        return {
            "out": Out(logits, x.shape[0]),
            "pair": Pair(x, [x.sum(1), mode]),
            "scale": 1.5,
            "ok": True,
            "none": None,
        }


class Applied(torch.nn.Module):
    """Applies a function to a linear layer and the input, one module down."""

    class Inner(torch.nn.Module):
        """The module that is named."""

        def __init__(self, run):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)
            self.run = run

        def forward(self, *inputs):
            """Call the function."""
            return self.run(self.linear, *inputs)

    def __init__(self, run):
        super().__init__()
        torch.manual_seed(0)
        self.head = self.Inner(run)

    def forward(self, x, *more):
        """Pass on."""
        return self.head(x, *more)


def applied(run):
    """Return such a model in eval mode."""
    return Applied(run).eval()


def x(size=8, seed=0):
    """Return float32 of axes (sample, feature 4)."""
    return torch.randn(size, 4, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("kind", ALL, ids=str)
def test_the_models_own_structure_comes_back(open_runner, kind):
    """Types, None, text and numbers that follow the batch."""
    model = Rich().eval()
    runner = open_runner(kind[0], model, options=kind[1])
    runner(torch.randn(2, 3))
    batch = torch.randn(3, 3)
    returned = runner(batch)
    assert list(returned) == ["out", "pair", "scale", "ok", "none"]
    assert isinstance(returned["out"], Out)
    assert isinstance(returned["pair"], Pair)
    assert (returned["out"].n, returned["out"].hidden, returned["none"]) == (3, None, None)
    assert (returned["scale"], returned["ok"], returned["pair"].second[1]) == (1.5, True, "plain")
    torch.testing.assert_close(returned["out"].logits, model(batch)["out"].logits)
    assert runner.findings() == ()


@pytest.mark.parametrize("kind", ALL, ids=str)
def test_a_tuple_of_outputs_comes_back(open_runner, kind):
    """Planted fault: TorchScript's exporter refuses the names 0 and 1."""
    model = applied(lambda linear, x: (linear(x), x.sum(1)))
    for expected, got in zip(model(x()), open_runner(kind[0], model, options=kind[1])(x()), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("kind", FAST, ids=str)
def test_flags_and_text_are_constants_of_a_graph(open_runner, kind):
    """Another flag is another graph, not the first one's answer."""
    model = Rich().eval()
    runner = open_runner(kind[0], model, options=kind[1], forward=lambda m, b: m(**b)["out"].logits)
    batch = torch.randn(2, 3)
    assert runner({"x": batch, "flag": True}).shape == (2, 4)
    assert runner({"x": batch, "flag": False}).shape == (2, 3)
    assert len(open_runner.list_files()) == 2


def test_ever_new_constants_are_refused(open_runner):
    """A number that differs from batch to batch would mean an export a batch."""
    model = applied(lambda linear, x, n: linear(x) + n)
    runner = open_runner("onnx", model, options=LEGACY[1])
    for number in range(8):
        runner((x(), number))
    with pytest.raises(ExportError, match="at most 8 ways of calling the model"):
        runner((x(), 8))


def test_arrays_and_nested_inputs_are_taken(open_runner):
    """A batch of numpy arrays in one nested argument."""
    model = applied(lambda linear, batch: linear(batch["a"]) + batch["more"][0])
    runner = open_runner("export", model, forward=lambda m, b: m(b))
    batch = {"a": x().numpy(), "more": [np.ones((8, 4), np.float32)]}
    expected = model({"a": x(), "more": [torch.ones(8, 4)]})
    torch.testing.assert_close(runner(batch), expected)


@pytest.mark.parametrize(("kind", "file"), [(LEGACY, "model.onnx"), (PROGRAM, "model.pt2")], ids=str)
def test_an_export_is_made_once_a_session(open_runner, monkeypatch, kind, file):
    """A second case of the same model takes the first one's file, whatever its batch size."""
    model = applied(lambda linear, x: linear(x))
    open_runner(kind[0], model, options=kind[1], identity="m")(x())

    def refuse(*args: Any, dynamo: bool = False, **kwargs: Any) -> None:
        raise AssertionError("exported again")

    monkeypatch.setattr(torch.onnx, "export", refuse)
    monkeypatch.setattr(torch.export, "export", refuse)
    runner = open_runner(kind[0], model, options=kind[1], identity="m")
    torch.testing.assert_close(runner(x(3)), model(x(3)))
    assert open_runner.list_files() == [file]


def test_another_optimisation_level_does_not_export_again(open_runner):
    """It is the engine's option, not the file's; another exporter's file is another."""
    model = applied(lambda linear, x: linear(x))
    for level in ("all", "extended", "basic", "disabled"):
        runner = open_runner("onnx", model, options={**LEGACY[1], "optimization": level}, identity="m")
        torch.testing.assert_close(runner(x()), model(x()))
        assert runner.facts()["optimization"] == level
        assert runner.facts()["opset"] >= 9
    assert open_runner.list_files() == ["model.onnx"]
    open_runner("onnx", model, options={**LEGACY[1], "opset": 14}, identity="m")(x())
    assert len(open_runner.list_files()) == 2


def test_another_model_is_another_file(open_runner):
    """Identities differ; without one nothing is shared."""
    for identity in ("a", "b", "", ""):
        open_runner("onnx", applied(lambda linear, x: linear(x)), options=LEGACY[1], identity=identity)(x())
    assert len(open_runner.list_files()) == 4


def test_without_a_session_files_go_with_the_runner(open_runner, monkeypatch, tmp_path):
    """Nothing stays in the temporary folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runner = open_runner("export", applied(lambda linear, x: linear(x)), artefacts=None)
    runner(x())
    assert len(list(tmp_path.glob("modelreg-*"))) == 1
    runner.close()
    assert list(tmp_path.glob("modelreg-*")) == []


@pytest.mark.parametrize("kind", ALL, ids=str)
def test_a_frozen_batch_axis_is_found_though_batches_fit(open_runner, kind):
    """Planted fault: the batch size is written into the model."""
    runner = open_runner(kind[0], applied(lambda linear, x: linear(x.view(8, -1))), options=kind[1])
    runner(x())
    (finding,) = runner.findings()
    assert (finding.subject, finding.what, finding.expected) == ("input x", "axis 0 (batch)", "any size")
    assert finding.actual == "8 only" or "a size of 9 fails in the model itself" in finding.actual


@pytest.mark.parametrize("kind", FAST, ids=str)
def test_a_batch_that_does_not_fit_a_frozen_axis_is_an_error(open_runner, kind):
    """It names shape and axis."""
    runner = open_runner(kind[0], applied(lambda linear, x: linear(x.view(8, -1))), options=kind[1])
    runner(x())
    with pytest.raises(ExportError, match=r"failed on x \[4, 4\].*axis 0 \(batch\): declared any size"):
        runner(x(4))


def test_a_batch_size_frozen_by_tracing_is_found(open_runner):
    """Planted fault: the model takes any batch, the trace does not."""
    model = applied(lambda linear, x: linear(x).reshape(int(x.shape[0]), 2, 2))
    runner = open_runner("onnx", model, options=LEGACY[1])
    runner(x())
    (finding,) = runner.findings()
    assert finding.actual.startswith("a size of 9 ")
    assert "in the model itself" not in finding.actual


@pytest.mark.parametrize("kind", ALL, ids=str)
def test_a_size_frozen_into_a_value_is_found(open_runner, kind):
    """Planted fault: answers are scaled by the batch size of the export; shapes tell nothing."""
    runner = open_runner(kind[0], applied(lambda linear, x: linear(x) * int(x.shape[0])), options=kind[1])
    runner(x())
    (finding,) = runner.findings()
    assert (finding.subject, finding.what) == ("input x", "axis 0 (batch)")
    assert finding.actual == "8 only" or finding.actual.startswith("a size of 9 gives other values of output")


@pytest.mark.parametrize("kind", ALL, ids=str)
def test_a_length_frozen_into_a_value_is_found(open_runner, kind):
    """Planted fault: a mean over a declared length that is divided by the length of the export."""
    model = applied(lambda linear, x: linear(x.sum(1) / int(x.shape[1])))
    dynamic = {"x": {0: "batch", 1: "length"}}
    runner = open_runner(kind[0], model, options={**kind[1], "dynamic": dynamic})
    runner(x(12).reshape(4, 3, 4))
    (finding,) = runner.findings()
    assert (finding.subject, finding.what) == ("input x", "axis 1 (length)")


QUIET = {
    "coupled": lambda linear, x: linear(x) - linear(x).mean(0),
    "random": lambda linear, x: linear(x) + 0.1 * torch.rand_like(x),
    "deviation": lambda linear, x: linear(x) / x.std(0),
    "places": lambda linear, x: (linear(x), linear(x).argmax(-1)),
    "branch": lambda linear, x: x + 1 if x.sum() > 0 else x - 1,
}


@pytest.mark.parametrize(
    ("kind", "run"),
    # torch.export refuses a branch on values.
    [(kind, run) for kind in FAST for run in QUIET if (kind, run) != (PROGRAM, "branch")],
    ids=str,
)
def test_what_does_not_come_of_the_size_is_no_finding(open_runner, kind, run):
    """Just inside: neighbours, random numbers, one sample's deviation, the branch of a trace."""
    runner = open_runner(kind[0], applied(QUIET[run]), options=kind[1])
    runner(x())
    assert runner.findings() == ()


@pytest.mark.parametrize("dynamic", ["off", {}])
def test_a_graph_that_is_meant_for_one_size_has_no_findings(open_runner, dynamic):
    """Just inside: nothing is declared to vary."""
    model = applied(lambda linear, x: linear(x) * int(x.shape[0]))
    runner = open_runner("onnx", model, options={**LEGACY[1], "dynamic": dynamic})
    runner(x())
    assert runner.findings() == ()


def test_a_frozen_graph_does_not_decide_another_case(open_runner):
    """A case with another batch size gets an export of its own; results do not depend on order."""
    model = applied(lambda linear, x: linear(x).reshape(int(x.shape[0]), 2, 2))
    for size in (8, 4):
        runner = open_runner("onnx", model, options=LEGACY[1], identity="m")
        assert runner(x(size)).shape == (size, 2, 2)
        assert len(runner.findings()) == 1
    assert len(open_runner.list_files()) == 2


@pytest.mark.parametrize("kind", [DYNAMO, PROGRAM], ids=str)
def test_a_narrowed_batch_axis_is_found_though_batches_fit(open_runner, kind):
    """Planted fault: a branch on the batch size leaves an upper bound that nobody is told of."""
    model = applied(lambda linear, x: linear(x) if x.shape[0] <= 16 else x)
    runner = open_runner(kind[0], model, options=kind[1])
    runner(x())
    assert [finding.actual for finding in runner.findings()] == ["at most 16"]


def test_a_branch_frozen_by_tracing_shows_in_the_numbers(open_runner):
    """Planted fault: TorchScript keeps the branch of the example."""
    model = applied(lambda linear, x: x + 1 if x.sum() > 0 else x - 1)
    runner = open_runner("onnx", model, options=LEGACY[1])
    positive, negative = x().abs(), -x().abs()
    assert torch.equal(runner(positive), model(positive))
    assert not torch.allclose(runner(negative), model(negative))


@pytest.mark.parametrize("kind", [DYNAMO, PROGRAM, ("export", {"strict": True})], ids=lambda kind: f"{kind}")
def test_control_flow_on_values_is_an_error_that_names_the_module(open_runner, kind):
    """Planted fault: what torch.export cannot trace."""
    model = applied(lambda linear, x: x + 1 if x.sum() > 0 else x - 1)
    with pytest.raises(ExportError) as caught:
        open_runner(kind[0], model, options=kind[1])(x())
    told = str(caught.value)
    assert "control flow depends on the values of a tensor" in told
    assert "in module head (Inner)" in told
    assert "test_runtimes_graph_exported.py:" in told


@pytest.mark.parametrize("kind", FAST, ids=str)
def test_a_model_in_train_mode_is_found(open_runner, kind):
    """Planted fault: dropout stays active in what is exported, and the exporter does not hide it."""

    class Training(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout()

        def forward(self, x):
            return self.drop(x)

    model = Training()
    runner = open_runner(kind[0], model, options=kind[1])
    returned = runner(x(64))
    assert "train: (model), drop" in [finding.actual for finding in runner.findings()]
    assert (returned == 0).any()
    assert model.drop.training


def test_an_input_that_the_graph_drops_is_found(open_runner):
    """Planted fault: TorchScript leaves out what nothing reads, and a caller's feed fails."""
    model = applied(lambda linear, x, mask: linear(x))
    runner = open_runner("onnx", model, options=LEGACY[1])
    runner((x(), x()))
    (finding,) = runner.findings()
    assert (finding.subject, finding.what) == ("input more.0", "name")


def test_an_undeclared_axis_that_varies_is_an_error(open_runner):
    """What ships would be frozen there; the message says how to declare it."""
    model = applied(lambda linear, x: x.mean(1))
    runner = open_runner("export", model)
    runner(torch.ones(2, 5))
    with pytest.raises(ExportError, match=r"expected 5 along axis 1, .* got 6 .*dynamic: \{x: \{0: batch, 1"):
        runner(torch.ones(2, 6))


@pytest.mark.parametrize("kind", FAST, ids=str)
def test_a_declared_axis_may_vary(open_runner, kind):
    """Just inside: lengths of sequences."""
    model = applied(lambda linear, x: x.mean(1))
    dynamic = {"x": {0: "batch", 1: "length"}}
    runner = open_runner(kind[0], model, options={**kind[1], "dynamic": dynamic})
    for length in (5, 6, 1):
        batch = torch.randn(2, length)
        torch.testing.assert_close(runner(batch), model(batch))
    assert runner.findings() == ()


def test_state_in_buffers_is_exported_as_it_was_loaded(open_runner):
    """The run that learns the structure, and the trials, must not be seen."""

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count += 1
            return x + self.count

    model = Counting().eval()
    runner = open_runner("export", model)
    assert runner(torch.zeros(2, 1))[0].item() == 1
    assert runner(torch.zeros(2, 1))[0].item() == 2
    assert model.count == 0


def test_the_models_own_method_is_refused(open_runner):
    """Planted fault: forward goes past what was exported."""
    model = applied(lambda linear, x: linear(x))
    runner = open_runner("export", model, forward=lambda m, batch: m.head(batch))
    with pytest.raises(ExportError, match=r"forward uses model\.head"):
        runner(x())


def test_a_plain_callable_cannot_be_exported(open_runner):
    """It has no graph."""
    with pytest.raises(ExportError, match=r"expected the factory to return a torch\.nn\.Module"):
        open_runner("export", lambda x: x)


@pytest.mark.parametrize(
    ("run", "batch", "said"),
    [
        (lambda linear, n: linear.weight * n, (3,), "a tensor among"),
        (lambda linear, x: "a", x(), "what the model returns"),
    ],
)
def test_a_call_without_tensors_is_an_error(open_runner, run, batch, said):
    """There would be nothing in the graph."""
    with pytest.raises(ExportError, match=said):
        open_runner("export", applied(run))(batch)


def test_autocast_is_traced_into_a_program(open_runner):
    """The caller enters it around every call."""
    model = applied(lambda linear, x: linear(x))
    runner = open_runner("export", model, autocast="bfloat16")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert runner(x()).dtype == torch.bfloat16
        assert torch.equal(runner(x()), model(x()))


@pytest.mark.parametrize("fields", [{"autocast": "bfloat16"}, {"dtype": "bfloat16"}])
def test_onnx_refuses_what_it_would_ignore(open_runner, fields):
    """A variant must not be green without what it declares."""
    with pytest.raises(RuntimeUnavailable, match="bfloat16"):
        open_runner("onnx", applied(lambda linear, x: x), **fields)


def test_float16_weights_stay_float16(open_runner):
    """The dtype axis is the model's."""
    model = applied(lambda linear, x: linear(x)).half()
    runner = open_runner("onnx", model, options=LEGACY[1], dtype="float16")
    returned = runner(x().half())
    assert returned.dtype == torch.float16
    torch.testing.assert_close(returned, model(x().half()), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("kind", ALL, ids=str)
def test_attention_is_exported(open_runner, kind):
    """Just inside: the fused path that inference takes has no translation to ONNX."""
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 1).eval()
    runner = open_runner(kind[0], model, options=kind[1])
    for size in (3, 1):
        batch = torch.randn(size, 5, 8)
        torch.testing.assert_close(runner(batch), model(batch), rtol=1e-4, atol=1e-5)
    assert runner.findings() == ()
    assert torch.backends.mha.get_fastpath_enabled()


def test_a_failed_export_prints_nothing(open_runner, capfd):
    """The tracer would write its whole graph past Python's stdout."""
    model = applied(lambda linear, x: torch.fft.fft(linear(x)).real)
    with pytest.raises(ExportError):
        open_runner("onnx", model, options={**LEGACY[1], "opset": 9})(x())
    assert capfd.readouterr() == ("", "")


WRITERS = {
    "mul_": lambda linear, x: linear(x.mul_(2)),
    "iadd": lambda linear, x: linear(x.__iadd__(1)),
    "relu": lambda linear, x: linear(torch.nn.functional.relu(x, inplace=True)),
}


@pytest.mark.parametrize("kind", ALL, ids=str)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_model_that_writes_into_its_input_sees_every_batch_as_it_is(open_runner, kind, writer):
    """Planted fault: the first batch, which is the example, would be written into before it is run."""
    model = applied(WRITERS[writer])
    runner = open_runner(kind[0], model, options=kind[1])
    for seed in (0, 1):
        with torch.no_grad():
            expected = model(x(3, seed))
        torch.testing.assert_close(runner(x(3, seed)), expected)
