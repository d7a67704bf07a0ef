"""JSON as goldens hold it: strict, sorted, and laid out for a diff."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.json_text import parse_json, render_json, restore_non_finite

KEYS = st.text(max_size=6).filter(lambda key: not key.endswith("_reason"))
FINITE = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
ITEMS = st.recursive(
    FINITE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)
VALUES = st.dictionaries(KEYS, ITEMS | st.sampled_from([math.inf, -math.inf]), max_size=5)


@given(value=VALUES)
def test_round_trip(value: dict) -> None:
    """What is written is read back, infinities included; the text itself is strict JSON."""
    data = render_json(value)
    parsed = json.loads(data, parse_constant=lambda name: pytest.fail(name))
    assert restore_non_finite(parsed) == value
    assert data.endswith(b"}\n")
    assert render_json(dict(reversed(value.items()))) == data


def test_layout() -> None:
    """One key a line, short lists and records in lists on one line, keys sorted."""
    value = {
        "shape": (2, 3),
        "samples": [{"id": "cat", "a": "x" * 120}, {"id": "dog", "a": ""}],
        "facts": {"b": 1, "a": None},
        "empty": {},
        "none": [],
        "warnings": ["w" * 60, "v" * 60],
    }
    assert render_json(value).decode().splitlines() == [
        "{",
        '  "empty": {},',
        '  "facts": {',
        '    "a": null,',
        '    "b": 1',
        "  },",
        '  "none": [],',
        '  "samples": [',
        '    {"a": "' + "x" * 120 + '", "id": "cat"},',
        '    {"a": "", "id": "dog"}',
        "  ],",
        '  "shape": [2, 3],',
        '  "warnings": [',
        '    "' + "w" * 60 + '",',
        '    "' + "v" * 60 + '"',
        "  ]",
        "}",
    ]


@pytest.mark.parametrize(("value", "reason"), [(math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan")])
def test_non_finite_is_null_with_reason(value: float, reason: str) -> None:
    """JSON has no infinity; the reason keeps what it was."""
    assert json.loads(render_json({"rms": value})) == {"rms": None, "rms_reason": reason}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [1.0, math.nan]}, r"a\[1\]"),
        ({"a": {"b": object()}}, r"a\.b"),
        ({"a": {(1,): 2}}, "a: expected text as key"),
    ],
)
def test_what_json_cannot_hold_is_refused_by_place(value: dict, where: str) -> None:
    """Objects and non-finite list items are named by key path, not by a TypeError."""
    with pytest.raises(GoldenError, match=where):
        render_json(value)


def test_integer_keys_become_text() -> None:
    """YAML's ``{0: batch}`` is an axis value like any other."""
    assert json.loads(render_json({"dynamic": {0: "batch"}})) == {"dynamic": {"0": "batch"}}


def test_undecodable_names_survive() -> None:
    """A lone surrogate from an undecodable file name does not break the file."""
    assert parse_json(render_json({"id": "a\udcff"}), Path("x")) == {"id": "a\udcff"}


def test_letters_stay_readable() -> None:
    """A diff shows the sample's id, not its escapes."""
    assert "größe 猫".encode() in render_json({"id": "größe 猫"})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "other bytes"),
        (b'{"a": 1', "other bytes"),
        (b"\xff\xfe", "other bytes"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{\n<<<<<<< HEAD\n"a": 1\n}', "merge conflict"),
        (b"[1]", "expected a JSON object, got list"),
        (b"[" * 100_000, "other bytes"),
    ],
    ids=["empty", "truncated", "binary", "nan", "conflict", "list", "deep"],
)
def test_foreign_bytes_are_one_line_with_the_path(data: bytes, message: str) -> None:
    """Whatever lies there instead, the user gets a line, not a traceback."""
    with pytest.raises(GoldenError) as caught:
        parse_json(data, Path("golden/s/golden.json"))
    assert str(caught.value).startswith("golden/s/golden.json: expected ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "restore it from version control" in str(caught.value)
