"""Mode, chance, the batch and the code of a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_modelreg.diagnose import Answer
from pytest_modelreg.diagnose.model import explain_batch, explain_chance, explain_code, explain_mode
from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.trace import Behaviour
from tests.diagnose.conftest import Bench, GivenReplay, Side

WITH_BN = {"(model)": "Net()", "bn": "BatchNorm2d(8, eps=1e-05)"}


def test_modules_in_train_mode_are_named(bench: Bench):
    """The module that computes otherwise in train mode comes first, not its parents."""
    now = Side(modules=WITH_BN, training=("(model)", "bn"))
    (finding,) = explain_mode(bench.drift(Side(modules=WITH_BN), now))
    assert finding.cause is Cause.MODEL_MODE
    assert "bn (BatchNorm2d)" in finding.summary
    assert finding.evidence["n_modules"] == 2


def test_a_model_that_always_ran_in_train_mode_is_not_blamed(bench: Bench):
    """What was so when the golden was recorded explains no drift."""
    side = Side(modules=WITH_BN, training=("bn",))
    assert explain_mode(bench.drift(side, side)) == []


def test_a_function_called_as_in_training_is_a_matter_of_mode(bench: Bench):
    """Functional dropout shows in no module's flag."""
    now = Side(behaviour=Behaviour(train_calls=("head: dropout",)))
    (finding,) = explain_mode(bench.drift(Side(), now))
    assert finding.evidence["functions"] == ["head: dropout"]


def test_another_answer_on_the_same_seed_is_nondeterminism(bench: Bench):
    """A clock, an own generator or kept state: the rerun differs."""
    (finding,) = explain_chance(bench.drift(Side(), Side(behaviour=Behaviour(rerun_rel_l2=0.01))))
    assert finding.cause is Cause.NONDETERMINISM
    assert finding.evidence["of"] == "model"
    assert finding.confidence > 0.9


def test_an_answer_that_depends_on_the_seed_names_what_draws(bench: Bench):
    """The function that drew is in the sentence."""
    now = Side(behaviour=Behaviour(seed_rel_l2=0.01, draws=("(model): randn",)))
    (finding,) = explain_chance(bench.drift(Side(), now))
    assert "randn" in finding.summary


def test_rounding_between_two_runs_is_no_chance(bench: Bench):
    """Threads that add in another order move the last bits: no finding."""
    now = Side(behaviour=Behaviour(rerun_rel_l2=3e-7, seed_rel_l2=3e-7))
    assert explain_chance(bench.drift(Side(), now)) == []


def test_a_model_that_always_drew_is_not_blamed(bench: Bench):
    """A golden recorded from a model that draws explains no drift by it."""
    side = Side(behaviour=Behaviour(seed_rel_l2=0.01))
    assert explain_chance(bench.drift(side, side)) == []


def test_state_moved_by_a_forward_pass_is_told(bench: Bench):
    """A counter that a pass changes makes later samples meet another model."""
    (finding,) = explain_chance(bench.drift(Side(), Side(behaviour=Behaviour(mutated=("n_calls",)))))
    assert finding.evidence["changed_by_forward"] == ["n_calls"]


def test_a_state_that_was_always_kept_is_doubted(bench: Bench):
    """Golden and run depend on what ran before: told, behind every cause that is sure."""
    side = Side(behaviour=Behaviour(rerun_rel_l2=0.02, mutated=("state",)))
    (finding,) = explain_chance(bench.drift(side, side))
    assert finding.cause is Cause.NONDETERMINISM
    assert finding.confidence == 0.5
    assert "and so did the golden's" in finding.summary
    assert "a forward pass changes state" in finding.summary


def test_rounding_on_both_sides_is_no_kept_state(bench: Bench):
    """Just inside: the last bits of two runs, then and now."""
    side = Side(behaviour=Behaviour(rerun_rel_l2=3e-7))
    assert explain_chance(bench.drift(side, side)) == []


