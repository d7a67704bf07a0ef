"""What a trace holds of a case: inputs, weights, modules, and what runs in other ways gave."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import RuntimeSpec
from pytest_modelreg.domain.trace import Trace, TraceRequest
from pytest_modelreg.observe import observe_trace, read_exact_arrays
from pytest_modelreg.store import read_trace
from tests.observe.conftest import CaseFolder

torch = pytest.importorskip("torch")

NET = """
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 3, padding=1)
        self.bn = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 3)
        # CONSTRUCTED

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))
        x = x.mean(-1)
        # FORWARD
        return self.head(x)


def build():
    torch.manual_seed(5)
    model = Net()
    with torch.no_grad():
        model.bn.running_mean.normal_()
        model.bn.running_var.uniform_(0.5, 2.0)
    # BUILT
    return model
"""


@pytest.fixture
def folder(case_folder: CaseFolder) -> CaseFolder:
    """A case on three arrays with a small network."""
    case_folder.write("model.py", NET)
    rng = np.random.default_rng(0)
    case_folder.add_arrays(*(rng.normal(size=(2, 8)).astype(np.float32) for _ in range(3)))
    return case_folder


def trace(folder: CaseFolder, *, place: str = "", line: str = "", **changes: Any) -> Trace:
    """Return the trace of a network that was edited at one place."""
    if place:
        indent = "    " if place == "BUILT" else "        "
        text = NET.replace(f"# {place}", f"# {place}\n{indent}{line}")
        folder.write("model.py", text)
    request = TraceRequest(chosen=("a", "b", "c"), max_bytes=10_000)
    return observe_trace(folder.spec(**changes), folder.root / "trace", request)


def test_exact_inputs_are_what_the_model_is_fed(folder: CaseFolder):
    """Read back, they are the prepared samples to the bit."""
    folder.write("data.py", "def prepare(sample):\n    return sample * 2\n")
    found = trace(folder, preprocess="data:prepare")
    assert found.exact is not None
    arrays = read_exact_arrays(folder.root / "trace", found.exact)
    assert list(arrays) == ["a", "b", "c"]
    sample = np.load(folder.samples_folder / "b.npy")
    assert np.array_equal(arrays["b"][""], sample * 2)


def test_inputs_over_the_cap_are_left_out(folder: CaseFolder):
    """Two of three fit; without any there is no file, and the rest of the trace is there."""
    request = TraceRequest(chosen=("a", "b", "c"), max_bytes=130)
    found = observe_trace(folder.spec(), folder.root / "trace", request)
    assert found.exact is not None
    assert found.exact.ids == ("a", "b")
    none = observe_trace(folder.spec(), folder.root / "none", TraceRequest(chosen=("a",), max_bytes=10))
    assert none.exact is None
    assert none.weights is not None


def test_a_sample_that_comes_out_otherwise_is_not_kept(folder: CaseFolder):
    """Its inputs are not those that were observed."""
    request = TraceRequest(chosen=("a", "b"), digests={"a": "0" * 64}, max_bytes=10_000)
    found = observe_trace(folder.spec(), folder.root / "trace", request)
    assert found.exact is not None
    assert found.exact.ids == ("b",)


def test_given_inputs_are_run_instead_of_prepared_ones(folder: CaseFolder):
    """No sample is loaded: activations are those of the given inputs."""
    first = trace(folder)
    for file in folder.samples_folder.iterdir():
        file.unlink()
    request = TraceRequest(exact=first.exact, exact_folder=str(folder.root / "trace"))
    again = observe_trace(folder.spec(), folder.root / "again", request)
    assert again.activations is not None
    assert first.activations is not None
    assert again.activations.file.sha256 == first.activations.file.sha256


def test_modules_tell_settings_and_calls_in_order(folder: CaseFolder):
    """Every module with its class and settings; the calls as they returned, the whole model last."""
    found = trace(folder)
    settings = {module.name: module.settings for module in found.modules}
    assert settings["bn"].startswith("BatchNorm1d(4, eps=1e-05")
    assert found.activations is not None
    assert found.activations.calls == ("conv", "bn", "head", "(model)")
    assert not any(module.is_training for module in found.modules)


def test_weights_are_told_apart_tensor_by_tensor(folder: CaseFolder):
    """One tensor moved: its digest alone is another, and it is no buffer."""
    before = trace(folder)
    after = trace(folder, place="BUILT", line="model.conv.weight.data[0, 0, 0] += 1e-3")
    assert before.weights is not None
    assert after.weights is not None
    changed = [
        (one.name, one.is_buffer)
        for one, other in zip(before.weights.tensors, after.weights.tensors, strict=True)
        if one.digest != other.digest
    ]
    assert changed == [("conv.weight", False)]
    buffers = {tensor.name for tensor in before.weights.tensors if tensor.is_buffer}
    assert buffers == {"bn.running_mean", "bn.running_var", "bn.num_batches_tracked"}


def test_a_healthy_model_behaves(folder: CaseFolder):
    """No chance, no state, no neighbours, everything loaded."""
    behaviour = trace(folder).behaviour
    assert behaviour is not None
    assert (behaviour.rerun_rel_l2, behaviour.seed_rel_l2) == (0.0, 0.0)
    assert behaviour.alone_rel_l2 is not None
    assert behaviour.alone_rel_l2 < 1e-6
    assert (behaviour.mutated, behaviour.unloaded, behaviour.untouched) == ((), (), ())
    assert (behaviour.train_calls, behaviour.draws) == ((), ())


def test_functional_dropout_is_noticed(folder: CaseFolder):
    """It is called as in training, and another seed gives another answer."""
    behaviour = trace(folder, place="FORWARD", line="x = F.dropout(x, 0.5)").behaviour
    assert behaviour is not None
    assert behaviour.train_calls == ("(model): dropout",)
    assert behaviour.seed_rel_l2 > 0.01
    assert behaviour.rerun_rel_l2 == 0.0


def test_a_drawn_number_is_noticed(folder: CaseFolder):
    """The function is named with the module that called it."""
    behaviour = trace(folder, place="FORWARD", line="x = x + torch.randn(x.shape)").behaviour
    assert behaviour is not None
    assert behaviour.draws == ("(model): randn",)


def test_a_clock_is_noticed(folder: CaseFolder):
    """What no seed reaches differs between two passes with one seed."""
    line = "import os; x = x + int.from_bytes(os.urandom(4), 'big') * 1e-9"
    behaviour = trace(folder, place="FORWARD", line=line).behaviour
    assert behaviour is not None
    assert behaviour.rerun_rel_l2 > 0


def test_a_mutated_buffer_is_named(folder: CaseFolder):
    """A forward pass that changes the state dict leaves another model behind."""
    behaviour = trace(folder, place="FORWARD", line="self.bn.running_mean += 0.1").behaviour
    assert behaviour is not None
    assert behaviour.mutated == ("bn.running_mean",)


def test_neighbours_in_the_batch_are_noticed(folder: CaseFolder):
    """Alone and among others, the answers are apart."""
    behaviour = trace(folder, place="FORWARD", line="x = x - x.mean(0, keepdim=True) / 2").behaviour
    assert behaviour is not None
    assert behaviour.alone_rel_l2 is not None
    assert behaviour.alone_rel_l2 > 0.01


def test_weights_that_no_seed_pins_are_named(folder: CaseFolder):
    """Built from another seed they come out otherwise: nothing was loaded into them."""
    folder.write("model.py", NET.replace("torch.manual_seed(5)", "pass"))
    request = TraceRequest(chosen=("a",), max_bytes=10_000)
    behaviour = observe_trace(folder.spec(), folder.root / "trace", request).behaviour
    assert behaviour is not None
    assert {"conv.weight", "head.weight"} <= set(behaviour.unloaded)


def test_running_statistics_of_a_new_module_are_named(folder: CaseFolder):
    """Mean zero and variance one: no checkpoint had the buffers."""
    behaviour = trace(folder, place="BUILT", line="model.bn.reset_running_stats()").behaviour
    assert behaviour is not None
    assert behaviour.untouched == ("bn.running_mean", "bn.running_var")


def test_train_mode_is_seen_while_the_model_runs(folder: CaseFolder):
    """A model that puts itself back in train mode after eval()."""
    found = trace(folder, place="FORWARD", line="self.train()")
    trained = {module.name for module in found.modules if module.is_training}
    assert "head" in trained


def test_a_model_that_cannot_run_alone_leaves_the_rest(folder: CaseFolder):
    """Weights and inputs are there, and the fault says why the model is not watched."""
    found = trace(folder, place="FORWARD", line="assert x.shape[0] > 1, 'alone'")
    assert "alone" in found.model_fault
    assert found.weights is not None
    assert found.activations is None


def test_sources_of_the_project_are_digested(folder: CaseFolder):
    """An edit changes the digest of that file and of no other."""
    before = {source.file: source.sha256 for source in trace(folder).sources}
    after = {source.file: source.sha256 for source in trace(folder, place="BUILT", line="pass").sources}
    assert set(before) == {"model.py"}
    assert before["model.py"] != after["model.py"]


def test_a_plain_callable_has_behaviour_and_no_weights(folder: CaseFolder):
    """Without modules there is nothing to watch, and it can be run again all the same."""
    folder.write("model.py", "def build():\n    return lambda x: x * 2\n")
    found = observe_trace(
        folder.spec(), folder.root / "trace", TraceRequest(chosen=("a", "b"), max_bytes=10_000)
    )
    assert found.weights is None
    assert found.modules == ()
    assert found.behaviour is not None
    assert found.behaviour.alone_rel_l2 == 0.0


def test_global_state_is_as_before(folder: CaseFolder):
    """Hooks, modes and generators are the user's again afterwards."""
    torch.manual_seed(1)
    random.seed(1)
    before = torch.get_rng_state(), random.getstate()
    trace(folder)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]


