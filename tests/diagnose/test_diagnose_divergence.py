"""The first module at which two runs part."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.diagnose.divergence import compare_calls, find_divergence
from tests.diagnose.conftest import Bench, Side

CALLS = {"stem": np.linspace(1, 2, 400), "block": np.linspace(0, 1, 400), "head": np.linspace(-1, 1, 100)}


def test_the_first_module_that_differs_is_named(bench: Bench):
    """What follows it differs too, and is not named."""
    other = {**CALLS, "block": CALLS["block"] * 1.1, "head": CALLS["head"] * 1.3}
    found = find_divergence(bench.trace(Side(calls=CALLS)), bench.trace(Side(calls=other)))
    assert found is not None
    assert (found.module, found.n_same, found.n_calls) == ("block", 1, 3)
    assert found.before == 0.0
    assert 0.05 < found.after < 0.2


def test_rounding_is_no_divergence(bench: Bench):
    """Other kernels move the seventh digit."""
    other = {name: array * (1 + 3e-7) for name, array in CALLS.items()}
    assert find_divergence(bench.trace(Side(calls=CALLS)), bench.trace(Side(calls=other))) is None


def test_calls_are_paired_by_name(bench: Bench):
    """A module that only one side has moves no other."""
    other = {"new": np.ones(3), **CALLS}
    errors = dict(compare_calls(bench.trace(Side(calls=CALLS)), bench.trace(Side(calls=other))))
    assert errors == {"stem": 0.0, "block": 0.0, "head": 0.0}


def test_a_new_nan_is_a_divergence(bench: Bench):
    """What is not finite on one side only is infinitely far away."""
    other = {**CALLS, "head": np.where(CALLS["head"] > 0.9, np.nan, CALLS["head"])}
    found = find_divergence(bench.trace(Side(calls=CALLS)), bench.trace(Side(calls=other)))
    assert found is not None
    assert found.module == "head"
    assert found.after == np.inf


def test_a_folded_normalisation_is_no_divergence(bench: Bench):
    """What an exporter's convolution returns is what the normalisation after it returned."""
    calls = {"conv": np.linspace(1, 2, 400), "bn": np.linspace(-3, 1, 400), "head": np.linspace(-1, 1, 100)}
    graph = {"conv": calls["bn"], "head": calls["head"] * 1.5}
    then, now = bench.trace(Side(calls=calls)), bench.trace(Side(calls=graph))
    fused = find_divergence(then, now, may_be_fused=True)
    assert fused is not None
    assert (fused.module, fused.n_same) == ("head", 1)
    plain = find_divergence(then, now)
    assert plain is not None
    assert plain.module == "conv"
