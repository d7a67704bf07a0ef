"""Detections judged: limits, thresholds, near ties, and boxes that share an array with their scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge import summarise
from tests.judge.detected_scenes import (
    SPEC,
    Detector,
    change,
    lay_out,
    list_failed,
    make_scenes,
    read_note,
)

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def detector(court: Any, side: Any) -> Detector:
    """Return what judges scenes."""
    return Detector(court, side)


def test_crowds_do_not_hide_a_single_box(detector: Detector) -> None:
    """The floor under the gate is a typical box: beside a sample of thousands, one that moves is found."""
    count = 4000
    low = np.tile(np.arange(float(count))[:, np.newaxis] % 900, 2)
    crowd = np.concatenate([low, low + 1500, np.full((count, 1), 0.9), np.zeros((count, 1))], axis=1)
    single = np.array([[0.0, 0.0, 1500.0, 1500.0, 0.9, 0.0]])
    moved = single + np.array([[0.5, 0, 0, 0, 0, 0]])
    result = detector.judge_packed([crowd, crowd, moved], before=[crowd, crowd, single])
    assert list_failed(result) == {("found", "rel_l2")}
    assert result.outputs["found"].rel_l2 > 1e-4


@pytest.mark.parametrize(("dtypes", "verdict"), [(("bfloat16",), Verdict.MATCH), ((), Verdict.DRIFT)])
def test_half_precision_moves_boxes(detector: Detector, dtypes: tuple[str, ...], verdict: Verdict) -> None:
    """A pixel is noise of a case that declares to compute in half precision, and of no other."""
    moved = change(lambda scenes: scenes[0].__setitem__((1, 0), 101.0))
    assert detector.judge(moved, compute_dtypes=dtypes).verdict is verdict


def test_tags_have_limits_of_their_own(detector: Detector, ask: Any, limit: Any) -> None:
    """A sample that matters may lose no box where others may."""
    checks = ask(boxes=[limit("iou_match", 0.0, tags={"critical": 0.99})])
    nothing = [rows[:0] for rows in make_scenes()]
    result = detector.judge(nothing, checks=checks, tags={"s1": ("critical",)})
    assert result.drifted_samples == ("s1",)


def test_functions_get_the_boxes_as_they_came(detector: Detector, ask: Any, limit: Any) -> None:
    """A metric of the suite's own, such as mAP, sees every box of both sides, in its own order."""
    seen: list[tuple[int, int]] = []

    def count(expected: list[np.ndarray], actual: list[np.ndarray], samples: Any) -> float:
        seen.extend((len(before), len(after)) for before, after in zip(expected, actual, strict=True))
        return 1.0

    checks = ask(boxes=[limit("own:map", 0.5, bound="min"), limit("iou_match", 0.0)])
    lost = change(lambda scenes: scenes.__setitem__(0, scenes[0][[2, 0]]))
    detector.judge(lost, checks=checks, functions={"own:map": count})
    assert seen == [(3, 2), (1, 1), (0, 0)]


@pytest.mark.parametrize("box_format", ["xywh", "cxcywh"])
def test_format_decides_what_overlaps(detector: Detector, box_format: str) -> None:
    """A small shift of a box in its own format leaves it the same box, in that of corners it does not."""
    rows = [np.array([[100, 100, 20, 20, 0.9, 0]], np.float64) for _ in range(3)]
    moved = [each + np.array([[1, 0, 0, 0, 0, 0]]) for each in rows]
    spec = OutputSpec(kind="detection", box_format=box_format)
    (found,) = [
        check
        for check in detector.judge_packed(moved, before=rows, spec=spec).checks
        if check.name == "iou_match"
    ]
    assert found.value == pytest.approx(19 / 21)


@pytest.mark.parametrize("count", [10, 3000])
def test_one_lost_box_of_many_is_beyond_the_default_limit(detector: Detector, count: int) -> None:
    """A mean over thousands of boxes must not hide the one that is gone."""
    corners = np.arange(float(count))[:, np.newaxis] * 100 + np.array([0, 0, 50, 50])
    many = [np.concatenate([corners, np.full((count, 1), 0.9), np.zeros((count, 1))], axis=1)] * 3
    result = detector.judge([many[0], many[1][1:], many[2]], before=many)
    assert list_failed(result) == {("boxes", "iou_match")}
    assert result.drifted_samples == ("s1",)


def test_tolerated_loss_is_noted(detector: Detector, ask: Any, limit: Any) -> None:
    """A limit that a variant writes for itself lets a box go, and the samples are named all the same."""
    checks = ask(boxes=[limit("iou_match", 0.6)])
    lost = change(lambda scenes: scenes.__setitem__(0, scenes[0][[0, 2]]))
    result = detector.judge(lost, checks=checks)
    assert result.verdict is Verdict.MATCH
    assert "1 sample with boxes that one side lacks, within the limit: s0" in result.notes
    assert "lost: mask 0.93" in read_note(result, "s0")
    strict = detector.judge(lost, checks=ask(boxes=[limit("iou_match", 0.67)]))
    assert strict.verdict is Verdict.DRIFT


