"""Notes of several cases, each said once."""

from __future__ import annotations

from pytest_modelreg.report.notes import group_notes, name_cases


def test_cases_that_share_a_note_are_gathered() -> None:
    """In the order in which notes and cases come."""
    notes = {"a": ["x", "y"], "b": ["y"], "c": []}
    assert list(group_notes(notes).items()) == [("x", ["a"]), ("y", ["a", "b"])]


def test_one_case_is_named_and_many_are_counted() -> None:
    """The first few stand for all."""
    assert name_cases(["a"]) == "a"
    assert name_cases(["a", "b", "c"]) == "3 cases (a, b, c)"
    assert name_cases(list("abcd")) == "4 cases (a, b, c, ...)"
