"""The numbers of every sample as a table: exact, and safe to open."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.domain.result import SampleMeasures
from pytest_modelreg.store import read_measures, write_measures


def _read(folder: Path) -> list[list[str]]:
    with open(folder / "measures.csv", encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_one_row_a_sample(tmp_path: Path) -> None:
    """Header, then id, failed and one number an output, in the order of the measures."""
    measures = SampleMeasures(
        ids=("cat", "dog"),
        failed=(False, True),
        rel_l2={"logits": (0.0, 0.1), "boxes": (1e-7, math.inf)},
    )
    write_measures(tmp_path / "case", measures)
    assert (tmp_path / "case" / "measures.csv").read_bytes() == (
        b"id,failed,logits,boxes\ncat,false,0.0,1e-07\ndog,true,0.1,inf\n"
    )


def test_no_samples_leave_the_header(tmp_path: Path) -> None:
    """A case in which nothing was compared has a table without rows."""
    write_measures(tmp_path, SampleMeasures())
    assert _read(tmp_path) == [["id", "failed"]]


def test_formula_is_neutralised(tmp_path: Path) -> None:
    """Ids and output paths that begin like a formula are text to a spreadsheet."""
    write_measures(tmp_path, SampleMeasures(ids=("=1+1",), failed=(False,), rel_l2={"@x": (math.nan,)}))
    assert _read(tmp_path) == [["id", "failed", "'@x"], ["'=1+1", "false", "nan"]]


@given(value=st.floats())
def test_numbers_are_exact(tmp_path_factory: pytest.TempPathFactory, value: float) -> None:
    """Reading a cell gives the number that was written."""
    folder = tmp_path_factory.getbasetemp() / "measures"
    write_measures(folder, SampleMeasures(ids=("a",), failed=(True,), rel_l2={"y": (value,)}))
    read = float(_read(folder)[1][2])
    assert read == value or (math.isnan(read) and math.isnan(value))


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A file in the way is an error of this package with the path and what to do."""
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(RunFolderError, match=r"measures\.csv: the measures cannot be written.*run again"):
        write_measures(tmp_path / "x", SampleMeasures())


_TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(
    lambda text: not text.startswith("'")
)


@given(
    rows=st.lists(st.tuples(_TEXT, st.booleans(), st.floats(allow_nan=False)), max_size=5),
    path=_TEXT,
)
def test_measures_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, bool, float]], path: str
) -> None:
    """Also ids that a spreadsheet would run, or that hold quotes and ends of lines."""
    folder = tmp_path_factory.mktemp("case")
    measures = SampleMeasures(
        ids=tuple(row[0] for row in rows),
        failed=tuple(row[1] for row in rows),
        rel_l2={path: tuple(row[2] for row in rows)},
    )
    write_measures(folder, measures)
    assert read_measures(folder) == measures


def test_case_without_measures_has_none(tmp_path: Path) -> None:
    """What could not run compared nothing."""
    assert read_measures(tmp_path) == SampleMeasures()


@pytest.mark.parametrize(
    "content", [b"", b"name,failed\n", b"id,failed,y\na,true\n", b"id,failed,y\na,true,much\n", b"\xff\x00"]
)
def test_other_table_is_refused_with_its_path(tmp_path: Path, content: bytes) -> None:
    """Half a table would be half the samples."""
    (tmp_path / "measures.csv").write_bytes(content)
    with pytest.raises(GoldenError, match=r"measures\.csv"):
        read_measures(tmp_path)
