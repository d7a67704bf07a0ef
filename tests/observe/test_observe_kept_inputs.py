"""Kept inputs: bit by bit and stride by stride what was prepared, or not kept at all."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from pytest_modelreg.domain.errors import EnvironmentUnavailable, PreprocessError
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.observe.handed_inputs import HandedInputs, read_handed_inputs, write_handed_inputs
from pytest_modelreg.observe.input_source import InputFacts, PreparedSample
from pytest_modelreg.observe.inputs import digest_sample
from pytest_modelreg.observe.kept_inputs import InputRecorder, ReplayedInputs

torch = pytest.importorskip("torch")

Pair = namedtuple("Pair", "left right")
FACTS = InputFacts(checklist={"x": 1})


def keep(folder, values, finish=True):
    """Record values; return what was handed over, at most one."""
    accepted = []
    recorder = InputRecorder(folder / "kept" / "1.bin", accepted.append)
    for index, value in enumerate(values):
        observed = ObservedSample(id=str(index), sha256="", input_digest=None)
        recorder.add(PreparedSample(observed=observed, value=value))
    if finish:
        recorder.finish(FACTS)
    recorder.close()
    return accepted


def replay(kept, start, stop):
    """Read samples back."""
    source = ReplayedInputs(kept)
    try:
        return [sample.value for sample in source.read(start, stop)]
    finally:
        source.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    st.lists(
        st.recursive(
            npst.arrays(
                st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_, np.complex64]),
                npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
            )
            | st.text(max_size=3)
            | st.binary(max_size=3)
            | st.none(),
            lambda child: (
                st.dictionaries(st.text(max_size=2), child, max_size=2)
                | st.lists(child, max_size=2)
                | st.tuples(child, child)
                | st.builds(Pair, child, child)
            ),
            max_leaves=4,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_any_structure_of_arrays_and_words_comes_back(tmp_path, values):
    """Law: type, structure, dtype, shape and bytes."""
    (kept,) = keep(tmp_path, values)
    back = replay(kept, 0, len(values))
    assert list(map(describe, back)) == list(map(describe, values))
    assert kept.facts is FACTS


def describe(value):
    """Return everything about a structure that must come back."""
    if isinstance(value, dict):
        return {key: describe(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value), [describe(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return type(value), value


LAYOUTS = {
    "contiguous": lambda: torch.arange(24.0).reshape(2, 3, 4),
    "channels last": lambda: torch.arange(24.0).reshape(3, 4, 2).permute(2, 0, 1),
    "window": lambda: torch.arange(240.0).reshape(2, 12, 10)[:, 2:5, 1:5],
    "scalar": lambda: torch.tensor(3.5),
    "empty": lambda: torch.empty(0, 4),
    "bfloat16": lambda: torch.arange(6.0).to(torch.bfloat16),
    "float16": lambda: torch.arange(6.0).to(torch.float16),
    "bool": lambda: torch.tensor([True, False]),
    "complex": lambda: torch.tensor([1 + 2j]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_tensors_come_back_with_the_order_of_their_axes(tmp_path, name):
    """A batch of channels-last tensors is channels last, and runs other kernels."""
    value = LAYOUTS[name]()
    (kept,) = keep(tmp_path, [value])
    (back,) = replay(kept, 0, 1)
    assert back.dtype == value.dtype
    assert torch.equal(back, value)
    assert digest_sample(back) == digest_sample(value)
    assert torch.stack([back, back]).stride() == torch.stack([value, value]).stride()


def test_arrays_seen_backwards_come_back(tmp_path):
    """BGR by a negative stride."""
    value = np.arange(24).reshape(2, 4, 3)[..., ::-1]
    (kept,) = keep(tmp_path, [value])
    np.testing.assert_array_equal(replay(kept, 0, 1)[0], value)


def test_every_reading_is_a_fresh_copy(tmp_path):
    """A model that works in place reaches nobody else's inputs."""
    (kept,) = keep(tmp_path, [np.ones(2), torch.ones(2)])
    for value in replay(kept, 0, 2):
        value += 1
    assert [value.tolist() for value in replay(kept, 0, 2)] == [[1, 1], [1, 1]]


def test_any_part_can_be_read(tmp_path):
    """Another case has another batch size."""
    (kept,) = keep(tmp_path, [np.full(index, index) for index in range(5)])
    assert [value.tolist() for value in replay(kept, 3, 5)] == [[3] * 3, [4] * 4]


class OwnTensor(torch.Tensor):
    """A tensor with a name for what it is."""


