"""How rows read: one line for people, cells for ``summary.csv``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CHECK_NAMES, DEFAULT_CHECKS
from pytest_modelreg.domain.check import KINDS as KIND_NAMES
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge import summarise
from pytest_modelreg.judge.checks import CHECKS
from pytest_modelreg.judge.kinds import KINDS
from pytest_modelreg.store.summary_table import render_summary

pytestmark = pytest.mark.filterwarnings("error")

LABELS = OutputSpec(kind="classification", labels=("cat", "tabby", "dog"))


def test_every_name_of_the_domain_is_built() -> None:
    """What a suite file accepts is what judging knows."""
    assert tuple(KINDS) == KIND_NAMES
    assert tuple(CHECKS) == CHECK_NAMES


def test_every_default_check_has_a_limit_of_its_own_or_of_the_dtype() -> None:
    """A default check without a limit would be dropped unseen; only the check of values takes the dtype's."""
    names = {name for defaults in DEFAULT_CHECKS.values() for name in defaults}
    assert {name for name in names if CHECKS[name].default_limit is None} == {"rel_l2"}


@pytest.mark.parametrize(
    ("kind", "row", "cells"),
    [
        ("tensor", np.array([-0.0732656, -0.313946, 0.2]), ["0.379381", "[-0.0732656 -0.313946 0.2]"]),
        ("tensor", np.array([-1 + 2j]), ["2.23607", "[-1+2j]"]),
        ("tensor", np.array([True, False]), ["1.0", "[True False]"]),
        ("tensor", np.array(-0.5), ["0.5", "[-0.5]"]),
        ("tensor", np.zeros((0, 4)), ["0.0", "[]"]),
        ("regression", np.array([-1.5]), ["-1.5"]),
        ("regression", np.array([-1.5, 2.0]), ["[-1.5 2.0]"]),
        ("regression", np.array(-1 + 2j), ["[-1+2j]"]),
        ("regression", np.arange(-1.0, 8.0), ["[-1.0 0.0 1.0 2.0 3.0 4.0 5.0 6.0] ..."]),
        ("classification", np.array([np.nan, -1.0]), ["1.0, 1 NaN", "[nan -1.0]", "", ""]),
    ],
)
def test_a_cell_is_a_number_or_text_that_no_spreadsheet_runs(
    kind: str, row: np.ndarray, cells: list[str]
) -> None:
    """Several values stand in brackets: a bare `-0.5 2.0` would be written with an apostrophe as a guard."""
    assert list(KINDS[kind].summarise(row, OutputSpec(kind=kind))) == cells
    assert render_summary([cells]).decode("utf-8").count("'") == 0


@pytest.mark.parametrize(
    ("row", "spec", "text"),
    [
        (np.array([0.1, 0.81, 0.09], np.float32), LABELS, "tabby 0.81"),
        (np.array([0.0, 2.0, 0.0]), LABELS, "tabby 0.79"),
        (np.array([0.0, 0.0, 0.0, 9.0]), LABELS, "class 3 1.00"),
        (np.array([-np.inf, 1.0, 0.0]), LABELS, "tabby 0.73, 1 infinite"),
        (np.array([1.0, np.inf, 0.0]), LABELS, "tabby 1.00, 1 infinite"),
        (np.array([1e308, 1e308, 0.0]), LABELS, "cat 0.50"),
        (np.array([np.nan, 1.0, 0.0]), LABELS, "[nan, 1.0, 0.0]"),
    ],
)
def test_scores_read_as_label_and_probability(row: np.ndarray, spec: OutputSpec, text: str) -> None:
    """A distribution is taken as it is, other scores by softmax; odd rows still read as something."""
    kind = KINDS["classification"]
    assert kind.render(row, spec, 2 if "nan" not in text else 4) == text


