"""Lists in messages are cut in one way."""

from __future__ import annotations

from pytest_modelreg.domain.listing import name_some


def test_a_long_list_names_the_first_and_counts_the_others():
    """The names and the number beyond make up the whole."""
    assert name_some(["a", "b", "c", "d", "e"], 3) == "a, b, c and 2 more"


def test_a_list_that_fits_is_whole():
    """Just inside: nothing is counted."""
    assert name_some(["a", "b", "c"], 3) == "a, b, c"
    assert name_some([], 3) == ""


def test_things_that_are_not_worth_a_name_are_counted_too():
    """A message that begins with 22 names three and counts 19."""
    assert name_some(["a", "b", "c", "d"], 3, n_total=22) == "a, b, c and 19 more"
    assert name_some(["a"], 3, n_total=1) == "a"
