"""The two forms of a suite's sample set: a folder with a file a sample, a file with a row a sample."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.sample import RowFile
from pytest_modelreg.engine.schema import json_schema

jsonschema = pytest.importorskip("jsonschema")

BLOCK = "samples: {folder: samples, loader: json}"


@pytest.fixture
def replace(suites):
    """Return the five-line suite with another block of samples; files with rows are there."""
    for name in ("rows.jsonl", "rows.npz", "rows.parquet", "rows.csv"):
        (suites.path / name).touch()
    return lambda block: suites.suite.replace(BLOCK, block)


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ("{file: rows.jsonl}", RowFile(name="rows.jsonl")),
        (
            "{file: ./rows.npz, id: name, label: y, tags: t, input: [b, a]}",
            RowFile(name="rows.npz", id="name", label="y", tags="t", input=("b", "a")),
        ),
        ("{file: rows.parquet, input: text}", RowFile(name="rows.parquet", input=("text",), is_bare=True)),
    ],
)
def test_a_file_is_declared_with_its_columns(suites, replace, written, rows):
    """Where it lies is the folder; every case gets them."""
    suite = suites.load(replace(f"samples: {written}"))
    assert suite.samples.rows == rows
    assert suite.samples.folder == str(suites.path)
    assert suite.samples.place == suites.path / rows.name
    assert (suite.cases[0].template.samples, suite.cases[0].template.loader) == (suite.samples, "row")


def test_a_folder_has_no_columns(suites):
    """And is its own place."""
    suite = suites.load(suites.suite)
    assert (suite.samples.rows, suite.samples.place) == (None, suites.path / "samples")


@pytest.mark.parametrize(
    ("written", "faults"),
    [
        (
            "{file: rows.jsonl, folder: samples, loader: json}",
            [
                "samples.folder: expected no folder beside file, which names another sample set; keep one "
                "of them",
                "samples.loader: expected no loader beside file, whose rows have no files to be loaded; "
                "take it out",
            ],
        ),
        (
            "{folder: samples, loader: json, id: name, input: x}",
            [
                "samples.id: expected no id beside folder, whose files have no columns; take it out",
                "samples.input: expected no input beside folder, whose files have no columns; take it out",
            ],
        ),
        (
            "{file: rows.csv}",
            [
                "samples.file: expected a file with a row a sample (.jsonl .npz .parquet), got 'rows.csv': a "
                "folder with a file a sample is named by `folder`"
            ],
        ),
        (
            "{file: row.jsonl}",
            ["samples.file: expected an existing file, got 'row.jsonl', which is not there"],
        ),
        (
            "{file: rows.npz, input: []}",
            ["samples.input: expected a column, or a list of columns, got an empty list"],
        ),
        ("{file: rows.npz, input: [a, a]}", ["samples.input: expected every column once, got 'a' twice"]),
        (
            "{file: rows.npz, input: [1]}",
            ["samples.input: expected a column, or a list of columns, got a list"],
        ),
        (
            "{loader: json}",
            ["samples.folder: expected this key, for example folder: fixtures/photos, got none"],
        ),
        ("{folder: samples}", ["samples.loader: expected this key, for example loader: image, got none"]),
        (
            "{file: rows.npz, lable: y}",
            [
                "samples.lable: expected one of folder, loader, file, id, label, tags, input, got 'lable' "
                "(did you mean label?)"
            ],
        ),
    ],
)
def test_a_planted_fault_is_told(suites, replace, written, faults):
    """Each on its line, all at once."""
    assert suites.faults(replace(f"samples: {written}")) == [f"modelreg.yaml:3: {fault}" for fault in faults]


@pytest.mark.parametrize(
    ("samples", "fits"),
    [
        ({"folder": "samples", "loader": "json"}, True),
        ({"file": "rows.jsonl", "id": "name", "input": ["a"]}, True),
        ({"file": "rows.jsonl", "input": "a"}, True),
        ({"folder": "samples"}, False),
        ({"id": "name"}, False),
        ({"folder": "samples", "loader": "json", "file": "rows.jsonl"}, False),
    ],
)
def test_the_schema_knows_both_forms(samples, fits):
    """So that an editor tells what is missing."""
    suite = {"modelreg": 1, "suite": "toy", "samples": samples, "reference": {"model": "m:build"}}
    assert jsonschema.Draft202012Validator(json_schema()).is_valid(suite) == fits
