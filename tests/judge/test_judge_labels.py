"""Checks against the truth: ``negative_flips`` and ``accuracy_drop``, and how labels name classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

SCORES = {"y": OutputSpec(kind="classification", labels=("cat", "dog", "eel"))}
OFF = ["rel_l2", "top1_agreement"]
TRUTH = {f"s{number}": "cat" for number in range(10)}


def _flipped(*flips: tuple[int, int], start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return ten rows whose top class is ``start``, and the same with these rows' top class moved."""
    expected = np.tile(np.eye(3)[start] * 3.0, (10, 1))
    actual = expected.copy()
    for row, top in flips:
        actual[row] = np.eye(3)[top] * 3.0
    return expected, actual


@pytest.mark.parametrize(("n_flips", "verdict"), [(1, Verdict.MATCH), (2, Verdict.DRIFT)])
@pytest.mark.parametrize("name", ["negative_flips", "accuracy_drop"])
def test_lost_answers_draw_the_line_at_the_limit(
    court: Any, ask: Any, limit: Any, name: str, n_flips: int, verdict: Verdict
) -> None:
    """At 0.1, one right answer of ten may be lost; two are a drift of both samples."""
    checks = ask(off=OFF, y=[limit(name, 0.1)])
    flips = [(row, 1) for row in range(n_flips)]
    result = court.judge(*_flipped(*flips), specs=SCORES, checks=checks, labels=TRUTH)
    assert result.verdict is verdict
    assert result.checks[0].value == pytest.approx(n_flips / 10)
    assert result.checks[0].direction == "max"
    assert result.drifted_samples == (("s0", "s1") if verdict is Verdict.DRIFT else ())


def test_gained_answers_make_up_for_a_drop_but_not_for_flips(court: Any, ask: Any, limit: Any) -> None:
    """Two lost and two gained leave accuracy as it was, and two users who see a regression."""
    expected, actual = _flipped((0, 1), (1, 2), (2, 1), (3, 1))
    truth = {**TRUTH, "s2": "dog", "s3": "dog"}
    checks = ask(off=OFF, y=[limit("negative_flips", 0.0), limit("accuracy_drop", 0.0)])
    result = court.judge(expected, actual, specs=SCORES, checks=checks, labels=truth)
    assert {check.name: (check.value, check.ok) for check in result.checks} == {
        "negative_flips": (0.2, False),
        "accuracy_drop": (0.0, True),
    }
    assert result.drifted_samples == ("s0", "s1")


def test_a_flip_from_wrong_to_wrong_is_neither(court: Any, ask: Any, limit: Any) -> None:
    """Only right answers can be lost."""
    checks = ask(off=OFF, y=[limit("negative_flips", 0.0), limit("accuracy_drop", 0.0)])
    result = court.judge(*_flipped((0, 2), start=1), specs=SCORES, checks=checks, labels=TRUTH)
    assert result.verdict is Verdict.MATCH


def test_a_gain_is_a_negative_drop(court: Any, ask: Any, limit: Any) -> None:
    """A better model is no drift by accuracy, and says by how much."""
    checks = ask(off=OFF, y=[limit("accuracy_drop", 0.0)])
    result = court.judge(*_flipped((0, 0), (1, 0), start=1), specs=SCORES, checks=checks, labels=TRUTH)
    assert (result.verdict, result.checks[0].value) == (Verdict.MATCH, pytest.approx(-0.2))


def test_samples_without_a_label_do_not_count(court: Any, ask: Any, limit: Any) -> None:
    """The share is of labelled samples: one lost answer of four."""
    checks = ask(off=OFF, y=[limit("negative_flips", 0.24)])
    truth = dict.fromkeys(("s0", "s1", "s2", "s3"), "cat")
    result = court.judge(*_flipped((0, 1), (7, 1)), specs=SCORES, checks=checks, labels=truth)
    assert (result.checks[0].value, result.drifted_samples) == (0.25, ("s0",))


@pytest.mark.parametrize(("margin", "verdict"), [(1.4e-5, Verdict.MATCH), (1.5e-5, Verdict.DRIFT)])
def test_a_near_tie_keeps_the_decision(
    court: Any, ask: Any, limit: Any, margin: float, verdict: Verdict
) -> None:
    """A flip within sqrt(2) * epsilon * norm is noise: neither lost nor gained."""
    expected = np.zeros((2, 3), np.float32)
    expected[:, :2] = [(0.5**0.5) + margin / 2, (0.5**0.5) - margin / 2]
    actual = expected[:, [1, 0, 2]]
    checks = ask(off=OFF, y=[limit("negative_flips", 0.0), limit("accuracy_drop", 0.0)])
    labels = {"s0": "cat", "s1": "eel"}
    result = court.judge(expected, actual, specs=SCORES, checks=checks, labels=labels)
    assert result.verdict is verdict
    assert result.drifted_samples == (() if verdict is Verdict.MATCH else ("s0",))


