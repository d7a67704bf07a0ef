"""Seeds: the same numbers in every sample and pass, and whether any were drawn."""

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
    seed_generators()
    DRAWS[name]()
    assert watch.has_drawn()


def test_no_draw_is_no_draw():
    """Just inside: also when asked again, and after another seed was tried."""
    watch = DrawWatch()
    for _ in range(3):
        seed_generators()
        assert not watch.has_drawn()
    seed_generators(1)
    assert watch.has_drawn()


def test_seeding_a_sample_is_cheap():
    """Seeding and asking once a sample stay far below what decoding the smallest photo takes."""
    watch = DrawWatch()
    watch.has_drawn()
    best = min(measure(watch) for _ in range(5))
    assert best < 100e-6


def measure(watch) -> float:
    """Return seconds for seeding and asking once."""
    started = time.perf_counter()
    for _ in range(100):
        seed_generators()
        watch.has_drawn()
    return (time.perf_counter() - started) / 100


def test_every_sample_and_pass_starts_from_one_seed(torch_case):
    """What a sample gets does not depend on how many were drawn for before it, nor on batch size."""
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
    assert rows[1].tolist() == rows[4].tolist()
    assert rows[0].tolist() != rows[1].tolist()
    noise = torch_case.rows(one, "noise")
    assert len({float(row) for row in noise}) == 1
    three = torch_case.observe(preprocess="model:prepare", batch_size=3)
    assert three.samples == one.samples
    assert [float(row) for row in torch_case.rows(three, "noise")] == [float(row) for row in noise]
