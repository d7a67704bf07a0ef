"""Structure before values: each difference is a finding, and agreeing outputs are still judged."""

from __future__ import annotations

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
    ("expected", "actual", "text"),
    [
        ({"y": ROW, "aux": ROW}, {"y": ROW}, "aux: output: expected float32 (4, 3), got nothing"),
        ({"y": ROW}, {"y": ROW, "aux": ROW}, "aux: output: expected nothing, got float32 (4, 3)"),
    ],
)
def test_an_output_that_appeared_or_vanished_is_drift(
    court: Any, side: Any, expected: Any, actual: Any, text: str
) -> None:
    """Outputs are compared both ways; the others are still judged."""
    result = court.judge(side(outputs=expected), side(outputs=actual))
    assert result.verdict is Verdict.DRIFT
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


def test_a_declared_output_that_nobody_returns_is_an_error(court: Any, side: Any) -> None:
    """A misspelt output path would fall back to defaults unseen."""
    both = side(outputs={"logits": ROW})
    with pytest.raises(JudgeError, match=r"got 'logit' \(did you mean logits\?\)"):
        court.judge(both, both, specs={"logit": OutputSpec(kind="regression")})
