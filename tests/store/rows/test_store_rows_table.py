"""Files with rows: every format gives the same rows, and says what is wrong with a file."""

from __future__ import annotations

import datetime
import decimal
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import SampleSetError
from pytest_modelreg.store.rows.content import digest_row
from pytest_modelreg.store.rows.table import RowError, open_table
from tests.store.rows.conftest import ROWS

FILES = ("rows.jsonl", "rows.npz", "rows.parquet")


def plain(row):
    """Return a row with Python's own numbers."""
    return {key: value.tolist() if isinstance(value, np.generic) else value for key, value in row.items()}


def faults(path) -> list[str]:
    """Return what opening a file says."""
    with pytest.raises(SampleSetError) as error:
        open_table(Path(path))
    return [str(fault) for fault in error.value.faults]


@pytest.mark.parametrize("name", FILES)
def test_rows_are_what_was_written(write, name):
    """All at once, one at a time, and some columns in the order asked for."""
    table = open_table(write(name))
    assert len(table) == 3
    assert table.columns == ("name", "age", "income", "y", "tags")
    assert [plain(row) for row in table.iterate(None)] == ROWS
    assert [plain(table.read(row, ["income", "name"])) for row in (2, 0, 1)] == [
        {"income": ROWS[row]["income"], "name": ROWS[row]["name"]} for row in (2, 0, 1)
    ]
    assert list(table.read(1, ["income", "name"])) == ["income", "name"]
    assert [plain(row) for row in table.iterate(["age"])] == [{"age": row["age"]} for row in ROWS]


def test_a_row_has_one_digest_in_jsonl_and_parquet(write):
    """Converting the file is no change of its samples."""
    digests = [
        [digest_row(row, list(row)) for row in open_table(write(name)).iterate(None)]
        for name in ("rows.jsonl", "rows.parquet")
    ]
    assert digests[0] == digests[1]


def test_a_compressed_archive_gives_the_same_rows(write):
    """It only takes more memory."""
    table = open_table(write("rows.npz", compressed=True))
    assert [plain(row) for row in table.iterate(None)] == ROWS
    assert plain(table.read(2, ["age"])) == {"age": 57}


def test_arrays_of_an_archive_lose_their_leading_dimension(tmp_path):
    """Whatever their layout, and without sharing memory between rows."""
    image = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.savez(
        tmp_path / "rows.npz", image=image, turned=np.asfortranarray(image), words=np.array(["a", "bcd"])
    )
    table = open_table(tmp_path / "rows.npz")
    row = table.read(1, ["image", "turned", "words"])
    assert np.array_equal(row["image"], image[1])
    assert np.array_equal(row["turned"], image[1])
    assert row["words"] == "bcd"
    row["image"][:] = 0
    assert np.array_equal(table.read(1, ["image"])["image"], image[1])


