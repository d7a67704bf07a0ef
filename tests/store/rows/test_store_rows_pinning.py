"""Pinning a file with rows: what is written once is verified ever after, and every difference is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import SampleSetError, UsageFault
from pytest_modelreg.store.rows.pinning import pin_rows


def faults(path, **options) -> list[str]:
    """Return what pinning says."""
    with pytest.raises(SampleSetError) as error:
        pin_rows(Path(path), **options)
    return [str(fault) for fault in error.value.faults]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.npz", "rows.parquet"])
def test_the_first_pin_lists_a_row_a_line(write, name):
    """A diff shows which rows changed; verifying afterwards writes nothing."""
    path = write(name)
    report = pin_rows(path, id_column="name")
    assert (report.added, report.n_samples) == (("ann", "bob", "eve"), 3)
    place = Path(f"{name}.pin.json")
    text = place.read_text()
    pin = json.loads(text)
    assert (pin["file"], pin["id"], [row[0] for row in pin["rows"]]) == (name, "name", ["ann", "bob", "eve"])
    assert sum(line.lstrip().startswith('["') for line in text.splitlines()) == 3
    before = place.stat().st_mtime_ns
    report = pin_rows(path, check=True)
    assert (report.added, report.removed, report.changed, report.n_samples) == ((), (), (), 3)
    assert pin_rows(path) == report
    assert place.stat().st_mtime_ns == before


def test_without_a_column_rows_are_called_by_number(write):
    """From 1, like lines."""
    assert pin_rows(write("rows.jsonl")).added == ("1", "2", "3")


def test_integers_are_ids_too(write):
    """Of an array as of JSON."""
    for name in ("rows.jsonl", "rows.npz"):
        assert pin_rows(write(name), id_column="age").added == ("31", "22", "57")


def test_every_row_that_differs_is_named(write):
    """Planted fault: one changed, one gone, one more; `--update` accepts and counts them."""
    rows = [{"id": name, "x": index} for index, name in enumerate("abcd")]
    pin_rows(write("rows.jsonl", rows), id_column="id")
    rows = [{**rows[0], "x": 7}, rows[2], rows[3], {"id": "e", "x": 4}]
    path = write("rows.jsonl", rows)
    update = "with `modelreg pin rows.jsonl --id id --update`"
    assert faults(path) == [
        "rows.jsonl: sample a: content changed: expected what was pinned, got other values; restore the row, "
        f"or accept it {update}",
        f"rows.jsonl: sample b: expected this row, got none; restore it, or take it off {update}",
        f"rows.jsonl: sample e: expected only pinned rows, got one more; remove it, or pin it {update}",
    ]
    report = pin_rows(path, update=True)
    assert (report.changed, report.removed, report.added, report.n_samples) == (("a",), ("b",), ("e",), 4)
    assert pin_rows(path, check=True).n_samples == 4


def test_one_value_is_enough(write):
    """Planted fault of every format: the last digit of one number."""
    for name in ("rows.jsonl", "rows.npz", "rows.parquet"):
        path = write(name, [{"id": "a", "x": 0.1}, {"id": "b", "x": 0.2}])
        pin_rows(path, id_column="id")
        write(name, [{"id": "a", "x": 0.1}, {"id": "b", "x": float(np.nextafter(0.2, 1))}])
        (told,) = faults(path)
        assert told.startswith(f"{name}: sample b: content changed")


def test_the_file_is_pinned_as_a_whole(write):
    """Other bytes with the same rows, and another order, are told for the file."""
    rows = [{"id": "a", "x": 1}, {"id": "b", "x": 2}]
    path = write("rows.jsonl", rows)
    pin_rows(path, id_column="id")
    path.write_text(path.read_text().replace(", ", ",  "))
    (told,) = faults(path)
    assert "rows.jsonl: bytes changed" in told
    assert "although all rows hold what was pinned" in told
    (told,) = faults(write("rows.jsonl", rows[::-1]))
    assert "although all rows stand in another order" in told
    assert pin_rows(path, update=True).changed == ()


def test_faults_of_all_rows_are_told_at_once(write):
    """By line; nothing is written."""
    path = write(
        "rows.jsonl",
        [{"id": "a"}, {"id": "a"}, {"x": 1}, {"id": ""}, {"id": 1.5}, {"id": [1]}, {"id": "b\n"}],
    )
    path.write_text(path.read_text() + "{\n")
    assert faults(path, id_column="id") == [
        "rows.jsonl:2: id: expected each id once, got 'a' again (first in row 1)",
        "rows.jsonl:3: expected a column 'id' for the id, got none",
        "rows.jsonl:4: expected text or an integer as id, got ''",
        "rows.jsonl:5: expected text or an integer as id, got 1.5",
        "rows.jsonl:6: expected text or an integer as id, got [1]",
        "rows.jsonl:7: expected an id of printable characters, got 'b\\n'",
        "rows.jsonl:8: expected a JSON object on one line: Expecting property name enclosed in double quotes "
        "(column 2)",
    ]
    assert not Path("rows.jsonl.pin.json").exists()


def test_rows_of_tables_are_told_by_number(write):
    """There are no lines."""
    for name in ("rows.npz", "rows.parquet"):
        path = write(name, [{"id": "a", "x": 1}, {"id": "a", "x": 2}])
        assert faults(path, id_column="id") == [
            f"{name}: row 2: id: expected each id once, got 'a' again (first in row 1)"
        ]


def test_a_broken_file_gets_no_endless_list(write):
    """A hundred faults, and how many more."""
    told = faults(write("rows.jsonl", [{"id": "a"}] * 300), id_column="id")
    assert len(told) == 101
    assert told[-1] == "rows.jsonl: and 199 more faults"


def test_a_column_that_is_not_there_is_told_with_the_nearest(write):
    """Before any row is."""
    assert faults(write("rows.npz"), id_column="nmae") == [
        "rows.npz: expected a column 'nmae' for the ids, got 'name', 'age', 'income', 'y', 'tags' "
        "(did you mean name?)"
    ]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.npz"])
def test_a_file_without_rows_is_no_sample_set(tmp_path, monkeypatch, name):
    """Nothing would be compared."""
    monkeypatch.chdir(tmp_path)
    if name == "rows.npz":
        np.savez(name, x=np.zeros((0, 3)))
    else:
        Path(name).write_bytes(b"")
    assert faults(name) == [f"{name}: expected at least one row, got none"]


def test_other_ids_are_accepted_only_on_request(write):
    """They would make all samples new ones."""
    path = write("rows.jsonl")
    pin_rows(path, id_column="name")
    assert faults(path, id_column="age") == [
        "rows.jsonl.pin.json: expected ids of column 'name', as pinned, got column 'age'; leave --id out, or "
        "accept the other ids with `modelreg pin rows.jsonl --id age --update`"
    ]
    assert pin_rows(path, id_column="age", update=True).added == ("31", "22", "57")


def test_checking_needs_a_pin(write):
    """In CI nothing is pinned by the way; the command that does is named."""
    assert faults(write("rows.jsonl"), check=True) == [
        "rows.jsonl.pin.json: expected the file's pin, got no file; `modelreg pin rows.jsonl` writes it"
    ]
    with pytest.raises(UsageFault):
        pin_rows(Path("rows.jsonl"), check=True, update=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected JSON as `modelreg pin` writes it, got other text"),
        (
            "[]",
            "expected what `modelreg pin` writes, got something else; restore it, or pin again without it",
        ),
        ('{"modelreg_pin": 2, "rows": []}', "expected a pin of format 1, got 2; upgrade pytest-modelreg"),
        (
            '{"modelreg_pin": 1, "sha256": "0", "id": null, "rows": []}',
            "expected what `modelreg pin` writes, got something else; restore it, or pin again without it",
        ),
    ],
)
def test_a_damaged_pin_is_told(write, text, message):
    """And never overwritten without a word."""
    path = write("rows.jsonl")
    Path("rows.jsonl.pin.json").write_text(text)
    (told,) = faults(path, update=True)
    assert told.startswith(f"rows.jsonl.pin.json: {message}")
    assert Path("rows.jsonl.pin.json").read_text() == text
