"""A file with rows as a sample set: what the suite says of its columns holds for every row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import SampleSetError
from pytest_modelreg.domain.sample import RowFile, SampleSet
from pytest_modelreg.store import count_sample_set, read_row, read_sample_set
from pytest_modelreg.store.rows.pinning import pin_rows

ALL = {"id": "name", "label": "y", "tags": "tags"}


def declare(name, **columns) -> SampleSet:
    """Return a set without its samples, of a file in the working directory."""
    return SampleSet(folder=str(Path.cwd()), samples=(), rows=RowFile(name=name, **columns))


def pinned(path, **columns) -> SampleSet:
    """Pin a file and read it."""
    pin_rows(path, id_column=columns.get("id"))
    return read_sample_set(declare(path.name, **columns))


def faults(declared) -> list[str]:
    """Return what reading a set says."""
    with pytest.raises(SampleSetError) as error:
        read_sample_set(declared)
    return [str(fault) for fault in error.value.faults]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.npz", "rows.parquet"])
def test_rows_become_samples(write, name):
    """Ids, labels and tags are text from columns; what is left is the input."""
    samples = pinned(write(name), **ALL)
    assert [(one.id, one.label, one.tags, one.row, one.file) for one in samples.samples] == [
        ("ann", "1", ("old", "rich"), 0, name),
        ("bob", "0", (), 1, name),
        ("eve", "1", ("old",), 2, name),
    ]
    assert {key: float(value) for key, value in read_row(samples, samples.samples[1]).items()} == {
        "age": 22.0,
        "income": 1.25,
    }
    assert count_sample_set(declare(name, **ALL)) == 3


def test_input_says_which_columns_and_in_which_order(write):
    """A list gives a dict; one name its value."""
    path = write("rows.jsonl")
    samples = pinned(path, id="name", input=("income", "age"))
    assert list(read_row(samples, samples.samples[0]).items()) == [("income", 2.5), ("age", 31)]
    bare = read_sample_set(declare(path.name, id="name", input=("age",), is_bare=True))
    assert read_row(bare, bare.samples[0]) == 31


def test_a_digest_is_of_the_input_alone(write):
    """A column beside it, a label and the file's layout are no change of a sample; a value is."""
    columns = {"id": "name", "label": "y", "input": ("age", "income")}
    before = pinned(write("rows.jsonl"), **columns)
    rows = [
        {"note": "x", "income": 2.5, "age": 31, "name": "ann", "y": 0},
        {"name": "bob", "age": 22, "income": 1.5, "y": 0},
    ]
    path = write("rows.jsonl", rows)
    pin_rows(path, update=True)
    after = read_sample_set(declare(path.name, **columns))
    same = [one.sha256 == other.sha256 for one, other in zip(before.samples, after.samples, strict=False)]
    assert same == [True, False]


def test_labels_and_tags_may_have_several_forms(write):
    """Booleans, integers beside missing ones, lists of tags."""
    rows = [
        {"x": 1, "y": True, "t": ["a", "b"]},
        {"x": 1, "y": 2.0, "t": None},
        {"x": 1, "y": None, "t": "a  b"},
        {"x": 1, "y": "cat", "t": []},
    ]
    samples = pinned(write("rows.jsonl", rows), label="y", tags="t").samples
    assert [one.label for one in samples] == ["true", "2", None, "cat"]
    assert [one.tags for one in samples] == [("a", "b"), (), ("a", "b"), ()]
    assert [one.id for one in samples] == ["1", "2", "3", "4"]


def test_faults_of_all_rows_are_told_at_once(write):
    """Missing columns, columns that only some have, labels and tags of another form."""
    rows = [
        {"x": 1, "y": 0, "t": ""},
        {"y": 0, "t": ""},
        {"x": 1, "y": [1], "t": ""},
        {"x": 1, "y": 0, "t": ["a b"]},
        {"x": 1, "y": 0, "t": "", "z": 3},
    ]
    path = write("rows.jsonl", rows)
    pin_rows(path)
    assert faults(declare("rows.jsonl", label="y", tags="t")) == [
        "rows.jsonl:2: expected the columns 'x', 'y', 't', got no 'x'; write null for a value that is "
        "missing",
        "rows.jsonl:3: y: expected a label that is text or a number, got [1]",
        "rows.jsonl:4: t: expected tags separated by spaces, or a list of tags, got ['a b']",
        "rows.jsonl:5: expected the columns of the first row, got also 'z'; name the columns that count as "
        "samples.input",
    ]
    assert faults(declare("rows.jsonl", label="y", input=("x",)))[1:] == [
        "rows.jsonl:3: y: expected a label that is text or a number, got [1]"
    ]


