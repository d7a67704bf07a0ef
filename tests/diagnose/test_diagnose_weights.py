"""Weights against the golden's: which changed, how far, and whether they were loaded at all."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.diagnose.weights import explain_weights
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.trace import Behaviour
from tests.diagnose.conftest import Bench, Side

MANY = {f"layer{number}.weight": np.random.default_rng(number).normal(size=500) for number in range(8)}


def test_equal_weights_are_no_cause(bench: Bench):
    """Equal tensors give no finding, whatever else changed."""
    assert explain_weights(bench.drift(Side(), Side(sources={"net.py": "2" * 64}))) == []


def test_one_changed_tensor_is_named_with_its_size(bench: Bench):
    """The tensor, the number of all tensors and the estimated size are in the finding."""
    changed = {**Side().weights, "conv.weight": np.arange(24.0) * 1.01}
    (finding,) = explain_weights(bench.drift(Side(), Side(weights=changed)))
    assert finding.cause is Cause.WEIGHTS_CHANGED
    assert list(finding.evidence["changed"]) == ["conv.weight"]
    assert 0.005 < finding.evidence["changed"]["conv.weight"] < 0.02
    assert "1 of 2 tensors" in finding.summary
    assert finding.confidence > 0.9


def test_a_change_too_small_for_the_drift_is_told_with_little_confidence(bench: Bench):
    """Weights that moved by 1e-9 do not explain a drift of 0.3."""
    changed = {**Side().weights, "conv.weight": np.arange(24.0) * (1 + 1e-9)}
    (finding,) = explain_weights(bench.drift(Side(), Side(weights=changed)))
    assert finding.confidence < 0.5


def test_renamed_tensors_are_no_change_of_values(bench: Bench):
    """A prefix moves no number: the pairs are evidence, the confidence is low."""
    renamed = {f"module.{name}": array for name, array in Side().weights.items()}
    (finding,) = explain_weights(bench.drift(Side(), Side(weights=renamed)))
    assert finding.confidence < 0.2
    assert ["conv.weight", "module.conv.weight"] in finding.evidence["renamed"]
    assert finding.evidence["missing"] == []


def test_missing_and_unexpected_tensors_are_named(bench: Bench):
    """A layer that is gone and one that is new are both listed."""
    other = {"bn.running_mean": np.ones(4), "extra.weight": np.ones(3)}
    (finding,) = explain_weights(bench.drift(Side(), Side(weights=other)))
    assert finding.evidence["missing"] == ["conv.weight"]
    assert finding.evidence["unexpected"] == ["extra.weight"]


def test_another_shape_is_named_as_such(bench: Bench):
    """A tensor of another shape has no size of change."""
    other = {**Side().weights, "conv.weight": np.arange(12.0)}
    (finding,) = explain_weights(bench.drift(Side(), Side(weights=other)))
    assert finding.evidence["reshaped"] == ["conv.weight"]
    assert finding.evidence["changed"] == {}


def test_moved_buffers_point_to_train_mode(bench: Bench):
    """Where nothing but running statistics changed, the sentence says what moves them."""
    moved = {**Side().weights, "bn.running_mean": np.full(4, 0.7)}
    (finding,) = explain_weights(bench.drift(Side(), Side(weights=moved)))
    assert "forward pass in train mode" in finding.summary


def test_rounding_to_half_precision_is_recognised(bench: Bench):
    """Many tensors that changed by as much as float16 rounds are told as such."""
    rounded = {name: array.astype(np.float16).astype(np.float64) for name, array in MANY.items()}
    (finding,) = explain_weights(bench.drift(Side(weights=MANY), Side(weights=rounded)))
    assert "rounding to float16" in finding.summary


def test_retrained_weights_are_not_called_rounded(bench: Bench):
    """A change of a tenth is no rounding."""
    other = {name: array * 1.1 for name, array in MANY.items()}
    (finding,) = explain_weights(bench.drift(Side(weights=MANY), Side(weights=other)))
    assert "rounding" not in finding.summary


def test_weights_that_depend_on_the_seed_were_not_loaded(bench: Bench):
    """Built from another seed they come out otherwise, and the golden's did not."""
    changed = {**Side().weights, "conv.weight": np.arange(24.0)[::-1]}
    now = Side(weights=changed, behaviour=Behaviour(unloaded=("conv.weight",)))
    (finding,) = explain_weights(bench.drift(Side(), now))
    assert finding.cause is Cause.WEIGHTS_NOT_LOADED
    assert finding.evidence["tensors"] == ["conv.weight"]


