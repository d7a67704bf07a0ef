"""Every check: a planted fault is caught, the same fault just inside the limit passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

SCORES = OutputSpec(kind="classification", top_k=2)


def _fault(size: float) -> tuple[np.ndarray, np.ndarray]:
    """Return four rows of norm 10, and the same with one element of row 1 moved."""
    expected = np.zeros((4, 10))
    expected[:, 0] = 10.0
    actual = expected.copy()
    actual[1, 3] += size
    return expected, actual


@pytest.mark.parametrize(
    ("name", "value", "inside", "outside"),
    [
        ("rel_l2", 1e-3, 0.99e-2, 1.01e-2),
        ("max_abs", 0.5, 0.49, 0.51),
        ("mean_abs", 0.05, 0.49, 0.51),
        ("cosine", 0.995, 0.99, 1.02),
    ],
)
def test_a_value_check_draws_the_line_at_its_limit(
    court: Any, ask: Any, limit: Any, name: str, value: float, inside: float, outside: float
) -> None:
    """Just inside matches; just outside is a drift of exactly that sample, by exactly that check."""
    checks = ask(limit(name, value), off=[] if name == "rel_l2" else ["rel_l2"])
    assert court.judge(*_fault(inside), checks=checks).verdict is Verdict.MATCH
    result = court.judge(*_fault(outside), checks=checks)
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("s1",)
    (check,) = result.checks
    assert (check.name, check.limit, check.ok, check.source) == (name, value, False, f"checks.{name}")


@pytest.mark.parametrize(("size", "verdict"), [(0.0099, Verdict.MATCH), (0.0101, Verdict.DRIFT)])
def test_elementwise_allows_atol_and_rtol(
    court: Any, ask: Any, limit: Any, size: float, verdict: Verdict
) -> None:
    """An element where expected is 0 may differ by atol only; the value counts violations."""
    checks = ask(limit("elementwise", rtol=0.1, atol=0.01), off=["rel_l2"])
    result = court.judge(*_fault(size), checks=checks)
    assert result.verdict is verdict
    assert result.checks[0].value == (1.0 if verdict is Verdict.DRIFT else 0.0)


def test_exact_counts_unequal_elements(court: Any, ask: Any, limit: Any) -> None:
    """Exact allows no difference at all, however small, and -0.0 is none."""
    checks = ask(limit("exact"), off=["rel_l2"])
    assert court.judge(np.zeros((2, 3)), np.full((2, 3), -0.0), checks=checks).verdict is Verdict.MATCH
    result = court.judge(*_fault(1e-300), checks=checks)
    assert result.verdict is Verdict.DRIFT
    assert result.checks[0].value == 1.0
    assert result.outputs["y"].n_mismatched == 1


def _flipped(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ten rows of three scores, and the same with ``count`` top classes flipped."""
    expected = np.tile(np.array([3.0, 2.0, 1.0]), (10, 1))
    actual = expected.copy()
    actual[:count] = [2.0, 3.0, 1.0]
    return expected, actual


@pytest.mark.parametrize(("flips", "verdict"), [(1, Verdict.MATCH), (2, Verdict.DRIFT)])
def test_top1_agreement_is_judged_over_the_set(
    court: Any, ask: Any, limit: Any, flips: int, verdict: Verdict
) -> None:
    """At 0.9 one flip of ten is tolerated and noted; two are a drift of both samples."""
    checks = ask(off=["rel_l2"], y=[limit("top1_agreement", 0.9)])
    result = court.judge(*_flipped(flips), specs={"y": SCORES}, checks=checks)
    assert result.verdict is verdict
    assert result.checks[0].value == pytest.approx(1 - flips / 10)
    if verdict is Verdict.MATCH:
        assert result.drifted_samples == ()
        assert result.notes == ("1 top-1 flip within the limit: s0",)
        assert {sample.id: sample.note for sample in result.samples}["s0"] == "top class flipped, tolerated"
    else:
        assert result.drifted_samples == ("s0", "s1")


@pytest.mark.parametrize(("value", "verdict"), [(0.95, Verdict.MATCH), (0.96, Verdict.DRIFT)])
def test_topk_overlap_is_the_mean_overlap(
    court: Any, ask: Any, limit: Any, value: float, verdict: Verdict
) -> None:
    """One of ten samples that loses half of its top 2 leaves 0.95."""
    expected, actual = _flipped(0)
    actual[4] = [3.0, 1.0, 2.0]
    checks = ask(off=["rel_l2", "top1_agreement"], y=[limit("topk_overlap", value)])
    result = court.judge(expected, actual, specs={"y": SCORES}, checks=checks)
    assert result.verdict is verdict
    assert result.drifted_samples == (() if verdict is Verdict.MATCH else ("s4",))


