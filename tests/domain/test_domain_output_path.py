"""Patterns of output paths: what they stand for, and which one wins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.check import CheckPlan, OutputChecks
from pytest_modelreg.domain.output_path import find_entry, find_key, is_pattern, matches

KEYS = st.text("ab0*", min_size=1, max_size=3)
PATHS = st.lists(st.text("ab0", min_size=1, max_size=3), min_size=1, max_size=4).map(".".join)
PATTERNS = st.lists(KEYS, min_size=1, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("heads.*", "heads.0"),
        ("*", "logits"),
        ("*.logits", "a.logits"),
        ("heads.*.box", "heads.3.box"),
        ("head_*", "head_a"),
        ("head_*", "head_"),
        ("heads.**", "heads"),
        ("heads.**", "heads.0.box"),
        ("**", "a.b.c"),
        ("**.logits", "logits"),
        ("**.logits", "a.b.logits"),
        ("a.**.b.**", "a.x.b.y.z"),
        ("a.**.**.b", "a.b"),
        ("a.b", "a.b"),
        ("a.*", "a.line\nbreak"),
        ("a+(b).*", "a+(b).c"),
    ],
)
def test_pattern_stands_for_path(pattern, path):
    """``*`` is one key or a part of it, ``**`` any number of keys, all else itself."""
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("heads.*", "heads"),
        ("heads.*", "heads.0.box"),
        ("*", "a.b"),
        ("head_*", "head_a.b"),
        ("heads.**", "headset"),
        ("**.logits", "mylogits"),
        ("a.b", "a.c"),
        ("a+.*", "aa.b"),
    ],
)
def test_pattern_does_not_stand_for_path(pattern, path):
    """A wildcard never crosses a key, and other characters mean themselves."""
    assert not matches(pattern, path)


def test_path_itself_wins():
    """What a suite says of one output is narrower than what it says of many."""
    assert find_entry("heads.0", {"heads.*": 1, "**": 2, "heads.0": 3}) == 3


def test_pattern_with_most_literal_characters_wins():
    """The order in the file does not decide."""
    entries = {"**": 1, "heads.*": 2, "heads.*.box": 3, "*.*.box": 4}
    assert find_entry("heads.1.box", entries) == 3
    assert find_entry("heads.1", entries) == 2
    assert find_entry("tail.1.box", entries) == 4
    assert find_entry("logits", entries) == 1


def test_equals_are_decided_by_wildcards_and_then_by_order():
    """One key is narrower than any number of them."""
    assert find_key("heads.0", {"heads.**": 1, "heads.*": 2}) == "heads.*"
    assert find_key("ab", {"*b": 1, "a*": 2}) == "*b"


def test_nothing_is_found_where_nothing_fits():
    """An output that the suite does not know has no entry, and falsy entries are entries."""
    assert find_entry("logits", {"heads.*": 1}) is None
    assert find_entry("logits", {"*": 0}) == 0


def test_checks_are_found_by_pattern():
    """A limit for ``heads.*`` is judged for every head, and for nothing else."""
    heads, rest = OutputChecks(off=frozenset({"rel_l2"})), OutputChecks()
    plan = CheckPlan(by_output={"heads.*": heads}, default=rest)
    assert plan.of("heads.1") is heads
    assert plan.of("logits") is rest


@given(PATHS)
def test_a_path_stands_for_itself_only(path):
    """Without a wildcard there is no pattern."""
    assert not is_pattern(path)
    assert matches(path, path)
    assert not matches(path, f"{path}.x")


def _matches_slowly(pattern: list[str], path: list[str]) -> bool:
    """State the meaning key by key."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_matches_slowly(pattern[1:], path[n:]) for n in range(len(path) + 1))
    return bool(path) and _fits(pattern[0], path[0]) and _matches_slowly(pattern[1:], path[1:])


def _fits(pattern: str, key: str) -> bool:
    if not pattern:
        return not key
    if pattern[0] == "*":
        return any(_fits(pattern[1:], key[n:]) for n in range(len(key) + 1))
    return bool(key) and key[0] == pattern[0] and _fits(pattern[1:], key[1:])


@given(PATTERNS, PATHS)
def test_meaning_is_that_of_the_definition(pattern, path):
    """The compiled expression says what the words say."""
    assert matches(pattern, path) == _matches_slowly(pattern.split("."), path.split("."))
