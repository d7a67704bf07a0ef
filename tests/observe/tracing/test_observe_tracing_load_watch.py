"""What is loaded while a model is built, and seeds that are not the factory's."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pytest_modelreg.observe.tracing.load_watch import LoadWatch, shifted_seeds

torch = pytest.importorskip("torch")
nn = torch.nn


class Tied(nn.Module):
    """One parameter under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(4, 3)
        self.head = nn.Linear(3, 4, bias=False)
        self.head.weight = self.embed.weight


def test_a_part_that_is_loaded_alone_is_found_in_the_whole():
    """A backbone from a file of its own, before it is put into the model."""
    watch = LoadWatch()
    with watch.watching():
        part = nn.Linear(2, 2)
        part.load_state_dict({"weight": torch.ones(2, 2), "extra": torch.ones(1)}, strict=False)
        model = nn.Sequential(part, nn.Linear(2, 1))
    assert watch.list_reached(model) == {"0.weight"}
    assert (list(watch.strays), watch.n_loads) == (["extra"], 1)


def test_a_tied_weight_is_reached_under_both_names():
    """It is saved once."""
    watch = LoadWatch()
    with watch.watching():
        model = Tied()
        model.load_state_dict({"embed.weight": torch.ones(4, 3)}, strict=False)
    assert watch.list_reached(model) == {"embed.weight", "head.weight"}


def test_loads_can_be_left_out():
    """The factory goes on as if all had fit, and weights are as it made them."""
    with LoadWatch(is_skipping=True).watching():
        model = nn.Linear(2, 2)
        before = model.weight.clone()
        missing, unexpected = model.load_state_dict({"weight": torch.ones(2, 2)})
    assert (missing, unexpected) == ([], [])
    assert torch.equal(model.weight, before)


def test_torch_is_as_before_afterwards():
    """Also when the factory raises."""
    load = nn.Module.load_state_dict
    with pytest.raises(ZeroDivisionError), LoadWatch().watching():
        _ = 1 / 0
    assert nn.Module.load_state_dict is load


def test_seeds_of_the_factory_are_others_inside_and_its_own_afterwards():
    """Of all three generators."""

    def draw() -> tuple[float, float, float]:
        random.seed(3)
        np.random.seed(3)
        torch.manual_seed(3)
        return random.random(), float(np.random.random_sample()), torch.rand(1).item()

    before = draw()
    with shifted_seeds():
        inside = draw()
    assert all(one != other for one, other in zip(before, inside, strict=True))
    assert draw() == before
