"""A file with a row a sample as a suite's sample set, from pinning to the cause of a drift."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

MODEL = """
import numpy as np


def build(weights=(0.5, -0.25, 2.0)):
    return lambda x: np.where(np.isnan(x), -1.5, x) @ np.asarray(weights)[:, None] * [[1.0, -1.0]]
"""

DATA = """
import numpy as np

COLUMNS = ["age", "income", "debt"]


def prepare(row):
    return np.array([np.nan if row[name] is None else row[name] for name in COLUMNS])
"""

SUITE = """
modelreg: 1
suite: credit
samples: {file: data/rows.jsonl, id: name, label: good, tags: tags, input: [age, income, debt]}
reference: {model: card:build, preprocess: features:prepare, batch_size: 5}
outputs: {score: {kind: classification}}
checks: {accuracy_drop: 0}
"""


def make_rows(n_rows=12):
    """Return rows with ids, labels, tags and a missing value here and there."""
    draw = random.Random(0)
    return [
        {
            "name": f"c{index}",
            "age": draw.randint(20, 70),
            "income": round(draw.uniform(1, 5), 2),
            "debt": None if index % 3 == 0 else round(draw.uniform(0, 4), 2),
            "good": index % 2,
            "tags": "odd" if index % 2 else "even",
        }
        for index in range(n_rows)
    ]


class Table:
    """A project whose samples are the rows of ``data/rows.jsonl``."""

    def __init__(self, project):
        self.project = project
        project.write("card.py", MODEL)
        project.write("features.py", DATA)
        project.write("modelreg.yaml", SUITE)
        self.write(make_rows())

    def write(self, rows):
        """Write the rows."""
        self.project.write("data/rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def pin(self, *arguments):
        """Pin the file with a command of its own, which must succeed."""
        result = self.project.modelreg("pin", "data/rows.jsonl", *arguments)
        assert result.ret == 0, result.stderr.str()
        return result

    def case(self, *arguments):
        """Run and return the only case's record."""
        (case,) = self.project.report(*arguments)["cases"]
        return case


@pytest.fixture
def table(project):
    """A project with pinned rows and a golden."""
    table = Table(project)
    table.pin("--id", "name")
    assert project.pytest("--modelreg-regen=missing").ret == 0
    return table


def test_rows_are_compared_like_files(table):
    """Ids in the report, labels judged, the count in the header."""
    case = table.case()
    assert (case["verdict"], case["n_samples"], case["inputs_identical"]) == ("match", 12, True)
    assert {check["name"] for check in case["checks"]} >= {"rel_l2", "accuracy_drop"}
    result = table.project.pytest()
    result.stdout.fnmatch_lines(["*credit: card:build, 12 samples, 1 case*"])


def test_the_commands_work_as_with_a_folder(table):
    """Verifying, prechecking and workers."""
    verified = table.project.modelreg("verify")
    verified.stdout.fnmatch_lines(["verified 1 golden, 1 sample set, 12 samples: all whole"])
    named = table.project.modelreg("verify", "data/rows.jsonl")
    named.stdout.fnmatch_lines(["verified 1 sample set, 12 samples: all whole"])
    checked = table.project.modelreg("precheck")
    checked.stdout.fnmatch_lines(["*bit-identical for all 12 samples: no model was built"])
    spread = table.project.pytester.runpytest_subprocess("--modelreg", "-n", "2")
    assert spread.ret == 0


def test_init_begins_with_a_file(project):
    """The suite, the pin and the first golden in one command."""
    Table(project)
    (project.path / "modelreg.yaml").unlink()
    arguments = ["--model", "card:build", "--preprocess", "features:prepare", "--samples", "data/rows.jsonl"]
    result = project.modelreg("init", *arguments, "--id", "name")
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(["pinned 12 samples in data/rows.jsonl.pin.json"])
    assert "  file: data/rows.jsonl\n  id: name\n" in (project.path / "modelreg.yaml").read_text()
    assert project.pytest().ret == 0


def test_init_says_what_does_not_go_with_a_file(project):
    """Before anything is written."""
    Table(project)
    (project.path / "modelreg.yaml").unlink()
    arguments = ["--model", "card:build", "--preprocess", "features:prepare", "--samples", "data/rows.jsonl"]
    result = project.modelreg("init", *arguments, "--loader", "json")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*--loader: expected none for data/rows.jsonl, whose rows have no files*"])
    assert not (project.path / "modelreg.yaml").exists()


