"""The environment in the report: read back as it was, and compared by the judge's rule."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.report import (
    compare_fingerprints,
    fingerprint_record,
    read_fingerprint_record,
    render_difference,
    render_fingerprint,
)

KEYS = st.from_regex(r"[a-z]{1,6}\.[a-z]{1,6}", fullmatch=True)
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.data())
def test_record_reads_back_as_the_fingerprint(facts, data):
    """A report is as good a record of an environment as a golden."""
    reasons = {key: "not set" for key, value in facts.items() if value is None}
    neutral = data.draw(st.sets(st.sampled_from(sorted(facts)))) if facts else set()
    fingerprint = Fingerprint(facts=facts, reasons=reasons, neutral=tuple(sorted(neutral)))
    record = json.loads(json.dumps(fingerprint_record(fingerprint)))
    assert read_fingerprint_record(record) == fingerprint
    assert record["digest"] == fingerprint.digest


@pytest.mark.parametrize("record", [{"a.b": [1]}, {"a.b": {}}, {"neutral": "a.b"}, {"neutral": [1]}])
def test_damaged_record_is_refused(record):
    """What is no scalar is no fact."""
    with pytest.raises(ValueError, match="expected"):
        read_fingerprint_record(record)


def test_differences_are_told_apart():
    """Moving, neutral on a side, and known to one side only; equal facts are in none."""
    expected = Fingerprint(facts={"a.a": 1, "a.b": 1, "a.c": 1, "a.d": 1}, neutral=("a.b",))
    actual = Fingerprint(facts={"a.a": 2, "a.b": 2, "a.d": 1, "a.e": 1})
    difference = compare_fingerprints(expected, actual)
    assert [change.key for change in difference.moving] == ["a.a"]
    assert [change.key for change in difference.neutral] == ["a.b"]
    assert [change.key for change in difference.unshared] == ["a.c", "a.e"]
    text = "\n".join(render_difference(difference, expected, actual, ("old", "new")))
    assert text.index("a.a") < text.index("cannot move a number") < text.index("a.b") < text.index("a.e")


def test_table_says_why_a_fact_is_unknown_and_which_is_neutral():
    """No cell is a riddle; what a variable holds does not steer the terminal."""
    lines = render_fingerprint(
        Fingerprint(
            facts={"a.a": None, "a.b": True, "a.c": "\x1b[31m", "a.d": None},
            reasons={"a.a": "torch is not loaded", "a.d": "not set"},
            neutral=("a.b",),
        )
    )
    assert lines[2].split() == ["a.a", "unknown:", "torch", "is", "not", "loaded"]
    assert lines[3].split() == ["a.b", "true", "neutral"]
    assert "\x1b" not in lines[4]
    assert lines[5].split() == ["a.d", "not", "set"]  # which is known
