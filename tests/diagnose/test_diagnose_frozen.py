"""What an export froze from its example, told from what it does to every input alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_modelreg.diagnose import Answer, DriftCase, explain_drift
from pytest_modelreg.diagnose.frozen import name_frozen
from pytest_modelreg.diagnose.runtime import explain_runtime
from pytest_modelreg.domain.case import EnvironmentSpec, RuntimeSpec
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.example_trial import ExampleTrial, GraphPlace
from pytest_modelreg.domain.observation import RuntimeFinding
from tests.diagnose.conftest import Bench, GivenReplay, Side

EXPORT = CauseFinding(cause=Cause.RUNTIME_EXPORT, confidence=0.9, summary="the export", evidence={"a": 1})
PLACE = GraphPlace(module="gate", node="Mul /gate/Mul", first="2", second="7")
FROZEN = ExampleTrial(
    example="a",
    own={"a": 0.4, "b": 0.0},
    again={"a": 1e-7, "b": 0.3},
    places=(PLACE,),
    warnings=("net.py:12: Converting a tensor to a Python float",),
)
BATCH = RuntimeFinding(
    subject="input x", what="axis 0 (batch)", expected="any size", actual="a size of 5 gives other values"
)
LENGTH = replace(BATCH, what="axis 1 (length)")
PLAIN = "eager, without transform, dtype and autocast"
GONE = Answer(agrees=True, rel_l2=1e-7, before=0.3, samples=("a",))
STAYS = Answer(agrees=False, rel_l2=0.3, before=0.3, samples=("a",))


def drift_of(
    bench: Bench, *findings: RuntimeFinding, accepted: tuple[RuntimeFinding, ...] = (), **spec: object
) -> DriftCase:
    """Return a drift of an exported case whose graph has these findings."""
    drift = bench.drift(Side(), Side(), **{"runtime": RuntimeSpec(kind="onnx"), **spec})
    golden = replace(drift.golden.observation, runtime_findings=accepted)
    return replace(
        drift,
        observation=replace(drift.observation, runtime_findings=findings),
        golden=replace(drift.golden, observation=golden),
    )


def replay_of(trial: ExampleTrial | None, **answers: Answer) -> GivenReplay:
    """Return a replay with this trial."""
    replay = GivenReplay(answers)
    replay.trial = trial
    return replay


def test_a_value_of_the_example_is_told_with_its_place(bench: Bench):
    """With that example the graph agrees on it and not on another; module, node and both constants."""
    found = name_frozen(EXPORT, drift_of(bench), replay_of(FROZEN))
    assert found.cause is Cause.RUNTIME_EXPORT
    assert found.summary.startswith("a value is frozen from the example input of the export: exported with a")
    for part in ("agrees with the model on a (1e-07;", "0.4", "not on b (0.3)", "gate (node Mul", "2 and 7"):
        assert part in found.summary
    assert "torch's tracer warned at net.py:12: Converting a tensor" in found.summary
    assert found.summary.endswith("the export")
    value = found.evidence["frozen"]["value"]
    assert (value["rel_l2_as_exported"]["a"], value["rel_l2_with_this_example"]["a"]) == (0.4, 1e-7)
    assert found.evidence["a"] == 1


@pytest.mark.parametrize(
    "trial",
    [
        replace(FROZEN, again={"a": 0.4, "b": 0.3}),  # wrong whatever the example is
        replace(FROZEN, again={"a": 0.03, "b": 0.3}),  # better, but no agreement
        replace(FROZEN, own={"a": 1e-6}, again={"a": 1e-7}),  # rounding
        replace(FROZEN, again={}),  # it cannot be exported with it
        None,
    ],
)
def test_an_export_that_differs_for_another_reason_froze_nothing(bench: Bench, trial: ExampleTrial | None):
    """Precision, a wrong translation: no matter of the example, and a warning proves nothing."""
    assert name_frozen(EXPORT, drift_of(bench), replay_of(trial)) == EXPORT


def test_a_frozen_size_is_told_apart(bench: Bench):
    """What the graph's trials found, with the constant that follows the size."""
    trial = ExampleTrial(example="a", own={"a": 0.0}, again={"a": 0.0}, size_places=(PLACE,))
    replay = replay_of(trial)
    found = name_frozen(EXPORT, drift_of(bench, BATCH), replay)
    assert found.summary.startswith("a size is frozen from the example input of the export: input x, axis 0")
    assert "gate (node Mul /gate/Mul): 2 and 7" in found.summary
    assert "a value" not in found.summary
    assert replay.tried == [True]