def test_cosine_alone_passes_scaling_and_rel_l2_does_not(court: Any, ask: Any, limit: Any) -> None:
    """A model that answers x1.2 is a drift although every cosine is 1."""
    expected = np.random.default_rng(0).standard_normal((4, 50)).astype(np.float32)
    result = court.judge(expected, expected * np.float32(1.2), checks=ask(limit("cosine", 0.999)))
    assert {check.name: check.ok for check in result.checks} == {"rel_l2": False, "cosine": True}
    assert result.outputs["y"].cosine_min == pytest.approx(1.0)
    assert result.drifted_samples == ("s0", "s1", "s2", "s3")


def test_a_vanished_row_fails_cosine(court: Any, ask: Any, limit: Any) -> None:
    """A row that became all zero has no angle and must not pass for one."""
    expected, _ = _fault(0.0)
    actual = expected.copy()
    actual[2] = 0.0
    result = court.judge(expected, actual, checks=ask(limit("cosine", 0.1), off=["rel_l2"]))
    assert result.drifted_samples == ("s2",)


def test_limits_by_tag_are_judged_over_tagged_samples(court: Any, ask: Any, limit: Any) -> None:
    """A flip that the set tolerates fails the tag whose samples may not flip."""
    checks = ask(off=["rel_l2"], y=[limit("top1_agreement", 0.9, tags={"critical": 1.0})])
    options = {"specs": {"y": SCORES}, "checks": checks}
    expected, actual = _flipped(1)
    result = court.judge(expected, actual, tags={"s0": ("critical",), "s1": ("critical",)}, **options)
    assert [(check.tag, check.value, check.ok) for check in result.checks] == [
        (None, 0.9, True),
        ("critical", 0.5, False),
    ]
    assert result.drifted_samples == ("s0",)
    assert "top1_agreement[critical] 0.5 < 1 in 1 of 10 samples (worst: s0)" in result.message
    assert court.judge(expected, actual, tags={"s5": ("critical",)}, **options).verdict is Verdict.MATCH


@pytest.mark.parametrize(("size", "verdict"), [(0.99e-3, Verdict.MATCH), (1.01e-3, Verdict.DRIFT)])
def test_a_value_check_judges_a_tag_by_its_own_limit(
    court: Any, ask: Any, limit: Any, size: float, verdict: Verdict
) -> None:
    """A sample whose tag allows less than the set drifts by the tag's limit, and only with the tag."""
    checks = ask(limit("rel_l2", 1e-2, tags={"critical": 1e-4}))
    result = court.judge(*_fault(size), checks=checks, tags={"s1": ("critical",), "s2": ("critical",)})
    assert result.verdict is verdict
    assert [(check.tag, check.limit) for check in result.checks] == [(None, 1e-2), ("critical", 1e-4)]
    assert result.checks[0].ok
    if verdict is Verdict.DRIFT:
        assert result.drifted_samples == ("s1",)
        assert "rel_l2[critical] 1.01e-04 > 0.0001 in 1 of 4 samples (worst: s1)" in result.message
    untagged = court.judge(*_fault(size), checks=checks, tags={"s0": ("critical",)})
    assert untagged.verdict is Verdict.MATCH


@pytest.mark.parametrize(("name", "value"), [("mean_abs", 1e9), ("cosine", -1.0), ("max_abs", 1e9)])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_one_sided_nan_fails_the_only_check_whatever_its_limit(
    court: Any, ask: Any, limit: Any, name: str, value: float, is_new: bool
) -> None:
    """A limit that everything finite passes fails the row that is NaN on one side, and no other."""
    healthy, _ = _fault(0.0)
    broken = healthy.copy()
    broken[2, 4] = np.nan
    checks = ask(limit(name, value), off=["rel_l2"])
    result = court.judge(*((healthy, broken) if is_new else (broken, healthy)), checks=checks)
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("s2",)
    assert [(check.name, check.ok) for check in result.checks] == [(name, False)]
    assert court.judge(healthy, healthy * 1.0001, checks=checks).verdict is Verdict.MATCH


def test_an_unknown_tag_names_the_nearest(court: Any, ask: Any, limit: Any) -> None:
    """A misspelt tag would select nothing and pass: it is an error instead."""
    checks = ask(limit("rel_l2", 1e-5, tags={"critcal": 1e-6}))
    with pytest.raises(
        JudgeError, match=r"samples carry \(critical\), got 'critcal' \(did you mean critical\?\)"
    ):
        court.judge(*_fault(0.0), checks=checks, tags={"s0": ("critical",)})


def test_an_unknown_check_names_the_nearest(court: Any, ask: Any, limit: Any) -> None:
    """A check of an unknown name never counts as passed."""
    with pytest.raises(JudgeError, match=r"got 'max_abz' \(did you mean max_abs\?\)"):
        court.judge(*_fault(0.0), checks=ask(limit("max_abz", 1.0)))


@pytest.mark.parametrize(
    "values", [np.ones(4), np.ones((4, 3), np.int64), np.ones((4, 1)), np.ones((4, 3), np.complex64)]
)
def test_top1_needs_floating_class_scores(court: Any, values: np.ndarray) -> None:
    """An output without class scores cannot agree on a top class; the error says what to do."""
    with pytest.raises(JudgeError, match=r"expected floating class scores.*top1_agreement: off"):
        court.judge(values, values, specs={"y": SCORES})