@pytest.mark.parametrize(
    ("golden", "run", "verdict"),
    [
        (0.500002, None, Verdict.MATCH),
        (None, 0.500002, Verdict.MATCH),
        (0.52, None, Verdict.DRIFT),
        (None, 0.52, Verdict.DRIFT),
        (0.500002, 0.499998, Verdict.MATCH),
        (0.52, 0.499998, Verdict.DRIFT),
        (0.3, None, Verdict.MATCH),
        (None, 0.3, Verdict.MATCH),
    ],
)
def test_box_at_the_threshold_is_a_near_tie(
    detector: Detector, golden: float | None, run: float | None, verdict: Verdict
) -> None:
    """As good as at the threshold, a box may be there or not; clearly above it may not, below it is none."""
    scenes = [
        [np.array([[10, 10, 60, 60, 0.9, 0]] + ([[200, 10, 260, 90, score, 0]] if score else []), np.float64)]
        * 3
        for score in (golden, run)
    ]
    spec = OutputSpec(kind="detection", scores="scores", classes="labels", along=("marks",), threshold=0.5)
    result = detector.judge(scenes[1], before=scenes[0], spec=spec)
    assert result.verdict is verdict
    is_tie = verdict is Verdict.MATCH and 0.3 not in (golden, run)
    assert all(sample.near_tie is is_tie for sample in result.samples)


def test_near_tie_is_bound_by_noise_not_by_the_difference(detector: Detector) -> None:
    """The bound is the dtype's noise of the expected scores: just beyond it the box counts as lost."""
    spec = OutputSpec(kind="detection", threshold=0.5)
    bound = 1e-5 * np.hypot(0.9, 0.5)
    for factor, verdict in ((0.9, Verdict.MATCH), (1.2, Verdict.DRIFT)):
        score = 0.5 + factor * bound
        rows = np.array([[10, 10, 60, 60, 0.9, 0], [200, 10, 260, 90, score, 0]])
        assert detector.judge_packed([rows[:1]] * 3, before=[rows] * 3, spec=spec).verdict is verdict


def test_padding_below_the_threshold_is_no_box(detector: Detector, court: Any, side: Any) -> None:
    """A runtime that returns as many rows as fit is held against one that returns what it found."""
    padded = np.zeros((3, 5, 6), np.float32)
    for at, rows in enumerate(make_scenes()):
        padded[at, : len(rows)] = rows
    found = [rows.astype(np.float32) for rows in make_scenes()]
    sides = side(outputs={"found": found}), side(outputs={"found": padded})
    spec = OutputSpec(kind="detection", threshold=0.5)
    result = court.judge(*sides, specs={"found": spec})
    assert result.verdict is Verdict.MATCH
    assert not result.notes
    padded[0, 1, 4] = 0.4
    result = court.judge(sides[0], side(outputs={"found": padded}), specs={"found": spec})
    assert "1 box lost" in result.message
    without = court.judge(*sides, specs={"found": OutputSpec(kind="detection")})
    assert "11 boxes new" in without.message


def test_score_that_is_no_number_is_not_below_the_threshold(detector: Detector) -> None:
    """It would be left out without a word; so it is told as what it is."""
    scenes = change(lambda scenes: scenes[0].__setitem__((1, 4), np.nan))
    result = detector.judge(scenes, spec=replace(SPEC, threshold=0.5))
    assert "scores: 1 element not finite on one side only" in result.message


def test_what_lies_along_a_box_that_does_not_count_is_left_out(detector: Detector) -> None:
    """Marks of padding may be anything, also where boxes and scores are equal byte by byte."""
    marks = lay_out(make_scenes())["marks"]
    marks[0][2] += 50.0
    for threshold, verdict in ((0.8, Verdict.MATCH), (0.7, Verdict.DRIFT)):
        spec = replace(SPEC, threshold=threshold)
        assert detector.judge(make_scenes(), outputs={"marks": marks}, spec=spec).verdict is verdict


def test_one_relabelled_box_of_many_is_beyond_the_default_limit(detector: Detector) -> None:
    """Just as one that is gone."""
    count = 3000
    corners = np.arange(float(count))[:, np.newaxis] * 100 + np.array([0, 0, 50, 50])
    many = np.concatenate([corners, np.full((count, 1), 0.9), np.zeros((count, 1))], axis=1)
    other = many.copy()
    other[7, 5] = 1.0
    assert list_failed(detector.judge([other] * 3, before=[many] * 3)) == {("boxes", "iou_match")}


def test_scores_in_a_column_are_held_against_scores(detector: Detector) -> None:
    """A thousandth of a score is nothing beside coordinates of hundreds of pixels, and is found."""
    result = detector.judge_packed(change(lambda scenes: scenes[0].__setitem__((0, 4), 0.989)))
    assert list_failed(result) == {("found", "rel_l2")}
    assert result.outputs["found"].rel_l2 == pytest.approx(
        1e-3 / np.linalg.norm([0.99, 0.93, 0.71]), rel=1e-3
    )
    assert result.outputs["found"].n_mismatched == 1


def test_further_columns_are_held_against_their_own(court: Any, side: Any) -> None:
    """What stands behind the class is compared too."""
    rows = np.array([[10, 10, 600, 600, 0.9, 0, 1.0, 2.0]], np.float32)
    moved = rows + np.array([[0, 0, 0, 0, 0, 0, 1e-3, 0]], np.float32)
    spec = {"found": OutputSpec(kind="detection")}
    result = court.judge(
        side(outputs={"found": [rows] * 2}), side(outputs={"found": [moved] * 2}), specs=spec
    )
    assert list_failed(result) == {("found", "rel_l2")}


def test_summary_counts_what_scores_enough(court: Any, side: Any) -> None:
    """Padding below the threshold is no box in ``summary.csv`` either."""
    both = side(outputs={"found": [rows.astype(np.float32) for rows in make_scenes()]})
    request = court.request(both, both)
    specs = {"found": OutputSpec(kind="detection", threshold=0.9)}
    table = summarise(request.observation_folder, request.observation, request.samples, specs)
    assert [row[1] for row in table] == ["found.boxes", "2", "0", "0"]
