"""Device, dtype, memory format and mixed precision: applied to model and inputs, undone afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.case import RuntimeSpec
from pytest_modelreg.domain.errors import CaseSkipped, ModelError, OutputError, RuntimeUnavailable
from pytest_modelreg.observe.autocast import make_autocast
from pytest_modelreg.observe.placement import Placement, require_device

torch = pytest.importorskip("torch")

CONV = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)

    def forward(self, x):
        y = self.norm(self.conv(x))
        is_last = x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()
        n_bytes = torch.full((len(x),), x.element_size())
        return {"y": y, "last": torch.full((len(x),), is_last), "n_bytes": n_bytes}

def build():
    torch.manual_seed(0)
    return Model()

SHARED = build()

def shared():
    return SHARED
"""


@pytest.fixture
def conv_case(case_folder):
    """A small convolution on five images of 3 x 8 x 8."""
    case_folder.write("model.py", CONV)
    case_folder.add_arrays(*np.random.default_rng(0).standard_normal((5, 3, 8, 8)).astype(np.float32))
    return case_folder


def values(case, observation, path="y"):
    """Return the rows of an output as one array."""
    return np.stack(case.rows(observation, path)).astype(np.float64)


def test_channels_last_reaches_model_and_inputs_and_is_recorded_logically(conv_case):
    """The axes of what is on record are the model's, whatever lies where in memory."""
    plain = conv_case.observe()
    expected = values(conv_case, plain)
    assert not values(conv_case, plain, "last").any()
    last = conv_case.observe(memory_format="channels_last")
    assert values(conv_case, last, "last").all()
    assert last.outputs["y"].shape == plain.outputs["y"].shape
    np.testing.assert_allclose(values(conv_case, last), expected, rtol=1e-4, atol=1e-5)
    assert last.samples == plain.samples


def test_contiguous_undoes_channels_last():
    """A factory that builds channels last can be checked contiguous."""
    image = torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last)
    assert Placement(memory_format="contiguous").place(image).is_contiguous()


def test_channels_last_3d_is_for_five_axes():
    """Videos are laid out, images beside them left alone; and the other way round."""
    batch = {"video": torch.rand(2, 3, 4, 5, 6), "image": torch.rand(2, 3, 5, 6), "row": torch.rand(2, 3)}
    placed = Placement(memory_format="channels_last_3d").place(batch)
    assert placed["video"].is_contiguous(memory_format=torch.channels_last_3d)
    assert placed["image"].is_contiguous()
    placed = Placement(memory_format="channels_last").place(batch)
    assert placed["video"].is_contiguous()
    assert placed["image"].is_contiguous(memory_format=torch.channels_last)


def test_dtype_casts_model_and_floating_inputs_only():
    """Indices and masks stay what they are; so do arrays and words."""
    batch = {"x": torch.rand(2), "ids": torch.arange(2), "deep": [(torch.rand(1), "a", None, np.ones(1))]}
    placed = Placement(dtype="float16").place(batch)
    assert (placed["x"].dtype, placed["ids"].dtype) == (torch.float16, torch.int64)
    half, text, nothing, array = placed["deep"][0]
    assert (half.dtype, text, nothing, array.dtype) == (torch.float16, "a", None, np.float64)
    assert batch["x"].dtype == torch.float32


@pytest.mark.parametrize(("dtype", "n_bytes"), [("float64", 8), ("bfloat16", 2)])
def test_outputs_are_recorded_in_their_own_dtype(conv_case, dtype, n_bytes):
    """What the model answers in float64 is on record in float64; inputs keep their digests."""
    plain = conv_case.observe()
    cast = conv_case.observe(dtype=dtype)
    assert cast.outputs["y"].dtype == dtype
    assert values(conv_case, cast, "n_bytes").tolist() == [n_bytes] * 5
    assert cast.samples == plain.samples
    assert cast.weights_digest == plain.weights_digest


def test_autocast_computes_in_its_dtype(conv_case):
    """Mixed precision: the convolution answers in bfloat16, the model's weights are float32."""
    torch_case = conv_case
    torch_case.write("model.py", "import torch\n\ndef build():\n    return torch.nn.Conv2d(3, 4, 3)\n")
    plain = torch_case.observe()
    mixed = torch_case.observe(autocast="bfloat16")
    assert (plain.outputs["output"].dtype, mixed.outputs["output"].dtype) == ("float32", "bfloat16")
    assert mixed.samples == plain.samples


def test_autocast_that_torch_would_switch_off_is_refused(monkeypatch):
    """Older versions warn and compute in full precision: the case would be green for nothing."""

    class Disabled:
        _enabled = False

        def __init__(self, *args, **kwargs):
            """Take what torch.autocast takes."""

    monkeypatch.setattr(torch, "autocast", Disabled)
    with pytest.raises(RuntimeUnavailable, match=r"c: autocast: float16 on cpu.*newer"):
        make_autocast("float16", model=None, device=None, case="c")