def test_samples_that_influence_each_other_are_batch_dependence(bench: Bench):
    """Alone and among others apart, where the golden's were not."""
    now = Side(behaviour=Behaviour(alone_rel_l2=0.2))
    (finding,) = explain_batch(bench.drift(Side(), now), GivenReplay())
    assert finding.cause is Cause.BATCH_DEPENDENCE
    assert finding.confidence >= 0.9


def test_the_golden_s_batch_size_is_replayed(bench: Bench):
    """A model that always depended on its batch is held against another size: replayed at the golden's."""
    coupled = Behaviour(alone_rel_l2=0.2)
    drift = bench.drift(Side(behaviour=coupled), Side(behaviour=coupled, batch_size=1))
    replay = GivenReplay({"batch size 2": Answer(agrees=True, rel_l2=0.0, before=0.3)})
    (finding,) = explain_batch(drift, replay)
    assert finding.confidence > 0.95
    assert [change.batch_size for change in replay.asked] == [2]


def test_rounding_by_batch_size_is_no_dependence(bench: Bench):
    """Other kernels for other sizes give other last bits."""
    now = Side(behaviour=Behaviour(alone_rel_l2=9e-7), batch_size=1)
    replay = GivenReplay()
    assert explain_batch(bench.drift(Side(), now), replay) == []
    assert replay.asked == []


def test_a_changed_setting_is_told_by_what_changed_in_it(bench: Bench):
    """The module, the setting, and both values."""
    now = Side(modules={**WITH_BN, "bn": "BatchNorm2d(8, eps=0.01)"})
    (finding,) = explain_code(bench.drift(Side(modules=WITH_BN), now))
    assert finding.cause is Cause.MODEL_CODE
    assert "bn: BatchNorm2d: eps: 1e-05 -> 0.01" in finding.summary


def test_an_edited_file_is_named(bench: Bench):
    """Where no setting tells, the files of the project do."""
    (finding,) = explain_code(bench.drift(Side(), Side(sources={"net.py": "2" * 64})))
    assert finding.evidence["files"] == ["net.py"]
    assert finding.confidence < 0.9


def test_equal_code_is_no_cause(bench: Bench):
    """Nothing changed, nothing is said."""
    assert explain_code(bench.drift(Side(), Side())) == []


def test_a_setting_that_another_torch_does_not_name_is_no_change(bench: Bench):
    """A release that says `bias=True` of every normalisation has changed none."""
    then = Side(modules={"norm": "LayerNorm((4,), eps=1e-05)"}, facts={"torch.version": "1.13"})
    now = Side(modules={"norm": "LayerNorm((4,), eps=1e-05, bias=True)"}, facts={"torch.version": "2.14"})
    assert explain_code(bench.drift(then, now)) == []
    assert explain_code(bench.drift(replace(then, facts=now.facts), now)) != []


@pytest.mark.parametrize("other", ["LayerNorm((4,), eps=0.1)", "LayerNorm((8,), eps=1e-05)", "Identity()"])
def test_a_setting_that_both_torches_name_can_change(bench: Bench, other: str):
    """Its value, a plain setting, or the class."""
    then = Side(modules={"norm": "LayerNorm((4,), eps=1e-05)"}, facts={"torch.version": "1.13"})
    now = Side(modules={"norm": other}, facts={"torch.version": "2.14"})
    (finding,) = explain_code(bench.drift(then, now))
    assert finding.cause is Cause.MODEL_CODE


def test_a_file_that_only_the_other_environment_imports_is_not_edited(bench: Bench):
    """Which files are imported may depend on it; of a revision's, each that is new or gone counts."""
    then, now = Side(), Side(sources={**Side().sources, "fallback.py": "3" * 64})
    there = EnvironmentSpec(variables={"FAST": "1"})
    assert explain_code(bench.drift(then, now, environment=there)) == []
    revision = EnvironmentSpec(revision="main")
    assert explain_code(bench.drift(then, now, environment=revision))[0].evidence["files"] == ["fallback.py"]
