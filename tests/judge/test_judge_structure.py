"""Structure before values: each difference is a finding, and agreeing outputs are still judged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict

ROW = np.ones((4, 3), np.float32)


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        (np.ones((4, 10)), np.ones((4, 2)), "shape of y: expected (4, 10), got (4, 2)"),
        (np.ones((4, 3, 1)), np.ones((4, 1, 3)), "shape of y: expected (4, 3, 1), got (4, 1, 3)"),
        (np.ones(4), np.ones((4, 1)), "shape of y: expected (4,), got (4, 1)"),
        (ROW, ROW.astype(np.float64), "dtype of y: expected float32, got float64"),
    ],
)
def test_shape_and_dtype_changes_are_drift_without_a_table(
    court: Any, expected: np.ndarray, actual: np.ndarray, message: str
) -> None:
    """Both sides are named, nothing is broadcast, no values are compared."""
    result = court.judge(expected, actual)
    assert (result.verdict, result.message) == (Verdict.DRIFT, message)
    assert result.outputs == {}


@pytest.mark.parametrize(
    ("expected", "actual", "message", "text"),
    [
        (
            {"y": ROW, "aux": ROW},
            {"y": ROW},
            "output aux is gone (was float32 (4, 3))",
            "aux: presence: expected float32 (4, 3), got absent",
        ),
        (
            {"y": ROW},
            {"y": ROW, "aux": ROW},
            "output aux appeared (float32 (4, 3))",
            "aux: presence: expected absent, got float32 (4, 3)",
        ),
    ],
)
def test_an_output_that_appeared_or_vanished_is_drift(
    court: Any, side: Any, expected: Any, actual: Any, message: str, text: str
) -> None:
    """Outputs are compared both ways; the others are still judged."""
    result = court.judge(side(outputs=expected), side(outputs=actual))
    assert (result.verdict, result.message) == (Verdict.DRIFT, message)
    assert [str(finding) for finding in result.structure] == [text]
    assert list(result.outputs) == ["y"]


def test_order_of_dict_keys_does_not_matter(court: Any, side: Any) -> None:
    """Outputs are found by path."""
    expected, actual = {"a": ROW, "b": 2 * ROW}, {"b": 2 * ROW, "a": ROW}
    assert court.judge(side(outputs=expected), side(outputs=actual)).verdict is Verdict.MATCH


def test_order_of_list_items_matters(court: Any, side: Any) -> None:
    """Items of a list are addressed by place."""
    expected, actual = {"0": ROW, "1": 2 * ROW}, {"0": 2 * ROW, "1": ROW}
    assert court.judge(side(outputs=expected), side(outputs=actual)).verdict is Verdict.DRIFT


def test_ragged_rows_of_other_shape_are_named(court: Any) -> None:
    """Rows whose shape changed drift by name; rows that kept theirs are judged."""
    expected = [np.ones((2, 4)), np.ones((1, 4)), np.ones((3, 4))]
    actual = [np.ones((2, 4)), np.ones((2, 4)), np.full((3, 4), 1.1)]
    result = court.judge(expected, actual)
    (finding,) = result.structure
    assert finding.what == "row shape"
    assert "(1, 4) for s1" in finding.expected
    assert "1 of 3 rows differ in shape: s1" in finding.actual
    assert result.drifted_samples == ("s1", "s2")
    assert result.outputs["y"].n_total == 20
    assert {sample.id: sample.note for sample in result.samples}["s1"] == "other shape"


def test_rows_that_became_ragged_are_named(court: Any) -> None:
    """A regular output of which one row changed shape is a finding about that row."""
    result = court.judge(np.ones((3, 2)), [np.ones(2), np.ones(3), np.ones(2)])
    assert result.drifted_samples == ("s1",)


@pytest.mark.parametrize(
    ("actual", "what"),
    [
        (np.ones((4, 2), np.float32), "shape"),
        (ROW.astype(np.float64), "dtype"),
        ([np.ones(1, np.float32), np.ones(2, np.float32)] * 2, "shape"),
    ],
)
def test_an_output_that_changed_as_a_whole_names_every_sample(
    court: Any, side: Any, actual: Any, what: str
) -> None:
    """Each sample's answer has another shape or dtype: all drifted, none is shown by an output that holds."""
    same = np.ones((4, 1))
    result = court.judge(side(outputs={"y": ROW, "z": same}), side(outputs={"y": actual, "z": same}))
    assert result.drifted_samples == ("s0", "s1", "s2", "s3")
    assert [(sample.ok, sample.note) for sample in result.samples] == [(False, f"y: other {what}")] * 4
    assert {(sample.expected, sample.actual) for sample in result.samples} == {("", "")}
    assert result.measures.rel_l2 == {"z": (0.0,) * 4, "y": (math.inf,) * 4}


