"""Pipelines: taken apart only where applying the parts is the very same as calling the whole."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.observe.preprocess import Preprocess
from pytest_modelreg.observe.stage_description import MAX_LENGTH, describe_stage, name_stage
from pytest_modelreg.observe.stages import split_pipeline

torch = pytest.importorskip("torch")


def double(x):
    """Double a number."""
    return x * 2


def add(x, term=1):
    """Add a term."""
    return x + term


class PlainCompose:
    """A Compose as everybody writes it."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, data):
        """Apply all in turn."""
        for stage in self.transforms:
            data = stage(data)
        return data


class SkippingCompose(PlainCompose):
    """Not all that it does is calling one after the other."""

    def __call__(self, data):
        """Apply all but the first in turn."""
        for stage in self.transforms[1:]:
            data = stage(data)
        return data


def logged(function):
    """Decorate with something that changes the answer."""

    @functools.wraps(function)
    def wrapper(self, data):
        return function(self, data) + 1000

    return wrapper


class DecoratedCompose(PlainCompose):
    """Its source is the plain loop, its behaviour is not."""

    @logged
    def __call__(self, data):
        """Apply all in turn, as it seems."""
        for stage in self.transforms:
            data = stage(data)
        return data


class Sequence(torch.nn.Sequential):
    """A Sequential with a forward of its own."""

    def forward(self, x):
        """Call it twice."""
        return super().forward(super().forward(x))


def names(found):
    """Return the names of a pipeline's stages."""
    return [stage.name for stage in split_pipeline(found)]


def test_lists_are_pipelines_and_nested_ones_are_flattened():
    """A Compose inside a Compose inside a tuple is one row of stages."""
    found = (double, PlainCompose([add, PlainCompose([double])]), torch.nn.Sequential(torch.nn.ReLU()))
    assert names(found) == ["double", "add", "double", "ReLU"]


@pytest.mark.parametrize(
    "found",
    [
        double,
        functools.partial(add, term=2),
        torch.nn.ReLU(),
        SkippingCompose([add, double]),
        DecoratedCompose([add, double]),
        Sequence(torch.nn.ReLU()),
        PlainCompose([]),
        PlainCompose,
    ],
)
def test_what_is_not_known_to_be_a_chain_is_one_callable(found):
    """A function, and every Compose that does more, less or otherwise than calling its parts in turn."""
    assert split_pipeline(found) == ()


def test_hooks_make_a_sequential_opaque():
    """A hook may change what is returned, and calling the parts would pass it by."""
    pipeline = torch.nn.Sequential(torch.nn.ReLU())
    assert names(pipeline) == ["ReLU"]
    pipeline.register_forward_hook(lambda module, given, returned: returned + 1)
    assert names(pipeline) == []


def test_torchvision_of_both_generations_is_taken_apart():
    """Compose, and Compose in Compose; what chooses among its parts is one stage."""
    transforms = pytest.importorskip("torchvision.transforms")
    chooser = transforms.RandomApply([transforms.CenterCrop(2)])
    pipeline = transforms.Compose(
        [transforms.Resize(4), chooser, transforms.Compose([transforms.ToTensor()])]
    )
    assert names(pipeline) == ["Resize", "RandomApply", "ToTensor"]
    v2 = pytest.importorskip("torchvision.transforms.v2")
    assert names(v2.Compose([v2.Resize(4), v2.Compose([v2.CenterCrop(2)])])) == ["Resize", "CenterCrop"]


def test_torchvision_subclass_with_a_call_of_its_own_is_opaque():
    """What it does is not known."""
    transforms = pytest.importorskip("torchvision.transforms")

    class Twice(transforms.Compose):
        def __call__(self, image):
            return super().__call__(super().__call__(image))

    assert names(Twice([double])) == []
    assert names(type("Same", (transforms.Compose,), {})([double])) == ["double"]


@pytest.mark.filterwarnings("ignore:The transform `ToTensor:UserWarning")
@pytest.mark.parametrize("generation", ["transforms", "transforms.v2"])
def test_stage_by_stage_is_the_same_as_the_whole(generation):
    """Bit by bit, on an image through resize, crop, conversion and normalisation."""
    image = pytest.importorskip("PIL.Image").fromarray(
        np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    )
    t = pytest.importorskip(f"torchvision.{generation}")
    pipeline = t.Compose([t.Resize(20), t.CenterCrop(16), t.ToTensor(), t.Normalize([0.5] * 3, [0.2] * 3)])
    seen = []
    staged = Preprocess(pipeline, reference="m:f", to_tensors=True)
    result = staged(image, sample_id="a", watch=lambda index, value: seen.append(index))
    assert torch.equal(result, pipeline(image))
    assert seen == [0, 1, 2]