def test_a_model_that_never_loaded_weights_is_not_blamed_for_it(bench: Bench):
    """Where the golden's weights came from the seed too, that is how the model is made."""
    random = Behaviour(unloaded=("conv.weight",))
    changed = {**Side().weights, "conv.weight": np.arange(24.0) + 1}
    (finding,) = explain_weights(bench.drift(Side(behaviour=random), Side(weights=changed, behaviour=random)))
    assert finding.cause is Cause.WEIGHTS_CHANGED


def test_running_statistics_of_a_new_module_were_left_out(bench: Bench):
    """Mean zero and variance one where the golden had others: the buffers were not loaded."""
    fresh = {**Side().weights, "bn.running_mean": np.zeros(4)}
    now = Side(weights=fresh, behaviour=Behaviour(untouched=("bn.running_mean",)))
    (finding,) = explain_weights(bench.drift(Side(), now))
    assert finding.cause is Cause.WEIGHTS_NOT_LOADED
    assert "buffers" in finding.summary


def test_statistics_that_a_random_pass_moved_were_loaded(bench: Bench):
    """Only buffers depend on the seed: the factory ran the model in train mode on random numbers."""
    moved = {**Side().weights, "bn.running_mean": np.full(4, 0.7)}
    now = Side(weights=moved, behaviour=Behaviour(unloaded=("bn.running_mean",)))
    (finding,) = explain_weights(bench.drift(Side(), now))
    assert finding.cause is Cause.WEIGHTS_CHANGED
    assert "forward pass in train mode" in finding.summary


def test_a_golden_without_trace_says_only_that_weights_differ(bench: Bench):
    """The digest of all weights is there in every golden."""
    changed = {**Side().weights, "conv.weight": np.arange(24.0) + 1}
    (finding,) = explain_weights(bench.drift(Side(has_trace=False), Side(weights=changed)))
    assert finding.cause is Cause.WEIGHTS_CHANGED
    assert "keeps no trace" in finding.summary
    assert explain_weights(bench.drift(Side(has_trace=False), Side())) == []


LOADED = Behaviour(initial=(), n_loads=1)
BOTH = ("bn.running_mean", "conv.weight")


def test_constants_count_among_what_was_not_loaded(bench: Bench):
    """A bias of zeros is as the factory makes it, whatever the seed; the prefix that did it is named."""
    others = {"conv.weight": np.arange(24.0)[::-1], "bn.running_mean": np.zeros(4)}
    strays = tuple(f"module.{name}" for name in BOTH)
    behaviour = Behaviour(initial=BOTH, untouched=("bn.running_mean",), strays=strays, n_loads=1)
    (finding,) = explain_weights(
        bench.drift(Side(behaviour=LOADED), Side(weights=others, behaviour=behaviour))
    )
    assert finding.cause is Cause.WEIGHTS_NOT_LOADED
    assert finding.summary.startswith("2 of 2 tensors are not loaded")
    assert "begin with 'module.'" in finding.summary
    assert "buffers" not in finding.summary


def test_a_tensor_that_is_loaded_on_neither_side_is_not_counted(bench: Bench):
    """A mask that the factory makes is no news beside a head that was not loaded."""
    then = Side(behaviour=Behaviour(initial=("bn.running_mean",), n_loads=1))
    now = Side(
        weights={**Side().weights, "conv.weight": np.zeros(24)}, behaviour=Behaviour(initial=BOTH, n_loads=1)
    )
    (finding,) = explain_weights(bench.drift(then, now))
    assert finding.evidence["tensors"] == ["conv.weight"]


def test_weights_of_a_factory_that_never_loads_are_changed_and_not_unloaded(bench: Bench):
    """Just inside: from a golden that does not say, they may have come from a seed on both sides."""
    changed = {**Side().weights, "conv.weight": np.arange(24.0) * 1.2}
    now = Side(weights=changed, behaviour=Behaviour(initial=BOTH))
    (finding,) = explain_weights(bench.drift(Side(), now))
    assert finding.cause is Cause.WEIGHTS_CHANGED


def test_one_tensor_is_told_in_the_singular(bench: Bench):
    """With the name of the measure that says how far."""
    other = {"bn.running_mean": np.ones(4) * 1.1}
    (finding,) = explain_weights(bench.drift(Side(), Side(weights=other)))
    assert "1 is gone (conv.weight)" in finding.summary
    assert "by a rel_l2 of about 0.1 at most" in finding.summary