def test_another_runtime_is_traced_in_eager_mode(folder: CaseFolder):
    """Modules can be watched nowhere else; the exported model's weights are the model's."""
    found = trace(folder, runtime=RuntimeSpec(kind="export"))
    assert found.activations is not None
    assert found.weights == trace(folder).weights


def test_tables_have_a_row_a_call_and_sample(folder: CaseFolder, tmp_path: Path):
    """Axes are (sample and call, column)."""
    found = trace(folder)
    assert found.activations is not None
    rows = len(found.activations.samples) * len(found.activations.calls)
    table = read_trace(folder.root / "trace", found.activations.file, (rows, found.activations.n_columns))
    assert np.isfinite(table).all()


LOADS = """

def load():
    model = build()
    state = torch.load("{path}")
    model.load_state_dict({given}, strict=False)
    return model
"""


def trace_loading(folder: CaseFolder, given: str) -> Any:
    """Return the behaviour of a factory that seeds and loads by itself."""
    path = folder.root / "v1.pt"
    weights = {"conv.weight": (4, 2, 3), "conv.bias": (4,), "head.weight": (3, 4), "head.bias": (3,)}
    torch.save({name: torch.full(shape, 0.5) for name, shape in weights.items()}, path)
    folder.write("model.py", NET + LOADS.format(path=path.as_posix(), given=given))
    request = TraceRequest(chosen=("a", "b", "c"), max_bytes=10_000)
    return observe_trace(folder.spec(model="model:load"), folder.root / "trace", request).behaviour


