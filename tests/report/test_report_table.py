"""Text from files is shown, never obeyed, by a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.report.table import printable, render_table


@given(st.text())
def test_printable_text_has_no_control_characters(text):
    """Escape sequences, line breaks and direction marks come out as escapes."""
    assert printable(printable(text)) == printable(text)
    assert all(char.isprintable() or char in "\u2028\u2029" or char.isspace() for char in printable(text))
    assert not set(printable(text)) & set("\x1b\n\r\t\x00\x07\u202e\u200b")


def test_readable_text_is_left_alone():
    """Names in any script stay readable."""
    assert printable("Käse 日本 0.81") == "Käse 日本 0.81"


def test_columns_without_content_are_left_out():
    """A table shows no empty column."""
    assert render_table(["a", "b"], [["1", ""], ["2", ""]], indent=2) == ["  a", "  1", "  2"]


def test_long_cells_are_cut_in_the_middle():
    """One long id must not push the numbers off the screen."""
    (_, line) = render_table(["id"], [["x" * 50 + "y" * 50]], indent=0)
    assert len(line) <= 60
    assert line.startswith("x")
    assert line.endswith("y")