def test_a_sample_that_drifted_beside_a_changed_output_is_rendered(court: Any, side: Any) -> None:
    """Where another output failed by its values, that is what the sample shows."""
    before, after = np.ones((4, 1)), np.array([[1.0], [1.0], [1.5], [1.0]])
    result = court.judge(side(outputs={"y": ROW, "z": before}), side(outputs={"y": ROW[:, :2], "z": after}))
    shown = {sample.id: (sample.expected, sample.actual) for sample in result.samples}
    assert shown == {"s0": ("", ""), "s1": ("", ""), "s2": ("z: [1.0]", "z: [1.5]"), "s3": ("", "")}


@pytest.mark.parametrize("per", [{"loss": "batch"}, {}])
def test_a_changed_output_without_a_row_a_sample_names_none(court: Any, side: Any, per: Any) -> None:
    """An output a batch that changed shape, or one that vanished, is about no sample in particular."""
    values = {"y": ROW, "loss": np.ones((4, 2))}
    changed = {"y": ROW, "loss": np.ones((4, 3))} if per else {"y": ROW}
    result = court.judge(side(outputs=values, per=per), side(outputs=changed, per=per))
    assert (result.verdict, result.drifted_samples) == (Verdict.DRIFT, ())


def test_output_per_batch_is_judged_by_batch(court: Any, side: Any) -> None:
    """A value a batch is compared batch by batch, and the batch is named."""
    expected = side(outputs={"y": ROW, "loss": np.array([1.0, 2.0])}, per={"loss": "batch"})
    actual = side(outputs={"y": ROW, "loss": np.array([1.0, 2.5])}, per={"loss": "batch"})
    result = court.judge(expected, actual)
    assert "in 1 of 2 batches (worst: batch 1)" in result.message
    assert result.drifted_samples == ()


def test_output_per_batch_is_skipped_for_other_batches(court: Any, side: Any) -> None:
    """Batches of another size hold other samples: not compared, and said so."""
    expected = side(outputs={"y": ROW, "loss": np.array([1.0, 2.0])}, per={"loss": "batch"})
    actual = side(outputs={"y": ROW, "loss": np.array([1.5])}, per={"loss": "batch"}, batch_size=4)
    result = court.judge(expected, actual)
    assert result.verdict is Verdict.MATCH
    assert result.notes[-1].startswith("loss: not compared")


def test_nothing_compared_is_an_error(court: Any, side: Any) -> None:
    """A case in which every output was skipped is no match."""
    expected = side(outputs={"loss": np.array([1.0, 2.0])}, per={"loss": "batch"})
    actual = side(outputs={"loss": np.array([1.5])}, per={"loss": "batch"}, batch_size=4)
    with pytest.raises(JudgeError, match="nothing was compared: loss: not compared"):
        court.judge(expected, actual)


def test_outputs_that_are_all_ignored_are_an_error(court: Any) -> None:
    """`per: ignore` on everything leaves nothing to be green about."""
    with pytest.raises(JudgeError, match="nothing was compared: y: not compared: per: ignore"):
        court.judge(ROW, ROW, specs={"y": OutputSpec(per="ignore")})