def test_a_size_is_told_without_a_trial(bench: Bench):
    """Where the export cannot be tried again, what was found of it is still a fact."""
    found = name_frozen(EXPORT, drift_of(bench, BATCH), replay_of(None))
    assert found.confidence == 1.0
    assert found.evidence["frozen"]["sizes"][0]["what"] == "axis 0 (batch)"


def test_a_value_beside_a_frozen_length_is_not_told(bench: Bench):
    """Samples may differ in that length: which of the two it is, the trial does not show."""
    found = name_frozen(EXPORT, drift_of(bench, LENGTH), replay_of(FROZEN))
    assert "value" not in found.evidence["frozen"]


def test_a_value_beside_a_frozen_batch_is_told(bench: Bench):
    """All batches of the trial are of one size."""
    found = name_frozen(EXPORT, drift_of(bench, BATCH), replay_of(FROZEN))
    assert set(found.evidence["frozen"]) >= {"value", "sizes"}


def test_a_size_that_the_golden_accepts_is_not_told(bench: Bench):
    """It was so when the golden was recorded, and explains no drift from it."""
    assert name_frozen(EXPORT, drift_of(bench, BATCH, accepted=(BATCH,)), replay_of(None)) == EXPORT


def test_a_file_is_not_exported_again(bench: Bench):
    """Which example it had is gone with whoever exported it."""
    replay = replay_of(FROZEN)
    drift = drift_of(bench, runtime=RuntimeSpec(kind="onnx-file", options={"path": "m.onnx"}))
    assert name_frozen(EXPORT, drift, replay) == EXPORT
    assert replay.tried == []


@pytest.mark.parametrize(
    ("switch", "spec"),
    [
        ("optimization: disabled", {}),
        ("without dtype: float16", {"dtype": "float16"}),
    ],
)
def test_what_a_switch_mends_is_not_exported_again(bench: Bench, switch: str, spec: dict[str, str]):
    """An optimisation level or a precision is the cause: no question about the example, and no word of it."""
    replay = replay_of(FROZEN, **{PLAIN: GONE, switch: GONE})
    (finding,) = explain_runtime(drift_of(bench, **spec), replay)
    assert finding.cause is not Cause.RUNTIME_EXPORT
    assert "frozen" not in finding.summary
    assert replay.tried == []


def test_a_frozen_size_takes_the_place_of_what_judging_found(bench: Bench):
    """One cause, told by which size and where instead of by what was declared."""
    drift = drift_of(bench, BATCH)
    judged = CauseFinding(
        cause=Cause.RUNTIME_EXPORT, confidence=1.0, summary="not as declared", evidence={"findings": ["one"]}
    )
    drift = replace(drift, result=replace(drift.result, causes=(judged,)))
    (first, *_) = explain_drift(drift, replay_of(None, **{PLAIN: GONE}))
    assert first.summary.startswith("a size is frozen")
    assert first.evidence["findings"] == ["one"]
    (first, *_) = explain_drift(drift, replay_of(None, **{PLAIN: STAYS}))
    assert first == judged


def test_an_export_that_agrees_when_it_is_made_again_elsewhere_froze_its_example(bench: Bench):
    """Each process there exports anew: when that alone mends it, no switch is blamed."""
    again = "exported again, with drifting samples as its example"
    drift = drift_of(bench, environment=EnvironmentSpec(variables={"A": "1"}))
    replay = GivenReplay({PLAIN: GONE, again: GONE, "optimization: disabled": GONE})
    (finding,) = explain_runtime(drift, replay)
    assert finding.cause is Cause.RUNTIME_EXPORT
    assert "froze from the example input" in finding.summary
    replay = GivenReplay({PLAIN: GONE, again: STAYS, "optimization: disabled": GONE})
    (finding,) = explain_runtime(drift, replay)
    assert finding.cause is Cause.RUNTIME_OPTIMIZATION
