"""Which difference of two environments was shown to matter, and which only could."""

from __future__ import annotations

from pytest_modelreg.diagnose import Answer
from pytest_modelreg.diagnose.environment import explain_environment
from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.environment import EnvironmentChange
from tests.diagnose.conftest import Bench, GivenReplay, Side

HERE = "in this run's own environment"
GONE = Answer(agrees=True, rel_l2=0.0, before=0.3, samples=("a",))
STAYS = Answer(agrees=False, rel_l2=0.3, before=0.3, samples=("a",))
TORCH = EnvironmentChange(key="torch.version", expected="2.13.0", actual="2.14.1")
ISA = EnvironmentChange(key="env.ATEN_CPU_CAPABILITY", expected=None, actual="default")
THREADS = EnvironmentChange(key="env.OMP_NUM_THREADS", expected=None, actual="1")


def test_a_variant_that_agrees_here_drifts_by_its_environment(bench: Bench):
    """Run in this environment the same case matches: shown."""
    drift = bench.drift(Side(), Side(), environment=EnvironmentSpec(variables={"FAST": "1"}))
    (finding,) = explain_environment(drift, GivenReplay({HERE: GONE}), may_guess=True)
    assert finding.evidence["shown"] is True
    assert "FAST=1" in finding.summary
    assert finding.confidence > 0.9


def test_a_variant_that_drifts_here_too_leaves_the_environment_innocent(bench: Bench):
    """What happens in both has another cause."""
    drift = bench.drift(Side(), Side(), environment=EnvironmentSpec(variables={"FAST": "1"}))
    assert explain_environment(drift, GivenReplay({HERE: STAYS}), may_guess=True) == []


def test_of_several_variables_the_guilty_one_is_named(bench: Bench):
    """Each is replayed alone until one brings the drift back."""
    drift = bench.drift(Side(), Side(), environment=EnvironmentSpec(variables={"A": "1", "B": "2"}))
    replay = GivenReplay({HERE: GONE, "only A=1": GONE, "only B=2": STAYS})
    (finding,) = explain_environment(drift, replay, may_guess=True)
    assert "environment: B=2" in finding.summary


def test_a_variable_of_this_run_is_set_back(bench: Bench):
    """As it was for the golden, in a process of its own."""
    drift = bench.drift(Side(), Side(), changes=(ISA,))
    replay = GivenReplay({"with ATEN_CPU_CAPABILITY unset": GONE})
    (finding,) = explain_environment(drift, replay, may_guess=False)
    assert finding.evidence["shown"] is True
    assert replay.asked[0].variables == {"ATEN_CPU_CAPABILITY": None}


def test_a_version_that_was_not_shown_to_matter_is_told_with_little_confidence(bench: Bench):
    """It could, and the sentence says that nobody looked."""
    (finding,) = explain_environment(
        bench.drift(Side(), Side(), changes=(TORCH,)), GivenReplay(), may_guess=True
    )
    assert finding.confidence < 0.5
    assert "was not shown to matter" in finding.summary


def test_nothing_is_guessed_beside_a_likely_cause(bench: Bench):
    """Where something else explains the drift, a version bump is no second cause."""
    drift = bench.drift(Side(), Side(), changes=(TORCH,))
    assert explain_environment(drift, GivenReplay(), may_guess=False) == []


def test_a_number_of_threads_is_no_cause(bench: Bench):
    """It differs between any two machines, and is not told unless it was shown to matter."""
    drift = bench.drift(Side(), Side(), changes=(THREADS,))
    assert explain_environment(drift, GivenReplay(), may_guess=True) == []
    replay = GivenReplay()
    assert explain_environment(drift, replay, may_guess=False) == []
    assert replay.asked == []


def test_a_number_of_threads_that_matters_is_shown(bench: Bench):
    """Set back in a process of its own, where nothing likelier was found."""
    drift = bench.drift(Side(), Side(), changes=(THREADS,))
    replay = GivenReplay({"with OMP_NUM_THREADS unset": GONE})
    (finding,) = explain_environment(drift, replay, may_guess=True)
    assert finding.evidence["shown"] is True