def test_outputs_without_elements_are_an_error(court: Any) -> None:
    """Outputs that hold no number agree in structure only."""
    with pytest.raises(JudgeError, match="nothing was compared: y: has no elements"):
        court.judge(np.ones((4, 0)), np.ones((4, 0)))


NAN = np.full((4, 3), np.nan, np.float32)
INFINITE = np.where(np.arange(12).reshape(4, 3) % 2 == 0, np.inf, -np.inf)


@pytest.mark.parametrize("values", [NAN, INFINITE, [np.full(1, np.nan), np.full(2, np.nan)]])
@pytest.mark.parametrize("kept", [True, False])
def test_nan_and_infinity_only_is_an_error(court: Any, side: Any, values: Any, kept: bool) -> None:
    """No finite element on either side: no value was compared, bit-identical (kept order) or not."""
    ids = ["a", "b", "c", "d"][: len(values)]
    expected = side(outputs={"y": values}, ids=ids)
    actual = expected if kept else side(outputs={"y": values[::-1]}, ids=ids[::-1])
    with pytest.raises(
        JudgeError, match="nothing was compared: y: every element is NaN or infinite on both sides"
    ):
        court.judge(expected, actual)


@pytest.mark.parametrize("kept", [True, False])
def test_one_finite_element_is_compared(court: Any, kept: bool) -> None:
    """A single number among NaN is enough to be green about, and enough to drift."""
    expected = NAN.copy()
    expected[1, 1] = 2.0
    actual = expected if kept else expected * np.float32(1 + 1e-6)
    result = court.judge(expected, actual)
    assert result.verdict is Verdict.MATCH
    assert "11 NaN" in result.notes[0]
    assert court.judge(expected, expected * np.float32(1.1)).drifted_samples == ("s1",)


@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_an_output_of_nan_beside_a_healthy_one_is_noted(court: Any, side: Any, noise: float) -> None:
    """The healthy output carries the match; the other is named as not compared."""
    nan = {"logits": NAN, "y": ROW}
    result = court.judge(
        side(outputs=nan), side(outputs={"logits": NAN.copy(), "y": ROW * np.float32(1 + noise)})
    )
    assert result.verdict is Verdict.MATCH
    assert result.notes == (
        "logits: every element is NaN or infinite on both sides; its values were not compared",
    )


def test_an_output_without_elements_beside_a_healthy_one_is_quiet(court: Any, side: Any) -> None:
    """An empty output agrees in structure: it holds no NaN that a note could be about."""
    both = side(outputs={"boxes": np.ones((4, 0)), "y": ROW})
    result = court.judge(both, both)
    assert (result.verdict, result.notes) == (Verdict.MATCH, ())


def test_nan_and_no_elements_are_named_apart(court: Any, side: Any) -> None:
    """Where nothing was compared, each output says why."""
    both = side(outputs={"boxes": np.ones((4, 0)), "y": NAN})
    with pytest.raises(JudgeError, match="boxes: has no elements; y: every element is NaN"):
        court.judge(both, both)


def test_new_nan_everywhere_is_a_drift(court: Any) -> None:
    """A model that answers NaN where the golden has numbers drifted: that is compared."""
    assert court.judge(ROW, NAN).verdict is Verdict.DRIFT
    assert court.judge(NAN, ROW).verdict is Verdict.DRIFT


def test_common_samples_of_nan_only_say_nothing(court: Any, side: Any) -> None:
    """A stale golden whose common samples are NaN does not claim that they agree."""
    golden = side(outputs={"y": NAN[:2]}, ids=["a", "b"])
    result = court.judge(golden, side(outputs={"y": NAN[:3]}, ids=["a", "b", "c"]))
    assert result.verdict is Verdict.STALE
    assert result.message.endswith("nothing could be compared")


def test_a_declared_output_that_nobody_returns_is_an_error(court: Any, side: Any) -> None:
    """A misspelt output path would fall back to defaults unseen."""
    both = side(outputs={"logits": ROW})
    with pytest.raises(JudgeError, match=r"got 'logit' \(did you mean logits\?\)"):
        court.judge(both, both, specs={"logit": OutputSpec(kind="regression")})