def test_what_a_factory_loads_is_not_as_it_makes_it(folder: CaseFolder):
    """Only what the file lacks is, whatever seed the factory sets."""
    found = trace_loading(folder, "state")
    assert set(found.initial) == {
        f"bn.{name}" for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    }
    assert (found.strays, found.n_loads, found.unloaded) == ((), 1, ())


def test_keys_that_fit_nothing_leave_all_as_the_factory_makes_it(folder: CaseFolder):
    """Constants too: a normalisation's ones and zeros."""
    found = trace_loading(folder, "{'module.' + name: value for name, value in state.items()}")
    assert len(found.initial) == 9
    assert found.strays[0].startswith("module.")


def test_a_factory_that_loads_nothing_is_told_by_its_seeds(folder: CaseFolder):
    """All of it is from a seed of its own, which a build from another seed does not show."""
    found = trace(folder).behaviour
    assert found is not None
    assert found.unloaded == ()
    assert found.initial is not None
    assert len(found.initial) == 9


ATTENTION = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = nn.MultiheadAttention(2, 1, batch_first=True)

    def forward(self, x):
        x = x.transpose(1, 2)
        mask = x[:, :, 0] < 1e9
        return self.attend(x, x, x, key_padding_mask=mask, need_weights=False)[0].mean(1)