@given(st.lists(st.sampled_from([double, add, float, abs]), min_size=1, max_size=6), st.integers(-9, 9))
def test_any_chain_of_functions_is_the_same_as_its_compose(functions, number):
    """Law: list, Compose and Sequential-like nesting give one result."""
    whole = PlainCompose(functions)(number)
    for found in (functions, PlainCompose(functions), [PlainCompose(functions[:1]), *functions[1:]]):
        assert Preprocess(found, reference="m:f", to_tensors=False)(number, sample_id="a") == whole


def test_descriptions_are_the_same_in_every_run():
    """Functions by where they are, partials with their arguments, objects without addresses."""
    assert describe_stage(double) == f"{__name__}:double"
    text = describe_stage(functools.partial(add, 1, term=2))
    assert text == f"functools.partial({__name__}:add, 1, term=2)"
    assert "0x" not in describe_stage(functools.partial(PlainCompose([double])))
    assert describe_stage(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.ReLU())).count("\n") == 0
    assert describe_stage(np.float32).endswith("float32")
    assert describe_stage(PlainCompose([1]).__call__) == f"{__name__}:PlainCompose.__call__"


def test_object_without_a_repr_is_described_by_its_settings():
    """A transform of one's own says what it is set to; caches and counters are left out."""
    stage = PlainCompose([1, 2])
    stage.size, stage._seen = 4, 17
    assert describe_stage(stage) == f"{__name__}:PlainCompose(size=4, transforms=[1, 2])"


def test_long_descriptions_are_cut():
    """One stage must not fill a golden."""
    assert len(describe_stage(PlainCompose(list(range(1000))))) == MAX_LENGTH


def test_names_are_short():
    """The class of an object, the function in a partial, the last part of a qualified name."""
    assert name_stage(functools.partial(functools.partial(add, 1), 2)) == "add"
    assert name_stage(PlainCompose([])) == "PlainCompose"
    assert name_stage(PlainCompose([]).__call__) == "__call__"


def test_stages_of_a_case_are_on_record(torch_case):
    """A row of digests a stage, 16 digits a sample; the last is the beginning of the input's."""
    torch_case.write(
        "prep.py",
        """
        import torch

        def double(x):
            return x * 2

        stages = [double, torch.from_numpy]
        tripled = [lambda x: x * 3, torch.from_numpy]
        """,
    )
    observation = torch_case.observe(preprocess="prep:stages")
    first, last = observation.stages
    assert (first.name, first.description, last.name) == ("double", "prep:double", "from_numpy")
    assert {len(digest) for digest in first.digests} == {16}
    assert last.digests == tuple(sample.input_digest[:16] for sample in observation.samples)
    other = torch_case.observe(preprocess="prep:tripled").stages
    assert not set(other[0].digests) & set(first.digests[1:])
    assert torch_case.observe(preprocess="prep:double").stages == ()
    assert torch_case.observe().stages == ()


def test_dropout_inside_a_compose_is_put_in_eval(torch_case):
    """Modules inside a Compose that is none itself are evaluated too, and restored."""
    pytest.importorskip("torchvision")
    torch_case.write(
        "prep.py",
        """
        import torch
        from torchvision.transforms import Compose

        noise = torch.nn.Dropout(0.5)
        stages = Compose([torch.from_numpy, noise])
        """,
    )
    torch_case.write("model.py", "import torch\n\ndef build():\n    return torch.nn.Identity()\n")
    observation = torch_case.observe(preprocess="prep:stages")
    rows = np.stack(torch_case.rows(observation, "output"))
    np.testing.assert_array_equal(rows, np.arange(15, dtype=np.float32).reshape(5, 3))
    assert observation.habits == ()


def test_stage_whose_repr_raises_is_an_error_of_the_case(toy_case):
    """User code may fail wherever it is called: the reference and the line are told."""
    toy_case.write(
        "prep.py",
        """
        class Broken:
            def __repr__(self):
                return self.size

            def __call__(self, x):
                return x

        stages = [Broken()]
        """,
    )
    with pytest.raises(PreprocessError, match=r"'prep:stages': describing its stages.*prep.py:4"):
        toy_case.observe(preprocess="prep:stages")