@pytest.mark.parametrize(
    ("kind", "row", "text"),
    [
        ("regression", np.array([3.2171]), "3.217"),
        ("regression", np.array(7, np.int64), "7"),
        ("tensor", np.array(0.5), "0.5"),
        ("tensor", np.array([[0.12, -3.4], [1.0, 2.0]]), "[0.12, -3.4, 1.0, 2.0]"),
        ("tensor", np.array([3.0, 4.0, *[0.0] * 10]), "norm 5.0, first 3.0, 4.0, 0.0"),
        ("tensor", np.array([3.0, np.nan, *[0.0] * 10]), "norm 3.0, first 3.0, nan, 0.0, 1 NaN"),
        ("tensor", np.array([True, False]), "[True, False]"),
        ("tensor", np.array([1 + 2j]), "[1+2j]"),
        ("tensor", np.zeros((0, 4)), "[]"),
    ],
)
def test_values_read_short(kind: str, row: np.ndarray, text: str) -> None:
    """Short rows are shown whole, long ones by norm and first values."""
    assert KINDS[kind].render(row, OutputSpec(kind=kind), 4) == text


def test_summary_has_a_row_a_sample(court: Any, side: Any) -> None:
    """Ids, labels and the cells of every output per sample, to six digits; then values a batch."""
    request = court.request(
        *[
            side(
                outputs={
                    "logits": np.array([[0.0, 3.0, 1.0], [5.0, 1.0, 0.0]], np.float32),
                    "norms": np.arange(20.0).reshape(2, 10) / 3,
                    "loss": np.array([1.0]),
                },
                per={"loss": "batch"},
                ids=["a", "b"],
            )
        ]
        * 2
    )
    samples = SampleSet(
        folder="",
        samples=(
            Sample(id="a", file="a", sha256="a", label="tabby"),
            Sample(id="b", file="b", sha256="b"),
        ),
    )
    table = summarise(request.observation_folder, request.observation, samples, {"logits": LABELS})
    assert table == [
        [
            "id",
            "label",
            *("logits.top", "logits.score", "logits.second", "logits.second_score"),
            *("norms.norm", "norms.first", "loss.norm", "loss.first"),
        ],
        ["a", "tabby", "tabby", "0.843795", "dog", "0.114195", "5.62731", "[0.0 0.333333 0.666667]", "", ""],
        ["b", "", "cat", "0.975559", "tabby", "0.017868", "15.5813", "[3.33333 3.66667 4.0]", "", ""],
        ["batch 0", "", "", "", "", "", "", "", "1.0", "[1.0]"],
    ]


def test_summary_without_labels_has_no_label_column(court: Any, side: Any) -> None:
    """A sample set without ground truth gets no empty column."""
    request = court.request(*[side(outputs={"y": np.array([1.5, 2.5])})] * 2)
    folder: Path = request.observation_folder
    table = summarise(folder, request.observation, request.samples, {"y": OutputSpec(kind="regression")})
    assert table == [["id", "y.value"], ["s0", "1.5"], ["s1", "2.5"]]


@pytest.mark.parametrize("count", [2, 4])
def test_labels_that_are_not_one_a_class_are_refused(court: Any, side: Any, count: int) -> None:
    """A name missing in the list gives every class behind it a wrong one: neither judged nor recorded."""
    scores = np.eye(3, dtype=np.float32)
    both = side(outputs={"logits": scores})
    specs = {"logits": OutputSpec(kind="classification", labels=("a", "b", "c", "d")[:count])}
    text = rf"toy\[reference\]: labels of logits: expected 3 names for 3 classes, got {count}; write one name"
    with pytest.raises(JudgeError, match=text):
        court.judge(both, both, specs=specs)
    request = court.request(both, both)
    with pytest.raises(JudgeError, match=text):
        summarise(request.observation_folder, request.observation, request.samples, specs)


def test_labels_that_are_one_a_class_are_accepted(court: Any, side: Any) -> None:
    """As many names as classes judge and record."""
    both = side(outputs={"logits": np.eye(3, dtype=np.float32)})
    assert court.judge(both, both, specs={"logits": LABELS}).verdict is Verdict.MATCH


def test_all_label_faults_are_reported_at_once(court: Any, side: Any) -> None:
    """Two outputs whose lists of names do not fit are named in one error when recording."""
    both = side(outputs={"a": np.ones((2, 4)), "b": np.ones((2, 1))})
    request = court.request(both, both)
    with pytest.raises(JudgeError) as caught:
        summarise(
            request.observation_folder, request.observation, request.samples, {"a": LABELS, "b": LABELS}
        )
    lines = [line.partition(": ")[2].partition(";")[0] for line in str(caught.value).splitlines()]
    assert lines == [
        "labels of a: expected 4 names for 4 classes, got 3",
        "labels of b: expected 1 name for 1 class, got 3",
    ]