def test_columns_that_are_not_there_are_told_at_once(write):
    """With the nearest one, and what the file has."""
    path = write("rows.npz")
    pin_rows(path, id_column="name")
    known = "expected a column of the file ('name', 'age', 'income', 'y', 'tags')"
    assert faults(declare("rows.npz", id="name", label="Y", tags="tag", input=("age", "incone"))) == [
        f"rows.npz: samples.label: {known}, got 'Y' (did you mean y?)",
        f"rows.npz: samples.tags: {known}, got 'tag' (did you mean tags?)",
        f"rows.npz: samples.input: {known}, got 'incone' (did you mean income?)",
    ]


def test_something_must_be_left_for_preprocess(write):
    """Otherwise every sample would be an empty dict."""
    path = write("rows.jsonl", [{"a": "x", "b": 1}])
    pin_rows(path, id_column="a")
    (told,) = faults(declare("rows.jsonl", id="a", label="b"))
    assert told.startswith("rows.jsonl: expected a column for preprocess beside those for id, label and tags")


def test_a_file_needs_its_pin(write):
    """The command that writes it is named, with the suite's column."""
    write("rows.jsonl")
    assert faults(declare("rows.jsonl", id="name")) == [
        "rows.jsonl.pin.json: expected the pin of rows.jsonl, got no file; `modelreg pin rows.jsonl --id "
        "name` writes it"
    ]
    assert count_sample_set(declare("rows.jsonl", id="name")) is None


def test_suite_and_pin_agree_on_the_ids(write):
    """Otherwise the golden's samples would all be others."""
    pin_rows(write("rows.jsonl"))
    assert faults(declare("rows.jsonl", id="name")) == [
        "rows.jsonl.pin.json: expected ids of column 'name', as samples.id of the suite says, got ids of row "
        "numbers; change samples.id, or pin again with `modelreg pin rows.jsonl --id name --update`"
    ]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.npz", "rows.parquet"])
def test_a_changed_row_is_named(write, name):
    """Planted fault: one value, in each format."""
    path = write(name, [{"name": "a", "x": 1.0}, {"name": "b", "x": 2.0}])
    pin_rows(path, id_column="name")
    write(name, [{"name": "a", "x": 1.0}, {"name": "b", "x": 2.5}])
    (told,) = faults(declare(name, id="name"))
    assert told.startswith(f"{name}: sample b: content changed")


def test_exchanged_columns_are_named(write):
    """Planted fault: the header of two columns was exchanged, which is another content of every row."""
    pin_rows(
        write("rows.jsonl", [{"name": "a", "x": 1, "y": 2}, {"name": "b", "x": 3, "y": 3}]), id_column="name"
    )
    write("rows.jsonl", [{"name": "a", "y": 1, "x": 2}, {"name": "b", "y": 3, "x": 3}])
    (told,) = faults(declare("rows.jsonl", id="name"))
    assert told.startswith("rows.jsonl: sample a: content changed")


def test_a_file_that_changes_during_a_run_is_told(write):
    """Planted fault: what is loaded is not what was verified; a row of the same content still is."""
    rows = [{"x": 1}, {"x": 2}, {"x": 3}]
    samples = pinned(write("rows.jsonl", rows))
    write("rows.jsonl", [{"x": 1}, {"x": 22}])
    assert read_row(samples, samples.samples[0]) == {"x": 1}
    with pytest.raises(
        ValueError, match="expected row 2 as it was verified: the file changed during the run"
    ):
        read_row(samples, samples.samples[1])
    with pytest.raises(ValueError, match="expected row 3, got 2 rows: the file changed during the run"):
        read_row(samples, samples.samples[2])


def test_an_archive_gives_each_sample_its_rows(tmp_path, monkeypatch):
    """A dict of arrays without the leading dimension, missing values as they are."""
    monkeypatch.chdir(tmp_path)
    values = np.array([[1.0, np.nan], [3.0, 4.0]], np.float32)
    np.savez("rows.npz", x=values, n=np.array([5, 6], np.int16))
    samples = pinned(Path("rows.npz"))
    row = read_row(samples, samples.samples[0])
    assert np.array_equal(row["x"], values[0], equal_nan=True)
    assert (row["x"].dtype, row["n"].dtype, int(row["n"])) == (np.float32, np.int16, 5)


def test_a_part_of_a_set_is_read_by_row(write):
    """A run on chosen samples leaves the others out, not their rows."""
    samples = pinned(write("rows.jsonl"), **ALL)
    part = replace(samples, samples=samples.samples[2:])
    assert read_row(part, part.samples[0])["age"] == 57