def test_a_file_that_changed_is_read_anew(write):
    """An opened file is only kept as long as it is the same."""
    assert plain(open_table(write("rows.jsonl")).read(0, ["age"])) == {"age": 31}
    table = open_table(write("rows.jsonl", [{"age": 1234567}]))
    assert (len(table), table.read(0, ["age"])) == (1, {"age": 1234567})


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.npz"])
def test_rows_are_not_held_in_memory(write, name):
    """A file of 16 MB is read through with less than a quarter of it."""
    rows = [{"x": [float(index)] * 1000, "n": index} for index in range(2000)]
    path = write(name, rows)
    assert path.stat().st_size > 12e6
    table = open_table(path)
    tracemalloc.start()
    n_rows = sum(not isinstance(row, RowError) for row in table.iterate(None))
    table.read(1999, ["x"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_rows == 2000
    assert peak < 4e6


def test_moments_and_decimals_come_as_plain_values(tmp_path):
    """What Python has for them depends on what else is installed."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table(
        {
            "when": arrow.array([1_700_000_000_123_456_789], arrow.timestamp("ns", tz="UTC")),
            "day": arrow.array([datetime.date(1970, 1, 3)]),
            "price": arrow.array([decimal.Decimal("1.50")]),
            "word": arrow.array(["x"]).dictionary_encode(),
            "deep": arrow.array([{"a": [1, None]}]),
            "raw": arrow.array([b"\x00\xff"]),
        }
    )
    parquet.write_table(table, tmp_path / "rows.parquet")
    opened = open_table(tmp_path / "rows.parquet")
    assert opened.read(0, opened.columns) == {
        "when": 1_700_000_000_123_456_789,
        "day": 2,
        "price": "1.50",
        "word": "x",
        "deep": {"a": [1, None]},
        "raw": b"\x00\xff",
    }


LINES = {
    b'{"a": }': "expected a JSON object on one line: Expecting value (column 7)",
    b'{"a": NaN}': "expected finite numbers, got NaN, which is not JSON; write null",
    b'{"a": -Infinity}': "expected finite numbers, got -Infinity, which is not JSON; write null",
    b'{"a": 1e999}': "expected numbers that fit 64 bits, got 1e999",
    b'{"a": 18446744073709551616}': "expected integers of at most 64 bits, got 18446744073709551616",
    b'{"a": ' + b"9" * 5000 + b"}": "expected integers of at most 64 bits, got 999999999999... (5000 digits)",
    b'{"a": 1, "a": 2}': "expected every key once, got 'a' twice",
    b"[1]": "expected a JSON object, got an array",
    b"": "expected a JSON object, got an empty line; remove it",
    b'{"a": "\xff"}': "expected UTF-8, got byte 0xff at offset 7",
    b'{"a": '
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}": "expected JSON, got lists or objects nested too deeply",
    b'{"a": 1}{"a": 2}': "expected a JSON object on one line: Extra data",
}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:20].decode("latin-1"))
def test_a_malformed_line_is_told_and_the_others_are_read(tmp_path, monkeypatch, line):
    """By file and line, and what is wrong with it."""
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 0}\r\n' + line + b'\n{"a": 9223372036854775807}')
    table = open_table(Path("rows.jsonl"))
    first, faulty, last = table.iterate(None)
    assert (first, last) == ({"a": 0}, {"a": (1 << 63) - 1})
    assert isinstance(faulty, RowError)
    assert str(faulty).startswith(LINES[line])
    assert table.locate(1) == ("rows.jsonl:2", "")


def test_arrays_of_unequal_length_are_all_named(tmp_path, monkeypatch):
    """And values without a leading dimension."""
    monkeypatch.chdir(tmp_path)
    np.savez("rows.npz", a=np.zeros((3, 2)), b=np.zeros(2), version=np.float64(1), c=np.zeros((4, 1)))
    assert faults("rows.npz") == [
        "rows.npz: b: expected 3 rows, as 'a' has, got 2",
        "rows.npz: version: expected an array with a row a sample, got a single value; "
        "store it in another file",
        "rows.npz: c: expected 3 rows, as 'a' has, got 4",
    ]


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    """Planted fault: an array of Python objects, which would run code when it is loaded."""
    monkeypatch.chdir(tmp_path)
    np.savez("rows.npz", a=np.array([{"x": 1}, None], dtype=object), b=np.zeros(2, "datetime64[s]"))
    assert faults("rows.npz") == [
        "rows.npz: a: expected numbers or text, got Python objects, which would have to be unpickled",
        "rows.npz: b: expected numbers, booleans, text or bytes, got dtype datetime64[s]",
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.npz", b"PK no archive", "rows.npz: expected arrays of numpy.savez, got other bytes"),
        ("rows.parquet", b"PAR1 no table", "rows.parquet: expected a Parquet file, got other bytes"),
        ("rows.csv", b"a,b\n", "rows.csv: expected a file of .jsonl .npz .parquet, got .csv"),
        ("rows.npz", None, "rows.npz: expected a file with a row a sample, got no file"),
        (
            "rows.npz",
            b"version https://git-lfs.github.com/spec/v1\n",
            "rows.npz: expected a file with a row a sample, got a git-lfs pointer; run `git lfs pull`",
        ),
    ],
)
def test_a_file_that_is_none_of_its_format_is_told(tmp_path, monkeypatch, name, content, message):
    """With its name and what to do."""
    monkeypatch.chdir(tmp_path)
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    if content is not None:
        Path(name).write_bytes(content)
    (told,) = faults(name)
    assert told.startswith(message)


def test_a_cut_archive_is_told(write):
    """Planted fault: half of the bytes."""
    path = write("rows.npz")
    path.write_bytes(path.read_bytes()[:-200])
    (told,) = faults(path)
    assert told.startswith("rows.npz: expected arrays of numpy.savez, got other bytes")


def test_pyarrow_is_only_asked_for_where_it_is_needed(write, monkeypatch):
    """And named with the extra that installs it."""
    path = write("rows.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert faults(path) == [
        "rows.parquet: a .parquet file is read by pyarrow, which is not installed: "
        "pip install 'pytest-modelreg[parquet]'"
    ]
    assert len(open_table(write("rows.jsonl"))) == 3
