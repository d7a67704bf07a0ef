"""The way of running, found guilty or innocent by switching one thing at a time."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.diagnose import Answer, TraceAt
from pytest_modelreg.diagnose.runtime import explain_runtime
from pytest_modelreg.domain.case import RuntimeSpec
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.trace import Trace
from tests.diagnose.conftest import Bench, GivenReplay, Side

PLAIN = "eager, without transform, dtype and autocast"
GONE = Answer(agrees=True, rel_l2=1e-7, before=0.3, samples=("a",))
STAYS = Answer(agrees=False, rel_l2=0.3, before=0.3, samples=("a",))


def test_a_case_that_runs_as_the_golden_did_is_asked_nothing(bench: Bench):
    """Eager against eager: the runtime is no difference."""
    replay = GivenReplay()
    assert explain_runtime(bench.drift(Side(), Side()), replay) == []
    assert replay.asked == []


def test_a_model_that_drifts_in_eager_mode_too_leaves_the_runtime_innocent(bench: Bench):
    """One replay decides, and no switch is tried."""
    replay = GivenReplay({PLAIN: STAYS})
    assert explain_runtime(bench.drift(Side(), Side(), runtime=RuntimeSpec(kind="onnx")), replay) == []
    assert len(replay.asked) == 1


def test_an_export_that_no_switch_mends_is_the_cause(bench: Bench):
    """The model agrees, the exported one does not, whatever exporter and level."""
    replay = GivenReplay({PLAIN: GONE, "optimization: disabled": STAYS, "exporter: torchscript": STAYS})
    drift = bench.drift(Side(), Side(), runtime=RuntimeSpec(kind="onnx"))
    (finding,) = explain_runtime(drift, replay)
    assert finding.cause is Cause.RUNTIME_EXPORT
    assert [entry["change"] for entry in finding.evidence["replays"]] == [
        PLAIN,
        "optimization: disabled",
        "exporter: torchscript",
    ]


def test_a_drift_that_goes_with_the_optimisation_is_the_optimisation_s(bench: Bench):
    """Optimisation off agrees, on does not."""
    replay = GivenReplay({PLAIN: GONE, "optimization: disabled": GONE})
    drift = bench.drift(Side(), Side(), runtime=RuntimeSpec(kind="onnx"))
    (finding,) = explain_runtime(drift, replay)
    assert finding.cause is Cause.RUNTIME_OPTIMIZATION


def test_an_exporter_is_named_when_the_other_agrees(bench: Bench):
    """The exporter in use is in the sentence."""
    replay = GivenReplay({PLAIN: GONE, "optimization: disabled": STAYS, "exporter: torchscript": GONE})
    drift = bench.drift(Side(), Side(), runtime=RuntimeSpec(kind="onnx"))
    (finding,) = explain_runtime(drift, replay)
    assert finding.cause is Cause.RUNTIME_EXPORT
    assert finding.summary.startswith("exporter dynamo")


def test_lower_precision_is_named(bench: Bench):
    """Without the dtype the drift is gone."""
    replay = GivenReplay({PLAIN: GONE})
    (finding,) = explain_runtime(bench.drift(Side(), Side(), dtype="float16"), replay)
    assert finding.cause is Cause.RUNTIME_PRECISION
    assert finding.summary.startswith("dtype float16")
    assert len(replay.asked) == 1


def test_of_two_precisions_the_guilty_one_is_named(bench: Bench):
    """Each is left out alone until the drift is gone."""
    replay = GivenReplay({PLAIN: GONE, "without dtype: float16": STAYS, "without autocast: bfloat16": GONE})
    drift = bench.drift(Side(), Side(), dtype="float16", autocast="bfloat16")
    (finding,) = explain_runtime(drift, replay)
    assert finding.summary.startswith("autocast bfloat16")


def test_a_transform_is_named(bench: Bench):
    """Without the transform the model agrees; there is nothing else to switch."""
    replay = GivenReplay({PLAIN: GONE})
    drift = bench.drift(Side(), Side(), runtime=RuntimeSpec(transform="deploy:quantize"))
    (finding,) = explain_runtime(drift, replay)
    assert finding.cause is Cause.RUNTIME_PRECISION
    assert "deploy:quantize" in finding.summary
    assert finding.confidence > 0.9


def test_a_transform_that_makes_another_model_is_no_rounding(bench: Bench):
    """Rows of a weight in another order: the tensor is named, and precision is not blamed."""
    turned = {**Side().weights, "conv.weight": np.arange(24.0)[::-1]}
    drift = bench.drift(Side(), Side(weights=turned), runtime=RuntimeSpec(transform="deploy:permute"))
    (finding,) = explain_runtime(drift, GivenReplay({PLAIN: GONE}))
    assert finding.cause is Cause.WEIGHTS_CHANGED
    assert "conv.weight" in finding.summary


def test_what_cannot_be_replayed_is_not_blamed(bench: Bench):
    """An answer that says nothing is no proof."""
    replay = GivenReplay({PLAIN: Answer(agrees=None, fault="no module net")})
    assert explain_runtime(bench.drift(Side(), Side(), runtime=RuntimeSpec(kind="onnx")), replay) == []


def explain_file(bench: Bench, element_types: dict[str, int]) -> tuple[Cause, str]:
    """Return cause and summary of a file that drifts, whatever is switched."""
    runtime = RuntimeSpec(kind="onnx-file", options={"path": "m.onnx", "optimization": "disabled"})
    drift = bench.drift(Side(), Side(), runtime=runtime)
    replay = GivenReplay({PLAIN: GONE})
    graph = TraceAt(trace=Trace(element_types=element_types), folder=drift.golden_folder)
    replay.graphs = (bench.trace(Side()), graph)
    (finding,) = explain_runtime(drift, replay)
    return finding.cause, finding.summary


def test_a_file_of_half_precision_weights_is_a_precision(bench: Bench):
    """With how many of its weights are, places and shapes left out."""
    cause, summary = explain_file(bench, {"float16": 12, "float32": 2, "int64": 5})
    assert cause is Cause.RUNTIME_PRECISION
    assert summary.startswith("onnx-file (m.onnx): 12 of 14 initialisers are float16")


def test_a_file_of_whole_weights_is_an_export(bench: Bench):
    """Just inside: float32 throughout."""
    assert explain_file(bench, {"float32": 14, "int64": 5})[0] is Cause.RUNTIME_EXPORT
