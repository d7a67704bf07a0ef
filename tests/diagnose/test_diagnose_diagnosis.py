"""The order of the steps, and what is said when none finds anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_modelreg.diagnose import Answer, InputPair, explain_drift
from pytest_modelreg.diagnose.ranking import rank_findings
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.trace import Behaviour
from tests.diagnose.conftest import IDS, Bench, GivenReplay, Side

ON_GOLDEN = "the golden's inputs"
GONE = Answer(agrees=True, rel_l2=1e-7, before=0.3, samples=("a",))
STAYS = Answer(agrees=False, rel_l2=0.3, before=0.3, samples=("a",))
OTHER_INPUTS = {name: f"{name}2" for name in IDS}
IMAGE = np.random.default_rng(0).normal(size=(3, 16, 16)).astype(np.float32)


def pairs_of(expected: np.ndarray, actual: np.ndarray) -> list[InputPair]:
    """Return one pair a sample."""
    return [
        InputPair(
            sample=name,
            path="",
            expected=expected + number,
            actual=actual + number,
            file=None,
            loader="array",
        )
        for number, name in enumerate(IDS)
    ]


def test_swapped_channels_are_named_and_the_model_is_innocent(bench: Bench):
    """The model agrees on the golden's inputs, so that nothing is asked of weights or runtime."""
    changed = Side(inputs=OTHER_INPUTS, sources={"net.py": "2" * 64})
    replay = GivenReplay({ON_GOLDEN: GONE}, pairs=pairs_of(IMAGE, IMAGE[::-1]))
    causes = explain_drift(bench.drift(Side(), changed), replay)
    assert [finding.cause for finding in causes] == [Cause.PREPROCESS_CHANNEL_ORDER]
    assert causes[0].evidence["replay"]["agrees"] is True
    assert "the model answers as before" in causes[0].summary


def test_inputs_that_do_not_explain_the_drift_leave_the_model_first(bench: Bench):
    """Inputs moved, and weights as well: fed the golden's inputs, the model is still off."""
    weights = {**Side().weights, "conv.weight": np.arange(24.0) * 2}
    replay = GivenReplay({ON_GOLDEN: STAYS}, pairs=pairs_of(IMAGE, IMAGE[::-1]))
    causes = explain_drift(bench.drift(Side(), Side(inputs=OTHER_INPUTS, weights=weights)), replay)
    assert causes[0].cause is Cause.WEIGHTS_CHANGED


def test_the_first_module_that_differs_is_added_to_the_cause(bench: Bench):
    """Weights that changed are told with the place where it shows first."""
    weights = {**Side().weights, "conv.weight": np.arange(24.0) * 2}
    calls = {**Side().calls, "head": np.full(10, 3.0)}
    causes = explain_drift(bench.drift(Side(), Side(weights=weights, calls=calls)), GivenReplay())
    assert causes[0].evidence["divergence"]["first_module"] == "head"
    assert "first module that answers otherwise is head" in causes[0].summary


def test_random_preprocessing_comes_before_what_it_looks_like(bench: Bench):
    """Inputs that are not the same twice can look like anything."""
    drift = bench.drift(Side(), Side(inputs=OTHER_INPUTS))
    habit = CauseFinding(
        cause=Cause.NONDETERMINISM, confidence=0.5, summary="random", evidence={"habit": "random"}
    )
    drift = replace(drift, result=replace(drift.result, causes=(habit,)))
    replay = GivenReplay({ON_GOLDEN: GONE}, pairs=pairs_of(IMAGE, IMAGE[::-1]))
    causes = explain_drift(drift, replay)
    assert causes[0].cause is Cause.NONDETERMINISM


def test_dropout_is_told_once(bench: Bench):
    """A mode that draws random numbers is a matter of mode first."""
    now = Side(behaviour=Behaviour(seed_rel_l2=0.3, train_calls=("head: dropout",)))
    causes = explain_drift(bench.drift(Side(), now), GivenReplay())
    assert [finding.cause for finding in causes] == [Cause.MODEL_MODE, Cause.NONDETERMINISM]


def test_a_drift_without_explanation_says_what_was_ruled_out(bench: Bench):
    """Equal inputs, weights, mode and code: unknown, with what is known."""
    (finding,) = explain_drift(bench.drift(Side(), Side()), GivenReplay())
    assert finding.cause is Cause.UNKNOWN
    assert finding.evidence["ruled_out"] == ["the inputs are the golden's", "so are the weights"]


def test_a_golden_without_trace_says_how_to_get_one(bench: Bench):
    """An old golden keeps nothing to compare with."""
    (finding,) = explain_drift(bench.drift(Side(has_trace=False), Side()), GivenReplay())
    assert "modelreg regen" in finding.summary


def test_nothing_is_replayed_when_the_time_is_used_up(bench: Bench):
    """The explanation says so."""
    replay = GivenReplay()
    replay.time_left = False
    (finding,) = explain_drift(bench.drift(Side(), Side()), replay)
    assert "--modelreg-diagnose full" in finding.summary
    assert replay.asked == []


def test_the_better_of_two_findings_of_one_cause_stays():
    """A cause is listed once, the best explanation first."""
    findings = [
        CauseFinding(cause=Cause.MODEL_CODE, confidence=0.5, summary="maybe"),
        CauseFinding(cause=Cause.WEIGHTS_CHANGED, confidence=0.9, summary="weights"),
        CauseFinding(cause=Cause.MODEL_CODE, confidence=0.8, summary="shown"),
        CauseFinding(cause=Cause.ENVIRONMENT, confidence=0.05, summary="hardly"),
    ]
    assert [finding.summary for finding in rank_findings(findings)] == ["weights", "shown"]
