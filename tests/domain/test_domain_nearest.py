"""The nearest known name: found whatever the case, said in one way, silent when none is near."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.nearest import MAX_CHARS, find_nearest, phrase_suggestion, suggest

KNOWN = ["rel_l2", "max_abs", "cosine"]


@pytest.mark.parametrize("name", ["rel_l", "REL_L2", " rel_l2 ", "rell2"])
def test_nearest_name_is_suggested(name):
    """A slip, another case and stray spaces are what people write."""
    assert suggest(name, KNOWN) == " (did you mean rel_l2?)"


@pytest.mark.parametrize("name", ["", "weather", "x" * (MAX_CHARS + 1)])
def test_nothing_is_suggested_when_nothing_is_near(name):
    """A far-fetched guess misleads."""
    assert suggest(name, KNOWN) == ""
    assert find_nearest(name, KNOWN) is None


def test_the_known_spelling_is_returned():
    """What is suggested can be copied."""
    assert find_nearest("factori", ["Factory", "build"]) == "Factory"


def test_any_iterable_will_do():
    """Names may come from a generator."""
    assert find_nearest("buidl", (name for name in ("build", "load"))) == "build"


@given(st.lists(st.text("abAB", min_size=1, max_size=4), max_size=6), st.text("abAB", max_size=4))
def test_suggestion_is_a_known_name_whatever_their_order(known, name):
    """Two runs say the same."""
    found = find_nearest(name, known)
    assert found is None or found in known
    assert find_nearest(name, reversed(known)) == found


def test_long_names_cost_little():
    """Words come from files: a book in place of a key must not stop the run."""
    started = time.perf_counter()
    assert find_nearest("a" * 1_000_000, ["a" * 1_000]) is None
    assert time.perf_counter() - started < 1


def test_other_hints_are_phrased_alike():
    """What was meant need not be a misspelt name."""
    assert phrase_suggestion("1e-5 without quotes") == " (did you mean 1e-5 without quotes?)"
    assert phrase_suggestion(None) == ""
