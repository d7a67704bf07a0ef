"""Inputs that differ in nothing but their dtype."""

from __future__ import annotations

import pytest

from pytest_modelreg.judge.input_forms import describe_dtypes


def test_inputs_of_another_dtype_are_named_with_both():
    """Only those that differ."""
    told = describe_dtypes("ids int64 12, mask float32 12", "ids int32 12, mask float32 12")
    assert told == "ids int64 -> int32"
    assert describe_dtypes("float32 3 x 8", "float64 3 x 8") == "float32 -> float64"
    assert describe_dtypes("n int64 scalar", "n int32 scalar") == "n int64 -> int32"


@pytest.mark.parametrize(
    "other",
    [
        "ids int64 12",
        "ids int32 13",
        "words int32 12",
        "ids int32 12, mask float32 12",
        "ids U of 12 bytes (ab)",
    ],
)
def test_whatever_else_differs_is_more_than_a_dtype(other: str):
    """Just inside: nothing, a shape, a name, a structure, words."""
    assert describe_dtypes("ids int64 12", other) == ""
