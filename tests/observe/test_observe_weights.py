"""Weights: all of them or an error, and a digest of what was loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.domain.errors import CheckpointError, ModelError
from pytest_modelreg.observe.weights import digest_weights, examine_weights, load_weights

torch = pytest.importorskip("torch")
nn = torch.nn


class Tied(nn.Module):
    """Input and output embedding are one parameter; a buffer that is not saved."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(4, 3)
        self.head = nn.Linear(3, 4, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scratch", torch.zeros(2), persistent=False)


def build() -> Any:
    """Build a model with a buffer of every sort."""
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


@pytest.fixture
def load(tmp_path: Path):
    """Save a state dict and load it into a model."""

    def save_and_load(model: Any, state: Any) -> Any:
        path = tmp_path / "v1.pt"
        torch.save(state, path)
        load_weights(model, CheckpointRef(path=str(path)), case="toy[reference]")
        return model

    return save_and_load


def test_fitting_weights_are_loaded(load):
    """Afterwards the model has the checkpoint's weights, to the bit."""
    source = build()
    assert digest_weights(load(build(), source.state_dict())) == digest_weights(source)


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod."])
def test_wrapper_prefixes_are_understood(load, prefix):
    """DataParallel and torch.compile put a prefix before every name."""
    source = build()
    state = {prefix + name: value for name, value in source.state_dict().items()}
    assert digest_weights(load(build(), state)) == digest_weights(source)


def test_a_model_whose_own_names_begin_so_keeps_them(load):
    """A submodule may be called module."""
    source = nn.Sequential()
    source.add_module("module", nn.Linear(2, 2))
    target = nn.Sequential()
    target.add_module("module", nn.Linear(2, 2))
    assert digest_weights(load(target, source.state_dict())) == digest_weights(source)


def test_a_prefix_on_some_names_only_is_no_wrapper(load):
    """Half a match is a fault to be told, not to be repaired."""
    state = dict(build().state_dict())
    state["module.0.weight"] = state.pop("0.weight")
    with pytest.raises(CheckpointError, match=r"missing in the checkpoint: 0\.weight"):
        load(build(), state)


def test_missing_unexpected_and_unequal_are_one_message(load):
    """Never a silent partial load: every key that does not fit is named."""
    state = dict(build().state_dict())
    del state["1.running_mean"]
    state["1.extra"] = torch.zeros(1)
    state["0.weight"] = torch.zeros(4, 5)
    with pytest.raises(CheckpointError) as caught:
        load(build(), state)
    message = str(caught.value)
    assert "1 missing in the checkpoint: 1.running_mean" in message
    assert "1 unexpected in the checkpoint: 1.extra" in message
    assert "1 of another shape: 0.weight (model [4, 3], checkpoint [4, 5])" in message
    assert "v1.pt" in message
    assert "save model.state_dict() of this architecture, or name the factory that built it" in message


def test_long_lists_are_capped_with_their_totals(load):
    """A checkpoint of another model must not print a thousand names."""
    model = nn.Sequential(*[nn.Linear(1, 1) for _ in range(20)])
    with pytest.raises(CheckpointError) as caught:
        load(model, {f"other.{index}": torch.zeros(1) for index in range(30)})
    message = str(caught.value)
    assert "40 missing in the checkpoint" in message
    assert "and 20 more" in message
    assert "30 unexpected in the checkpoint" in message
    assert "and 10 more" in message


def test_tied_weights_may_be_saved_once(load):
    """safetensors refuses to hold one tensor under two names."""
    source = Tied()
    state = dict(source.state_dict())
    del state["head.weight"]
    model = load(Tied(), state)
    assert torch.equal(model.head.weight, source.embed.weight)


def test_untied_weights_may_not(load):
    """The same names on a model that does not tie them are missing."""
    model = Tied()
    model.head.weight = nn.Parameter(torch.zeros(4, 3))
    state = dict(Tied().state_dict())
    del state["head.weight"]
    with pytest.raises(CheckpointError, match=r"1 missing in the checkpoint: head\.weight"):
        load(model, state)


def test_a_plain_callable_takes_no_checkpoint(load):
    """Weights that go nowhere would be a silent nothing."""
    with pytest.raises(CheckpointError, match=r"expected the model to be a torch\.nn\.Module, got function"):
        load(lambda x: x, build().state_dict())


def test_a_hook_that_raises_is_told(load):
    """The model's own loading code is user code."""

    class Broken(nn.Linear):
        def _load_from_state_dict(self, *args, **kwargs):
            raise KeyError("scale")

    with pytest.raises(CheckpointError, match="KeyError: 'scale'"):
        load(Broken(3, 4), nn.Linear(3, 4).state_dict())


def test_digest_sees_every_bit_name_and_dtype():
    """Two digests are equal only for equal weights."""
    torch.manual_seed(0)
    model = nn.Linear(3, 4)
    digests = {digest_weights(model), digest_weights(nn.Sequential(model)), digest_weights(model.double())}
    with torch.no_grad():
        model.weight[0, 0] = torch.nextafter(model.weight[0, 0], torch.tensor(9.0, dtype=torch.float64))
    digests.add(digest_weights(model))
    digests.add(digest_weights(model.to(torch.bfloat16)))
    assert len(digests) == 5


def test_digest_of_a_plain_callable_is_none():
    """There are no weights to speak of."""
    assert digest_weights(lambda x: x) is None


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_a_lazy_module_is_refused_with_what_to_do():
    """Weights without values have no digest."""
    model = nn.LazyLinear(3)
    with pytest.raises(ModelError, match="call the model once in its factory"):
        digest_weights(model)


@pytest.mark.filterwarnings("ignore")
def test_packed_parameters_of_quantised_layers_are_digested():
    """A dynamically quantised layer keeps its weights in a tuple."""
    torch.manual_seed(0)
    try:
        model, other = (
            torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 4)), {nn.Linear})
            for _ in range(2)
        )
    except (RuntimeError, AttributeError) as error:
        pytest.skip(f"this torch cannot quantise: {error}")
    assert digest_weights(model) != digest_weights(other)