def test_limits_by_tag_and_a_tag_without_labels(court: Any, ask: Any, limit: Any) -> None:
    """A tag is judged over its labelled samples; one that has none cannot be judged."""
    checks = ask(off=OFF, y=[limit("negative_flips", 0.5, tags={"critical": 0.0})])
    options = {"specs": SCORES, "checks": checks, "labels": {"s0": "cat", "s1": "cat"}}
    flipped = _flipped((0, 1))
    result = court.judge(*flipped, tags={"s0": ("critical",), "s5": ("critical",)}, **options)
    assert [(check.tag, check.ok) for check in result.checks] == [(None, True), ("critical", False)]
    for sides in (flipped, (flipped[0], flipped[0])):
        with pytest.raises(JudgeError, match="negative_flips: expected a label of at least one sample"):
            court.judge(*sides, tags={"s5": ("critical",)}, **options)


@pytest.mark.parametrize("label", ["cat", "0"])
def test_a_label_is_a_name_or_an_index(court: Any, ask: Any, limit: Any, label: str) -> None:
    """Both name class 0."""
    checks = ask(off=OFF, y=[limit("negative_flips", 0.0)])
    result = court.judge(*_flipped((0, 1)), specs=SCORES, checks=checks, labels={"s0": label})
    assert result.drifted_samples == ("s0",)


def test_an_index_needs_no_names(court: Any, ask: Any, limit: Any) -> None:
    """A sample set can carry class indices without a file of names."""
    checks = ask(off=OFF, y=[limit("accuracy_drop", 0.0)])
    specs = {"y": OutputSpec(kind="classification")}
    result = court.judge(*_flipped((0, 1)), specs=specs, checks=checks, labels={"s0": "0"})
    assert result.drifted_samples == ("s0",)


def test_a_name_wins_over_an_index(court: Any, ask: Any, limit: Any) -> None:
    """Where classes are called by digits, a label is their name."""
    specs = {"y": OutputSpec(kind="classification", labels=("2", "1", "0"))}
    checks = ask(off=OFF, y=[limit("negative_flips", 0.0)])
    result = court.judge(*_flipped((0, 1)), specs=specs, checks=checks, labels={"s0": "2"})
    assert result.drifted_samples == ("s0",)


@pytest.mark.parametrize("bits_differ", [True, False])
def test_a_label_that_names_nothing_is_a_fault(court: Any, ask: Any, limit: Any, bits_differ: bool) -> None:
    """The sample, the label and the nearest name, also where all bytes are equal; all such labels at once."""
    checks = ask(off=OFF, y=[limit("negative_flips", 0.5), limit("accuracy_drop", 0.5)])
    labels = {"s0": "dgo", "s1": "3", "s2": "cat"}
    with pytest.raises(JudgeError) as caught:
        court.judge(*_flipped(*([(0, 1)] if bits_differ else [])), specs=SCORES, checks=checks, labels=labels)
    lines = [line.partition("accuracy_drop: ")[2] for line in str(caught.value).splitlines()]
    expected = "expected one of the 3 names in labels, or a class index from 0 to 2"
    assert lines == [
        f"label of sample s0: {expected}, got 'dgo' (did you mean dog?)",
        f"label of sample s1: {expected}, got '3'",
    ]


def test_many_wrong_labels_are_counted(court: Any, ask: Any, limit: Any) -> None:
    """A column that is about something else does not fill the screen."""
    checks = ask(off=OFF, y=[limit("negative_flips", 0.5)])
    with pytest.raises(JudgeError, match="and 5 more labels that are no class"):
        court.judge(*_flipped(), specs=SCORES, checks=checks, labels=dict.fromkeys(TRUTH, "9" * 5000))


def test_no_labels_at_all_is_a_fault(court: Any, ask: Any, limit: Any) -> None:
    """Nothing would be compared: the error says what the sample set needs."""
    checks = ask(off=OFF, y=[limit("accuracy_drop", 0.5)])
    with pytest.raises(JudgeError, match=r"accuracy_drop: expected samples with labels.*`label` column"):
        court.judge(*_flipped(), specs=SCORES, checks=checks)


def test_a_name_of_two_classes_is_a_fault(court: Any, ask: Any, limit: Any) -> None:
    """ImageNet has two cranes: the index says which."""
    specs = {"y": OutputSpec(kind="classification", labels=("crane", "dog", "crane"))}
    checks = ask(off=OFF, y=[limit("accuracy_drop", 0.5)])
    with pytest.raises(JudgeError, match=r"'crane', which names classes 0, 2; write the class index"):
        court.judge(*_flipped(), specs=specs, checks=checks, labels={"s0": "crane"})


def test_an_output_per_batch_has_no_labels(court: Any, side: Any, ask: Any, limit: Any) -> None:
    """A batch is no sample."""
    both = side(outputs={"y": np.eye(3)}, per={"y": "batch"})
    with pytest.raises(JudgeError, match="negative_flips: expected an output per sample"):
        court.judge(both, both, specs=SCORES, checks=ask(off=OFF, y=[limit("negative_flips", 0.5)]))