class DispatchingTensor(torch.Tensor):
    """A tensor that computes in its own way."""

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def fill(tensor):
    """Return a tensor that carries an object."""
    tensor.owner = object()
    return tensor


UNKEEPABLE = {
    "gradient": lambda: torch.ones(2, requires_grad=True),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "nobody's class": lambda: torch.ones(2).as_subclass(type("Local", (torch.Tensor,), {})),
    "dispatching": lambda: torch.ones(2).as_subclass(DispatchingTensor),
    "filled": lambda: fill(torch.ones(2).as_subclass(OwnTensor)),
    "sparse": lambda: torch.ones(2, 2).to_sparse(),
    "expanded": lambda: torch.ones(1, 2).expand(3, 2),
    "masked": lambda: np.ma.masked_array([1, 2], [True, False]),
    "structured": lambda: np.zeros(2, "f4,i4"),
    "nested": lambda: {"x": [np.ones(1), torch.ones(2, requires_grad=True)]},
}


@pytest.mark.parametrize("name", UNKEEPABLE)
def test_what_is_not_plain_is_not_kept(tmp_path, name):
    """The next case prepares its own, and nothing is left on disk."""
    assert keep(tmp_path, [np.ones(1), UNKEEPABLE[name](), np.ones(1)]) == []
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_tensor_class_is_kept(tmp_path):
    """With its plain attributes: collate and model may ask what a tensor is."""
    named = torch.arange(6.0).reshape(2, 3).T.as_subclass(OwnTensor)
    named.size_of_photo = (4, 5)
    (kept,) = keep(tmp_path, [named, np.ones(1)])
    back = replay(kept, 0, 1)[0]
    assert type(back) is OwnTensor
    assert (back.size_of_photo, back.stride()) == ((4, 5), named.stride())
    assert torch.equal(back.as_subclass(torch.Tensor), named.as_subclass(torch.Tensor))


def test_torchvision_tensors_are_kept(tmp_path):
    """What ToImage returns is the commonest input of all; boxes know their format."""
    tv = pytest.importorskip("torchvision.tv_tensors")
    image = tv.Image(torch.rand(3, 4, 5))
    boxes = tv.BoundingBoxes(torch.ones(1, 4), format="XYXY", canvas_size=(4, 5))
    (kept,) = keep(tmp_path, [{"image": image, "boxes": boxes}])
    back = replay(kept, 0, 1)[0]
    assert (type(back["image"]), type(back["boxes"])) == (tv.Image, tv.BoundingBoxes)
    assert torch.equal(back["image"], image)
    assert (back["boxes"].format, back["boxes"].canvas_size) == (boxes.format, (4, 5))


def test_another_process_gets_tensor_classes_that_it_can_import(tmp_path):
    """By name; what it cannot import is told, and what only this process knows is refused."""
    (kept,) = keep(tmp_path / "a", [torch.ones(2).as_subclass(OwnTensor)])
    write_handed_inputs(tmp_path / "index.json", kept)
    (sample,) = HandedInputs(read_handed_inputs(tmp_path / "index.json"), to_tensors=True).read(0, 1)
    assert type(sample.value) is OwnTensor
    text = (tmp_path / "index.json").read_text().replace(":OwnTensor", ":GoneTensor")
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(EnvironmentUnavailable, match="has no class GoneTensor"):
        read_handed_inputs(tmp_path / "index.json")
    named = torch.ones(2).as_subclass(OwnTensor)
    named.size_of_photo = (4, 5)
    (kept,) = keep(tmp_path / "b", [named])
    with pytest.raises(PreprocessError, match="OwnTensor with size_of_photo; return a plain tensor"):
        write_handed_inputs(tmp_path / "index.json", kept)


def test_what_is_interrupted_is_not_kept(tmp_path):
    """A case that failed midway leaves nothing half-kept."""
    assert keep(tmp_path, [np.ones(1)], finish=False) == []
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_folder_that_cannot_be_written_costs_no_case(tmp_path):
    """Keeping is a convenience."""
    (tmp_path / "kept").write_text("a file")
    assert keep(tmp_path, [np.ones(1)]) == []


def test_a_file_that_was_cut_short_is_an_error(tmp_path):
    """What is missing must not become whatever lay in memory."""
    (kept,) = keep(tmp_path, [torch.ones(100)])
    kept.file.write_bytes(kept.file.read_bytes()[:-1])
    with pytest.raises(PreprocessError, match="cut short; run again"):
        replay(kept, 0, 1)