class Scaled(nn.Module):
    """Keeps what it multiplies by beside its tensors."""

    def __init__(self, extra: Any) -> None:
        super().__init__()
        self.extra = extra

    def get_extra_state(self) -> Any:
        """Return what is saved beside the tensors."""
        return self.extra


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2.0, 3.0),
        (1, True),
        ("a", "b"),
        (b"a", b"b"),
        (None, ""),
        (None, ()),
        ({"scale": 2.0}, {"scale": 3.0}),
        ({"a": {"b": [1]}}, {"a": {"b": [2]}}),
        ({1: "x"}, {"1": "x"}),
        ({"a": torch.ones(2)}, {"a": torch.zeros(2)}),
        (torch.float32, torch.float16),
        (np.float32(1), np.float32(2)),
    ],
)
def test_whatever_a_state_dict_holds_is_digested(one, other):
    """Planted fault: two checkpoints that differ in an extra state alone are two models."""
    assert digest_weights(Scaled(one)) != digest_weights(Scaled(other))
    assert examine_weights(Scaled(one))[1]


def test_the_order_of_a_dict_does_not_count():
    """Just inside: the same entries put in another order are the same model."""
    assert digest_weights(Scaled({"a": 1, "b": 2})) == digest_weights(Scaled({"b": 2, "a": 1}))


@pytest.mark.parametrize("extra", [object(), {"a": [object()]}, {object(): 1}])
def test_what_cannot_be_digested_is_told(extra):
    """The digest is the same at every reading, and says that it is not whole."""
    assert examine_weights(Scaled(extra)) == examine_weights(Scaled(extra))
    assert not examine_weights(Scaled(extra))[1]


def test_the_digest_of_tensors_alone_stays():
    """Goldens hold it: it never changes for a model of plain tensors."""
    model = nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 2.0]]))
        model.bias.fill_(3.0)
    assert digest_weights(model) == "5aed71fe6cf4a449ccf669b83deed58ea0c169d7e84792a8954192a676ae1bcf"


def test_a_stripped_prefix_is_told(tmp_path: Path):
    """Loaded under other names than its own; one that fits tells nothing."""
    path = tmp_path / "v1.pt"
    torch.save({f"module.{name}": value for name, value in build().state_dict().items()}, path)
    (note,) = load_weights(build(), CheckpointRef(path=str(path)), case="toy[reference]")
    assert note.startswith(
        "all keys of the checkpoint begin with 'module.', which torch.nn.DataParallel puts"
    )
    torch.save(build().state_dict(), path)
    assert load_weights(build(), CheckpointRef(path=str(path)), case="toy[reference]") == ()


def test_any_other_prefix_is_an_error_that_names_it(load):
    """What it means is not known: it may be one of two models in the file."""
    state = {f"student.{name}": value for name, value in build().state_dict().items()}
    with pytest.raises(CheckpointError, match=r"all of the checkpoint's keys begin with 'student\.', which"):
        load(build(), state)