def build():
    torch.manual_seed(5)
    return Net()
"""


def test_rows_of_nan_are_the_same_alone_and_in_a_batch(folder: CaseFolder):
    """All of a sample masked: watched passes take another kernel, which answers otherwise there."""
    folder.write("model.py", ATTENTION)
    behaviour = trace(folder).behaviour
    assert behaviour is not None
    assert (behaviour.rerun_rel_l2, behaviour.seed_rel_l2) == (0.0, 0.0)
    assert behaviour.alone_rel_l2 is not None
    assert behaviour.alone_rel_l2 < 1e-5


def test_a_neighbour_that_spoils_a_sample_is_still_found(folder: CaseFolder):
    """Just inside: NaN in the batch and not alone is a dependence on it."""
    behaviour = trace(folder, place="FORWARD", line="x = x / float(len(x) == 1 or 'nan')").behaviour
    assert behaviour is not None
    assert behaviour.alone_rel_l2 == float("inf")


def test_code_and_what_it_reads_are_kept_by_side(folder: CaseFolder, monkeypatch: pytest.MonkeyPatch):
    """What serves the model and what serves its inputs, followed through imports; no value is kept."""
    monkeypatch.setenv("PREPARE_SCALE", "17")
    monkeypatch.setenv("PREPARE_TOKEN", "abc")
    monkeypatch.delenv("NET_SCALE", raising=False)
    folder.write("pack/__init__.py", "from pack.data import prepare\nfrom pack.shapes import SIZE\n")
    folder.write("pack/shapes.py", "SIZE = 3\n")
    folder.write("conf/pre.json", "{}")
    folder.write("notes.txt", "not read")
    folder.write(
        "pack/data.py",
        """
        import os
        from pathlib import Path
        from .shapes import SIZE

        TEXT = (Path(__file__).parents[1] / "conf" / "pre.json").read_text()
        SCALE = float(os.environ["PREPARE_SCALE"])
        TOKEN = os.getenv("PREPARE_TOKEN")


        def prepare(sample):
            return sample * SCALE
        """,
    )
    used = "\nimport os\nfrom pack import shapes\nSCALE = os.environ.get('NET_SCALE', '1')\n"
    folder.write("model.py", NET + used)
    request = TraceRequest(chosen=("a",), max_bytes=10_000)
    found = observe_trace(folder.spec(preprocess="pack:prepare"), folder.root / "trace", request)
    assert {source.file: source.sides for source in found.sources} == {
        "model.py": ("model",),
        "pack/__init__.py": ("model", "preprocess"),
        "pack/data.py": ("preprocess",),
        "pack/shapes.py": ("model", "preprocess"),
    }
    assert found.reads is not None
    assert [(each.file, each.sides) for each in found.reads.data_files] == [
        ("conf/pre.json", ("preprocess",))
    ]
    states = {each.name: (each.state, each.sides) for each in found.reads.variables}
    assert states["NET_SCALE"] == ("", ("model",))
    assert states["PREPARE_TOKEN"] == ("set", ("preprocess",))
    assert len(states["PREPARE_SCALE"][0]) == 3
