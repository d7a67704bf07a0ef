"""Plain scalars follow the YAML 1.2 core schema, not PyYAML's 1.1."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.engine.suite_file.scalar import MAX_NUMBER_CHARS, resolve_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("1E+3", 1e3),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("012", 12),
        ("-0", 0),
        ("0o17", 15),
        ("0x1F", 31),
        ("+7", 7),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        (".inf", math.inf),
        ("-.INF", -math.inf),
    ],
)
def test_core_scalar_has_its_value(text, value):
    """A number, a truth value or null is read as YAML 1.2 says."""
    found = resolve_scalar(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "off",
        "on",
        "yes",
        "no",
        "y",
        "Off",
        "1:30",
        "190:20:30",
        "2024-01-31",
        "1_000",
        "0b11",
        "0o8",
        "1e",
        ".",
        "e5",
        "=",
        "<<",
    ],
)
def test_words_of_yaml_1_1_are_text(text):
    """What PyYAML would turn into a truth value, a date or base sixty stays text."""
    assert resolve_scalar(text) == text


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_nan_is_read_as_such(text):
    """So that a limit of NaN can be refused by name."""
    found = resolve_scalar(text)
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize("digit", ["9", "9e9", "0x9"])
def test_endless_number_is_refused(digit):
    """Converting digits takes quadratic time, and Python itself refuses past some length."""
    with pytest.raises(ValueError, match="characters"):
        resolve_scalar(digit + "9" * MAX_NUMBER_CHARS)


@given(st.integers(min_value=-(10**90), max_value=10**90))
def test_integers_survive_a_round_trip(value):
    """Any integer is read back as it was written."""
    assert resolve_scalar(str(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive_a_round_trip(value):
    """Any finite number is read back as Python writes it."""
    assert resolve_scalar(repr(value)) == value
