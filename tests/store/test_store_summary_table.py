"""The table for people: valid CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import hashlib
import io

import pytest

from pytest_modelreg.store.summary_table import render_summary, summary_file


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "-x"]
)
def test_formula_is_neutralised(cell: str) -> None:
    """A label that begins like a formula is text to a spreadsheet."""
    (row,) = csv.reader(io.StringIO(render_summary([[cell]]).decode(), newline=""))
    assert row == ["'" + cell]


@pytest.mark.parametrize("cell", ["-1.5", "+3", "-inf", "-1e-05", "tabby 0.81", "", "a=b", "größe"])
def test_numbers_and_words_stay(cell: str) -> None:
    """Just inside: signs of numbers are no formulas."""
    assert next(csv.reader(io.StringIO(render_summary([["x", cell]]).decode()))) == ["x", cell]


def test_cells_are_quoted_and_lines_end_in_newline() -> None:
    """Commas, quotes and line breaks in ids keep their cell; the bytes are the same everywhere."""
    assert render_summary([["a,b", 'c"d', "e\nf"], ["1", "2", "3"]]) == b'"a,b","c""d","e\nf"\n1,2,3\n'


def test_record_is_of_the_bytes() -> None:
    """The record made without writing carries the digest of the rendered table."""
    rows = [["sample", "norm"], ["=a", "1.0"]]
    record = summary_file(rows)
    assert (record.file, record.sha256) == ("summary.csv", hashlib.sha256(render_summary(rows)).hexdigest())
    assert summary_file([["sample", "norm"], ["=a", "1.1"]]) != record
