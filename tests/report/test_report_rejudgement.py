"""The line of a case that was judged again: the number that decides, and where its limit comes from."""

from __future__ import annotations

import math

import pytest

from pytest_modelreg.domain.result import CaseResult, CheckResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report import case_record, rejudged_document, render_rejudged
from pytest_modelreg.report.rejudgement import describe_decision, measure_use


def make_check(value, limit, *, name="rel_l2", direction="max", ok=None, tag=None):
    """A check result, which passes as its numbers say."""
    passes = value <= limit if direction == "max" else value >= limit
    return CheckResult(
        name=name,
        output="logits",
        tag=tag,
        value=value,
        limit=limit,
        direction=direction,
        ok=passes if ok is None else ok,
        source="checks.x",
    )


def make_result(verdict, *checks, message="about it", **fields):
    """A case with these checks."""
    return CaseResult(
        suite="toy", variant="v", verdict=verdict, message=message, checks=checks, n_samples=6, **fields
    )


def test_drift_names_the_check_that_is_furthest_beyond():
    """With the samples and how many more failed."""
    result = make_result(
        Verdict.DRIFT,
        make_check(2e-5, 1e-5),
        make_check(0.5, 0.99, name="top1_agreement", direction="min"),
        drifted_samples=("a", "b"),
    )
    assert render_rejudged(Verdict.MATCH, result) == (
        "toy[v]: match -> drift: logits top1_agreement 0.5 < 0.99 (limit from checks.x) in 2 of 6 samples, "
        "and 1 more check beyond"
    )


def test_match_names_the_check_that_is_nearest_to_its_limit():
    """What a tighter limit would meet first."""
    result = make_result(
        Verdict.MATCH,
        make_check(1e-7, 1e-5),
        make_check(0.97, 0.96, name="cosine", direction="min", tag="dark"),
    )
    assert describe_decision(result) == (
        "logits cosine[dark] 0.97 >= 0.96 (limit from checks.x), of 2 checks the nearest to its limit"
    )


def test_drift_without_a_failed_check_is_in_its_own_words():
    """Another shape has no number."""
    assert describe_decision(make_result(Verdict.DRIFT, make_check(0, 1), message="shape")) == "shape"


def test_value_that_rounds_to_its_limit_is_shown_whole():
    """0.001 > 0.001 would be read as a mistake."""
    assert "0.00100001 > 0.001 " in describe_decision(
        make_result(Verdict.DRIFT, make_check(0.00100001, 0.001))
    )


@pytest.mark.parametrize(
    ("check", "used"),
    [
        (make_check(5e-6, 1e-5), 0.5),
        (make_check(0.0, 0.0), 0.0),
        (make_check(1.0, 0.0), math.inf),
        (make_check(math.nan, 1.0, ok=False), math.inf),
        (make_check(math.inf, 1.0), math.inf),
        (make_check(0.99, 0.98, direction="min"), 0.5),
        (make_check(1.0, 1.0, direction="min"), 0.0),
        (make_check(0.9, 1.0, direction="min"), math.inf),
        (make_check(40.0, 20.0, direction="min", name="snr_db"), 0.5),
        (make_check(0.0, 20.0, direction="min", name="snr_db"), math.inf),
    ],
)
def test_use_of_a_limit_is_a_share_in_both_directions(check, used):
    """Upper limits by value, lower ones by what is missing; nothing allowed is all used by anything."""
    assert measure_use(check) == pytest.approx(used)


def test_ids_from_a_run_folder_cannot_steer_the_terminal():
    """A run is data from elsewhere."""
    result = CaseResult(suite="t\x1b[31m", variant="v", verdict=Verdict.MATCH, message="m\n::x")
    assert render_rejudged(Verdict.DRIFT, result).isprintable()


def test_report_has_the_runs_facts_and_the_verdicts_of_now():
    """The same keys as a run's own report."""
    result = make_result(Verdict.MATCH, make_check(1e-7, 1e-5))
    report = {
        "run": {"id": "R", "started": "then", "partial": False},
        "environment": {"torch.version": "2"},
        "cases": ["old"],
    }
    document = rejudged_document([result], report, run_id="folder", fingerprint=None, is_partial=False)
    assert document["cases"] == [case_record(result)]
    assert document["environment"] == {"torch.version": "2"}
    assert (document["run"]["id"], document["run"]["started"]) == ("R", "then")
    assert document["run"]["partial"] is False


@pytest.mark.parametrize("report", [{}, {"run": [], "environment": 3}])
def test_report_of_a_run_that_was_cut_off_is_still_one(report):
    """Every key is there, and cases that were left out are said to be."""
    document = rejudged_document([], report, run_id="folder", fingerprint=None, is_partial=True)
    assert document["run"] | {"duration_s": 0} == {
        "id": "folder",
        "started": "",
        "duration_s": 0,
        "git": {"commit": None, "dirty": None},
        "partial": True,
    }
    assert document["environment"] == {}
