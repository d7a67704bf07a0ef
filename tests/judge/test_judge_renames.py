"""An output under a new path: told from one that is gone and another one that appeared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.verdict import Verdict

ROW = np.ones((4, 3), np.float32)
VALUES = np.arange(12, dtype=np.float32).reshape(4, 3)
RAGGED = [np.ones(1, np.float32), np.ones(2, np.float32)] * 2


@pytest.mark.parametrize("values", [VALUES, RAGGED])
def test_a_renamed_output_is_one_drift_that_says_so(court: Any, side: Any, values: Any) -> None:
    """A path declared after the recording moved the same numbers: one finding, no output gone or new."""
    golden = side(outputs={"output": values, "y": ROW})
    result = court.judge(golden, side(outputs={"y": ROW, "logits": values}))
    text = "expected output, got logits (values bit-identical)"
    assert (result.verdict, result.message) == (Verdict.DRIFT, f"output was renamed: {text}")
    assert [str(finding) for finding in result.structure] == [f"logits: renamed: {text}"]
    assert (list(result.outputs), result.drifted_samples) == (["y"], ())


def test_the_only_output_renamed_is_a_drift(court: Any, side: Any) -> None:
    """With no other output nothing is left to compare, which is no error: the path is what drifted."""
    result = court.judge(side(outputs={"output": VALUES}), side(outputs={"logits": VALUES}))
    assert (result.verdict, result.outputs) == (Verdict.DRIFT, {})
    assert result.message.startswith("output was renamed: ")


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": VALUES}, {"b": VALUES + np.float32(1e-7)}),
        ({"a": VALUES}, {"b": VALUES.view(np.int32)}),
        ({"a": VALUES}, {"b": VALUES.reshape(4, 3, 1)}),
        ({"a": RAGGED}, {"b": [*RAGGED[1::-1], *RAGGED[2:]]}),
    ],
)
def test_an_output_that_is_not_bit_identical_was_not_renamed(
    court: Any, side: Any, expected: Any, actual: Any
) -> None:
    """Other values, dtype, shape or rows of another length: one output is gone, another one appeared."""
    result = court.judge(side(outputs=expected), side(outputs=actual))
    assert [finding.what for finding in result.structure] == ["presence", "presence"]
    assert result.message.startswith("output a is gone (was ")


def test_of_two_new_outputs_none_is_called_renamed(court: Any, side: Any) -> None:
    """Equal values at two new paths do not tell which of them the old one became."""
    result = court.judge(side(outputs={"a": VALUES}), side(outputs={"b": VALUES, "c": VALUES}))
    assert [finding.what for finding in result.structure] == ["presence"] * 3


def test_equal_bytes_of_other_samples_are_no_rename(court: Any, side: Any) -> None:
    """A file of the golden's bytes under a reordered sample set holds other samples' answers."""
    ids = ["a", "b", "c", "d"]
    result = court.judge(side(outputs={"a": VALUES}, ids=ids), side(outputs={"b": VALUES}, ids=ids[::-1]))
    assert [finding.what for finding in result.structure] == ["presence", "presence"]


def test_an_ignored_output_is_no_half_of_a_rename(court: Any, side: Any) -> None:
    """What the suite does not look at did not become something else."""
    sides = side(outputs={"a": VALUES, "y": ROW}), side(outputs={"b": VALUES, "y": ROW})
    result = court.judge(*sides, specs={"a": OutputSpec(per="ignore")})
    assert [finding.what for finding in result.structure] == ["presence"]