def test_a_changed_row_is_named_before_anything_runs(table):
    """Planted fault: an error until the row is accepted, then the golden is stale for that sample."""
    rows = make_rows()
    rows[4]["income"] += 0.01
    table.write(rows)
    case = table.case()
    assert case["verdict"] == "error"
    assert "sample c4: content changed" in case["message"]
    assert "`modelreg pin data/rows.jsonl --id name --update`" in case["message"]
    table.pin("--update").stdout.fnmatch_lines(["*12 samples; 1 changed"])
    case = table.case()
    assert case["verdict"] == "stale"
    assert case["causes"][0]["cause"] == "samples.content"
    assert "1 changed (c4)" in case["message"]
    assert table.project.pytest("--modelreg-regen=changed", "--modelreg-reason=corrected").ret == 0
    assert table.case()["verdict"] == "match"


def test_a_column_beside_the_input_changes_no_sample(table):
    """Just inside: a note is added and labels are kept; the pin is renewed, the golden is not."""
    table.write([{"note": "seen", **row} for row in make_rows()])
    assert table.case()["verdict"] == "error"
    table.pin("--update").stdout.fnmatch_lines(["*12 samples; 12 changed"])
    before = table.project.golden_bytes()
    assert table.case()["verdict"] == "match"
    assert table.project.golden_bytes() == before


def test_exchanged_columns_are_found_in_preprocessing(table):
    """Planted fault: two features stand in each other's place."""
    table.project.edit("features.py", '["age", "income", "debt"]', '["income", "age", "debt"]')
    case = table.case()
    assert case["verdict"] == "drift"
    assert case["causes"][0]["cause"] == "preprocess.layout"
    assert "2 of 3 columns are in other places" in case["causes"][0]["summary"]


def test_a_dict_that_is_unpacked_in_its_order_follows_the_suite(table):
    """Planted fault: preprocessing trusts the order of the columns, and ``input`` names another one."""
    table.project.write("features.py", DATA.replace("for name in COLUMNS", "for name in row"))
    assert table.case()["verdict"] == "match"
    table.project.edit("modelreg.yaml", "[age, income, debt]", "[debt, income, age]")
    case = table.case()
    assert (case["verdict"], case["causes"][0]["cause"]) == ("drift", "preprocess.layout")


def test_missing_values_as_zero_are_found_in_preprocessing(table):
    """Planted fault: what the model takes for missing is now a number."""
    table.project.edit("features.py", "np.nan if", "0.0 if")
    case = table.case()
    assert case["verdict"] == "drift"
    assert sorted(case["drifted_samples"]) == ["c0", "c3", "c6", "c9"]
    assert case["causes"][0]["cause"].startswith("preprocess.")


def test_a_case_in_another_process_reads_the_same_rows(table):
    """The worker gets which row each sample is."""
    suite = SUITE + 'variants: {elsewhere: {environment: {variables: {OMP_NUM_THREADS: "1"}}}}\n'
    table.project.write("modelreg.yaml", suite)
    cases = table.project.report()["cases"]
    assert {case["variant"]: case["verdict"] for case in cases} == {
        "reference": "match",
        "elsewhere": "match",
    }


def test_a_suite_says_what_does_not_go_together(project):
    """Keys of the two forms, and a file that is not there: all at once, by line."""
    project.write("data/rows.jsonl", '{"x": 1}\n')
    project.write(
        "modelreg.yaml",
        SUITE.replace(
            "{file: data/rows.jsonl, id: name", "{file: data/rows.jsonl, loader: json, folder: samples"
        ),
    )
    result = project.pytest()
    assert result.ret == 4
    told = result.stderr.str()
    assert "samples.loader: expected no loader beside file, whose rows have no files to be loaded" in told
    assert "samples.folder: expected no folder beside file, which names another sample set" in told


def test_arrays_are_rows_too(project):
    """Of an .npz: without a column for ids, samples are called by number."""
    table = Table(project)
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=6) for name in ("age", "income", "debt")}
    np.savez(project.path / "data/rows.npz", **columns)
    suite = SUITE.replace("rows.jsonl, id: name, label: good, tags: tags", "rows.npz")
    project.write("modelreg.yaml", suite.replace("checks: {accuracy_drop: 0}", ""))
    assert project.modelreg("pin", "data/rows.npz").ret == 0
    assert project.pytest("--modelreg-regen=missing").ret == 0
    table.project.edit("card.py", "-1.0]]", "-1.1]]")
    case = table.case()
    assert case["verdict"] == "drift"
    assert case["drifted_samples"] == ["1", "2", "3", "4", "5", "6"]