def test_topk_that_cannot_change_is_refused(court: Any, ask: Any, limit: Any) -> None:
    """Top 5 of three classes always overlaps: not a check."""
    checks = ask(y=[limit("topk_overlap", 0.9)])
    spec = OutputSpec(kind="classification", top_k=5)
    with pytest.raises(JudgeError, match="expected top_k from 1 to 2 for 3 classes, got 5"):
        court.judge(*_flipped(0), specs={"y": spec}, checks=checks)


def test_cosine_of_bool_is_refused(court: Any, ask: Any, limit: Any) -> None:
    """A mask has no angle."""
    with pytest.raises(JudgeError, match="cosine: expected numbers, got bool"):
        court.judge(np.ones((2, 3), bool), np.ones((2, 3), bool), checks=ask(limit("cosine", 0.9)))


def test_no_check_left_is_refused(court: Any, ask: Any) -> None:
    """An output with every check off would pass whatever it holds."""
    with pytest.raises(JudgeError, match="expected at least one check, got all of them off"):
        court.judge(*_fault(0.0), checks=ask(off=["rel_l2"]))


def test_all_faults_are_reported_at_once(court: Any, side: Any, ask: Any, limit: Any) -> None:
    """Two outputs with checks that cannot be applied are named in one error."""
    both = side(outputs={"a": np.ones((2, 3), bool), "b": np.ones((2, 3), bool)})
    with pytest.raises(JudgeError) as caught:
        court.judge(both, both, checks=ask(limit("cosine", 0.9)))
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == ["outputs.a", "outputs.b"]


def test_nan_in_every_row_leaves_nothing_to_decide(court: Any, ask: Any) -> None:
    """A golden of NaN only has no decisions; that is an error and no agreement, also when bit-identical."""
    nan = np.full((3, 4), np.nan, np.float32)
    with pytest.raises(JudgeError, match="got NaN in every compared row"):
        court.judge(nan, nan.copy(), specs={"y": SCORES})


def test_integers_are_exact_by_default(court: Any) -> None:
    """One unequal integer of a million is a drift."""
    expected = np.arange(10**6, dtype=np.int64).reshape(2, -1)
    actual = expected.copy()
    actual[1, 7] += 1
    result = court.judge(expected, actual)
    assert (result.verdict, result.drifted_samples) == (Verdict.DRIFT, ("s1",))
    assert (result.checks[0].name, result.checks[0].value, result.checks[0].source) == (
        "exact",
        1.0,
        "dtype default (int64)",
    )


def test_a_suite_wide_limit_does_not_loosen_integers(court: Any, ask: Any, limit: Any) -> None:
    """A relative limit meant for scores leaves token ids exact."""
    expected = np.full((2, 10), 10**6)
    result = court.judge(expected, expected + np.eye(2, 10, dtype=int), checks=ask(limit("rel_l2", 1e-2)))
    assert {check.name: check.ok for check in result.checks} == {"rel_l2": True, "exact": False}


@pytest.mark.parametrize(("step", "verdict"), [(0, Verdict.MATCH), (1, Verdict.DRIFT)])
def test_a_suite_wide_elementwise_does_not_loosen_integers(
    court: Any, ask: Any, limit: Any, step: int, verdict: Verdict
) -> None:
    """Elements within a tolerance meant for scores are still other token ids."""
    expected = np.full((2, 10), 10**6)
    checks = ask(limit("elementwise", rtol=1e-3, atol=2.0))
    result = court.judge(expected, expected + step * np.eye(2, 10, dtype=int), checks=checks)
    assert result.verdict is verdict
    assert {check.name: check.ok for check in result.checks} == {"elementwise": True, "exact": step == 0}


def test_elementwise_written_for_an_integer_output_replaces_exact(court: Any, ask: Any, limit: Any) -> None:
    """Asked for by output, the tolerance is meant: one step passes, three do not."""
    expected = np.full((2, 10), 100)
    checks = ask(y=[limit("elementwise", rtol=0.0, atol=2.0)])
    assert court.judge(expected, expected + 1, checks=checks).verdict is Verdict.MATCH
    assert court.judge(expected, expected + 3, checks=checks).verdict is Verdict.DRIFT


def test_a_limit_written_for_an_integer_output_replaces_exact(court: Any, ask: Any, limit: Any) -> None:
    """A quantised output may be off by one where the suite says so for it."""
    expected = np.arange(-5, 5, dtype=np.int8).reshape(2, 5)
    checks = ask(y=[limit("max_abs", 1.0, source="outputs.y.checks.max_abs")])
    result = court.judge(expected, expected + np.int8(1), checks=checks)
    assert result.verdict is Verdict.MATCH
    assert [check.name for check in result.checks] == ["max_abs"]
