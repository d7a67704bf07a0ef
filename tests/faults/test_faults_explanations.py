"""What is said of a planted fault beside its verdict: the part that a reader acts on."""

from __future__ import annotations

import pytest

from tests.faults.test_faults_verdicts import FAST


def list_causes(case: dict) -> list[str]:
    """Return the causes that a record names."""
    return [cause["cause"] for cause in case["causes"]]


@pytest.mark.parametrize(
    "entry", [entry for entry in FAST if entry["cause"]], ids=lambda entry: entry["case"]
)
def test_first_cause_is_the_planted_one(rehearsal, entry):
    """What was planted is what is named first, and with confidence."""
    first = rehearsal.case(entry["case"], entry["report"])["causes"][0]
    assert first["cause"] == entry["cause"], first["summary"]
    assert first["confidence"] >= 0.7


def test_benign_changes_have_no_cause(rehearsal):
    """What matches is not explained."""
    benign = [entry for entry in FAST if entry["list"] == "benign"]
    assert len(benign) > 30
    for entry in benign:
        assert rehearsal.case(entry["case"], entry["report"])["causes"] == []


def test_frozen_batch_is_found_although_the_batches_fit(rehearsal):
    """Twelve samples in fours fit the frozen four, values agree, and it is a finding all the same."""
    case = rehearsal.case("fixed-view[traced]")
    assert list_causes(case) == ["runtime.export"]
    (finding,) = case["causes"][0]["evidence"]["findings"]
    assert (finding["subject"], finding["what"]) == ("input rows", "axis 0 (batch)")
    assert case["message"].startswith("axis 0 (batch) of input rows: expected any size")
    assert all(check["ok"] for check in case["checks"])


def test_batch_that_does_not_fit_names_operator_and_module(rehearsal):
    """The last two of twelve samples in fives cannot run: an error that says where."""
    message = rehearsal.case("fixed-view[uneven]")["message"]
    assert "operator Reshape" in message
    assert "in module (model)" in message


def test_frozen_branch_comes_with_the_tracer_s_warning(rehearsal):
    """The trace said that it froze a condition, in this run only."""
    told = rehearsal.told("branching[traced]")
    assert "warning in this run only: TracerWarning: Converting a tensor to a Python boolean" in told


def test_refused_branch_names_module_and_line(rehearsal):
    """torch.export does not freeze it: the error says where the branch is."""
    message = rehearsal.case("branching[exported]")["message"]
    assert "(Branching)" in message
    assert "toy_models.py:" in message


def test_tie_order_is_named_as_such(rehearsal):
    """The places changed, and nothing but the order of equal scores."""
    case = rehearsal.case("ranking[ties-turned]")
    assert list_causes(case)[0] == "tie_order"
    assert case["causes"][0]["evidence"]["samples"] == ["r003", "r006"]
    assert "tie order only" in case["message"]
    assert case["outputs"]["scores"]["rel_l2"] == 0


def test_other_class_order_is_no_tie_order(rehearsal):
    """Just outside: every score stays, under another name, and every top class is another one."""
    case = rehearsal.case("network[class-order]")
    assert "tie_order" not in list_causes(case)
    agreement = next(check for check in case["checks"] if check["name"] == "top1_agreement")
    assert agreement["value"] == 0
    for sample in case["samples"]:
        (expected, score), (actual, same) = (sample[side].rsplit(" ", 1) for side in ("expected", "actual"))
        assert expected != actual
        assert float(score) == pytest.approx(float(same), abs=0.011)  # two digits are shown


def test_overflow_is_told_in_infinities(rehearsal):
    """Not as a large error: as elements that are not finite on one side, on two samples."""
    message = rehearsal.case("overflow[half]")["message"]
    assert "8 elements not finite on one side only (infinite expected 0, got 8) in 2 of 12 samples" in message


def test_module_that_eval_does_not_reach_is_named(rehearsal):
    """A BatchNorm that stays in train mode is told by its path."""
    told = rehearsal.told("network[deaf-to-eval]")
    assert "warning in this run only: still in train mode after eval(): _bn1" in told


@pytest.mark.parametrize(
    ("variant", "number", "settings"),
    [
        ("antialias-off", 6, ("antialias=True", "antialias=False")),
        ("crop-off-by-one", 7, ("CenterCrop(size=(224, 224))", "staged_pipeline:crop_one_lower")),
        ("random-crop", 7, ("CenterCrop(size=(224, 224))", "RandomCrop(size=(224, 224)")),
    ],
)
def test_first_stage_that_differs_is_named(rehearsal, variant, number, settings):
    """With its settings on both sides, so that no one has to bisect a pipeline."""
    told = rehearsal.told(f"staged[{variant}]")
    (line,) = [line for line in told.splitlines() if "first stage whose output differs" in line]
    assert f"differs: {number} (" in line
    expected, actual = line.split(", got ")
    assert settings[0] in expected
    assert settings[1] in actual


def test_stage_that_is_gone_is_named(rehearsal):
    """What comes before it is not blamed, although its output is the model's input now."""
    told = rehearsal.told("staged[not-normalised]")
    (line,) = [line for line in told.splitlines() if "first stage that differs" in line]
    assert "first stage that differs: 8: expected Normalize(" in line
    assert line.endswith("got none")


@pytest.mark.parametrize(
    ("case", "is_same"),
    [
        ("photos[exif-ignored]", False),
        ("photos[refactored]", True),
        ("network[one-layer]", True),
        ("network[dynamo-all]", True),
    ],
)
def test_it_is_known_whether_the_inputs_changed(rehearsal, case, is_same):
    """Preprocessing and model are told apart before a number is read."""
    assert rehearsal.case(case)["inputs_identical"] is is_same


def test_refactored_preprocessing_is_said_to_be_identical(rehearsal):
    """Another pipeline that makes the same bits says so."""
    assert "inputs bit-identical to the reference's" in rehearsal.told("photos[refactored]")


def test_other_kernels_are_a_note(rehearsal):
    """Portable kernels move the last bits: a match with the one fact that differs."""
    case = rehearsal.case("photos[reference]", "portable.json")
    assert 0 < case["outputs"]["logits"]["rel_l2"] < 1e-5
    assert case["inputs_identical"] is True
    keys = {change["key"] for change in case["environment_changes"]}
    assert "env.ATEN_CPU_CAPABILITY" in keys
    told = rehearsal.told("photos[reference]", "portable.txt")
    assert "environment differs from the golden's: cpu.capability" in told


def test_regressor_near_zero_needs_its_floor(rehearsal):
    """One reading alone moves by more than the limit allows of a share, and the gate is right to pass it."""
    output = rehearsal.case("regressor[batch-1]")["outputs"]["value"]
    assert output["max_rel"] > 1e-5
    assert 0 < output["rel_l2"] < 1e-5
