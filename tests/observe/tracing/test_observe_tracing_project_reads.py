"""What is kept of a variable's value: enough to see that it is another one, too little to find it."""

from __future__ import annotations

import pytest

from pytest_modelreg.observe.tracing.project_reads import describe_value


def test_another_value_is_another_digest():
    """And the same value of another variable is, too: the name is the key."""
    assert describe_value("SCALE", "1.02") == describe_value("SCALE", "1.02")
    assert describe_value("SCALE", "1.02") != describe_value("SCALE", "1.03")
    assert describe_value("SCALE", "1.02") != describe_value("WIDTH", "1.02")
    assert len(describe_value("SCALE", "1.02")) == 3


def test_a_variable_that_is_not_set_is_told_from_an_empty_one():
    """An empty text is a value."""
    assert describe_value("SCALE", None) == ""
    assert describe_value("SCALE", "") != ""


@pytest.mark.parametrize(
    ("name", "value"),
    [("HUB_TOKEN", "abc"), ("DB_PASSWORD", "abc"), ("DATA", "/home/someone/data"), ("OWNER", "a@b.org")],
)
def test_of_secrets_and_places_only_that_they_are_set(name: str, value: str):
    """Not even a digest: a record of who and where is nobody's business."""
    assert describe_value(name, value) == "set"
