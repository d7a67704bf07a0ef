"""Seeds: the same numbers for a sample and a pass in every run, and whether any were drawn."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from pytest_modelreg.observe.seeding import DrawWatch, seed_generators

torch = pytest.importorskip("torch")

DRAWS = {
    "python": random.random,
    "numpy": np.random.rand,
    "torch": lambda: torch.rand(1),
    "own seed": lambda: np.random.seed(1),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_is_noticed(name):
    """Of each generator; setting a seed of one's own counts, because it may be a random one."""
    watch = DrawWatch()
    seed_generators(7)
    DRAWS[name]()
    assert watch.has_drawn(7)


def test_no_draw_is_no_draw():
    """Just inside: also when asked again, and after another seed was tried."""
    watch = DrawWatch()
    for seed in (3, 3, 4):
        seed_generators(seed)
        assert not watch.has_drawn(seed)
    seed_generators(1)
    assert watch.has_drawn(2)


def test_seeding_a_sample_is_cheap():
    """Seeding and asking once a sample stay far below what decoding the smallest photo takes."""
    watch = DrawWatch()
    watch.has_drawn(1)
    best = min(measure(watch) for _ in range(5))
    assert best < 100e-6


def measure(watch) -> float:
    """Return seconds for seeding and asking once."""
    started = time.perf_counter()
    for _ in range(100):
        seed_generators(1)
        watch.has_drawn(1)
    return (time.perf_counter() - started) / 100


def test_every_sample_has_a_seed_of_its_own(torch_case):
    """What a sample gets does not depend on how many were drawn for before it, nor on batch size.

    And a coin falls to either side: with one seed for all, a flip left in could pass for none.
    """
    torch_case.write(
        "model.py",
        """
        import numpy as np, random, torch

        def prepare(x):
            if x[0] == 0:
                torch.rand(3), random.random(), np.random.rand(2)
            return torch.tensor([random.random(), np.random.rand(), float(torch.rand(1))])

        def build():
            return lambda x: {"x": x, "noise": torch.rand(1).expand(len(x))}
        """,
    )
    torch_case.observe(preprocess="model:prepare", batch_size=1)
    one = torch_case.observe(preprocess="model:prepare", batch_size=1)
    rows = torch_case.rows(one, "x")
    assert len({tuple(row.tolist()) for row in rows}) == len(rows)
    noise = torch_case.rows(one, "noise")
    assert len({float(row) for row in noise}) == 1
    three = torch_case.observe(preprocess="model:prepare", batch_size=3)
    assert three.samples == one.samples
    assert [float(row) for row in torch_case.rows(three, "noise")] == [float(row) for row in noise]