def test_autocast_without_torch_is_refused(toy_case, monkeypatch):
    """A numpy model has no mixed precision."""
    monkeypatch.delitem(__import__("sys").modules, "torch")
    with pytest.raises(RuntimeUnavailable, match="nothing has imported"):
        make_autocast("bfloat16", model=None, device=None, case="c")


@pytest.mark.parametrize("raises", [False, True])
def test_a_module_that_the_factory_shares_is_put_back(conv_case, raises):
    """Cast to float16 and loaded again, its float32 weights would be lost to the next case."""
    plain = conv_case.observe(model="model:shared")
    if raises:
        conv_case.write("glue.py", "def fail(model, batch):\n    raise ValueError\n")
        with pytest.raises(ModelError):
            conv_case.observe(model="model:shared", dtype="float64", forward="glue:fail")
    else:
        conv_case.observe(model="model:shared", dtype="bfloat16", memory_format="channels_last")
    again = conv_case.observe(model="model:shared")
    assert again.outputs == plain.outputs
    assert again.weights_digest == plain.weights_digest


@pytest.mark.parametrize("changes", [{"dtype": "float16"}, {"memory_format": "channels_last"}])
def test_plain_callable_cannot_be_cast(toy_case, changes):
    """Nothing would happen, and the case would be green for nothing."""
    with pytest.raises(ModelError, match=r"toy\[reference\].*needs a torch.nn.Module.*function"):
        toy_case.observe(**changes)


def test_plain_callable_runs_on_the_cpu(toy_case):
    """Just inside: the one device that every machine has."""
    toy_case.observe(device="cpu")


def test_device_that_is_absent_skips_the_case(torch_case, monkeypatch):
    """No fault of the model: the reason is told before anything is built."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    torch_case.write("model.py", "def build():\n    raise RuntimeError('built')\n")
    with pytest.raises(CaseSkipped, match="device 'cuda': this machine has no CUDA device"):
        torch_case.observe(device="cuda")


def test_second_device_where_there_is_one(monkeypatch):
    """cuda:1 on a machine with one."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(CaseSkipped, match="only 1 CUDA device"):
        require_device("cuda:1", case="c")
    require_device("cuda:0", case="c")
    require_device(None, case="c")


def test_unknown_device_is_named():
    """A misspelt device is a fault, not a reason to skip."""
    with pytest.raises(RuntimeUnavailable, match="got 'cudda'"):
        require_device("cudda", case="c")


def test_device_that_holds_no_values_fails_in_the_pass(conv_case):
    """Inputs and parameters are moved: on the device that holds no values nothing can be read back."""
    with pytest.raises((ModelError, OutputError, CaseSkipped)):
        conv_case.observe(device="meta")


def test_a_model_of_its_own_is_not_placed(toy_case, monkeypatch):
    """A runtime that brings its model knows what that takes: inputs are left alone."""
    seen = []

    class Own:
        name = "own"
        needs_model = False

        def open(self, model, request):
            seen.append((model, request.dtype, request.device))

            class Runner:
                def __call__(self, batch):
                    seen.append(batch.dtype)
                    return batch

                def facts(self):
                    return {"kind": "own"}

                def close(self):
                    seen.append("closed")

            return Runner()

    monkeypatch.setattr("pytest_modelreg.observe.case.find_runtime", lambda kind, options: Own())
    observation = toy_case.observe(
        model="nowhere:build", checkpoint=None, dtype="float16", device="cpu", runtime=RuntimeSpec(kind="own")
    )
    assert seen[0] == (None, "float16", "cpu")
    assert str(seen[1]).endswith("float32")
    assert seen[-1] == "closed"
    assert (observation.weights_digest, observation.eval_applied) == (None, False)
    assert observation.runtime_findings == ()


def test_mappings_with_methods_of_their_own_stay_what_they_are():
    """A tokenizer's batch is handed on as its own type."""
    from collections import OrderedDict, UserDict

    batch = UserDict(x=torch.rand(1), n=1)
    placed = Placement(dtype="float64").place(batch)
    assert type(placed) is UserDict
    assert placed["x"].dtype == torch.float64
    assert batch["x"].dtype == torch.float32
    assert type(Placement(dtype="float64").place(OrderedDict(x=torch.rand(1)))) is OrderedDict


def test_nothing_given_leaves_the_batch_itself():
    """Without axes a batch is passed on untouched."""
    batch = [torch.rand(1)]
    assert Placement().place(batch) is batch
