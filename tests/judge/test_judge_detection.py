"""Detections judged: what a fault does to which check, and what is no fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge import judge_case, summarise
from tests.judge.detected_scenes import (
    SPEC,
    Detector,
    Scenes,
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


def test_other_order_of_boxes_is_a_match(detector: Detector) -> None:
    """The same boxes with all that belongs to them, in another order: nothing is said."""
    result = detector.judge(change(lambda scenes: scenes.__setitem__(0, scenes[0][[2, 0, 1]])))
    assert result.verdict is Verdict.MATCH
    assert {path: each.rel_l2 for path, each in result.outputs.items()} == dict.fromkeys(result.outputs, 0.0)
    assert not result.structure
    assert not [sample for sample in result.samples if sample.note]


def test_other_order_of_boxes_alone_is_drift(detector: Detector) -> None:
    """Just outside: boxes in another order whose scores and marks stayed got those of other boxes."""
    scenes = make_scenes()
    result = detector.judge(
        make_scenes(), outputs={"boxes": [rows[::-1, :4].astype(np.float32) for rows in scenes]}
    )
    assert list_failed(result) == {("scores", "rel_l2"), ("marks", "rel_l2")}


@pytest.mark.parametrize(("noise", "verdict"), [(1e-6, Verdict.MATCH), (1e-4, Verdict.DRIFT)])
def test_float_noise_is_a_match_in_any_order(detector: Detector, noise: float, verdict: Verdict) -> None:
    """Noise of a healthy change stays inside every default limit; a hundred times as much does not."""
    rng = np.random.default_rng(0)
    scenes = [
        rows * (1 + noise * rng.standard_normal(rows.shape) * (np.arange(6) < 5)) for rows in make_scenes()
    ]
    scenes[0] = scenes[0][::-1]
    assert detector.judge(scenes).verdict is verdict


def test_box_shifted_by_a_pixel_fails_the_gate(detector: Detector) -> None:
    """One coordinate of one box by one pixel: the gate and the overlap both see it, in its sample."""
    result = detector.judge(change(lambda scenes: scenes[0].__setitem__((1, 0), 101.0)))
    assert {("boxes", "rel_l2"), ("boxes", "iou_match")} <= list_failed(result)
    assert result.drifted_samples == ("s0",)
    assert result.samples[0].expected == "boxes: 3 boxes: mask 0.93 [100 40 160 130], ..."
    assert result.samples[0].actual == "boxes: 3 boxes: mask 0.93 [101 40 160 130], ..."


def test_samples_in_another_order_meet_their_own_boxes(court: Any, side: Any) -> None:
    """Boxes are matched by sample id: one set more, one less, in another order, and one box lost."""
    scenes = make_scenes()
    before = side(outputs=lay_out(scenes), ids=["a", "b", "c"])
    after = side(outputs=lay_out([scenes[2], scenes[0][[2, 0]], scenes[1]]), ids=["c", "a", "d"])
    result = court.judge(before, after, specs={"boxes": SPEC})
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("a",)
    assert read_note(result, "a") == "3 boxes expected, 2 got; lost: mask 0.93 [100 40 160 130]"


def test_lost_box_is_named(detector: Detector) -> None:
    """One box less: the others agree, and the sample's note says which is gone."""
    result = detector.judge(change(lambda scenes: scenes.__setitem__(0, scenes[0][[0, 2]])))
    assert list_failed(result) == {("boxes", "iou_match")}
    assert read_note(result, "s0") == "3 boxes expected, 2 got; lost: mask 0.93 [100 40 160 130]"
    assert "boxes iou_match 0.667 < 0.999 in 1 of 3 samples (worst: s0): 1 box lost" in result.message
    assert all(measures.rel_l2 == 0.0 for measures in result.outputs.values())


def test_new_box_is_named(detector: Detector) -> None:
    """One box more, where there was none."""
    result = detector.judge(change(lambda scenes: scenes.__setitem__(2, scenes[1])))
    assert list_failed(result) == {("boxes", "iou_match")}
    assert read_note(result, "s2") == "no boxes expected, 1 got; new: mask 0.88 [5.0 5.0 55.0 65.0]"


def test_other_class_is_named_and_no_other_box(detector: Detector) -> None:
    """A box that keeps its place under another class is neither lost nor new."""
    result = detector.judge(change(lambda scenes: scenes[0].__setitem__((1, 5), 0.0)))
    assert list_failed(result) == {("boxes", "iou_match")}
    assert read_note(result, "s0") == "other class: mask is face 0.93 [100 40 160 130]"
    assert "1 box of another class" in result.message


def test_other_order_of_classes_is_told_as_such(detector: Detector) -> None:
    """Every box keeps its place and gets another class: the note says which became which."""

    def exchange(scenes: Scenes) -> None:
        for rows in scenes:
            rows[:, 5] = 1 - rows[:, 5]

    result = detector.judge(change(exchange))
    assert "boxes: boxes that keep their place have another class: face is mask (2), mask is face (2)" in (
        result.notes
    )


def test_score_drift_is_the_scores(detector: Detector) -> None:
    """Boxes that stay and score otherwise fail the scores' gate alone."""
    result = detector.judge(change(lambda scenes: scenes[0].__setitem__((1, 4), 0.92)))
    assert list_failed(result) == {("scores", "rel_l2")}
    assert result.samples[0].expected == "boxes: 3 boxes: mask 0.93 [100 40 160 130], ..."
    assert result.samples[0].actual == "boxes: 3 boxes: mask 0.92 [100 40 160 130], ..."


def test_what_lies_along_is_compared_in_the_boxes_order(detector: Detector) -> None:
    """Marks that changed for one box are found although the order changed too."""

    def edit(scenes: Scenes) -> None:
        scenes[0] = scenes[0][::-1]

    marks = lay_out(change(edit))["marks"]
    marks[0][2, 0, 0] += 1.0
    result = detector.judge(change(edit), outputs={"marks": marks})
    assert list_failed(result) == {("marks", "rel_l2")}
    (worst,) = result.outputs["marks"].worst
    assert (worst.sample, worst.index, worst.expected, worst.actual) == ("s0", (0, 0, 0), 12.0, 13.0)


def test_worst_element_is_where_the_golden_has_it(detector: Detector) -> None:
    """Behind a box that is gone, an element keeps the place that it has in the golden's row."""

    def edit(scenes: Scenes) -> None:
        scenes[0] = scenes[0][1:]
        scenes[0][1, 2] += 3.0

    result = detector.judge(change(edit))
    assert result.outputs["boxes"].worst[0].index == (2, 2)


def test_all_boxes_lost_in_one_sample(detector: Detector) -> None:
    """None of one sample's boxes is left: a drift of that sample, and no fault of shape."""
    result = detector.judge(change(lambda scenes: scenes.__setitem__(0, scenes[0][:0])))
    assert list_failed(result) == {("boxes", "iou_match")}
    assert result.drifted_samples == ("s0",)
    assert not result.structure
    assert read_note(result, "s0").startswith("3 boxes expected, none got; lost: face 0.99")


def test_all_boxes_lost_everywhere(detector: Detector) -> None:
    """A detector that finds nothing any more is a drift, not an output without values to compare."""
    result = detector.judge([rows[:0] for rows in make_scenes()])
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("s0", "s1")
    assert "4 boxes lost" in result.message


def test_no_box_on_either_side_is_compared(detector: Detector) -> None:
    """Equal counts of none hold, and it is said that this is all there is; one box is a drift then."""
    nothing = [rows[:0] for rows in make_scenes()]
    result = detector.judge([rows[:0] for rows in make_scenes()], before=nothing)
    assert result.verdict is Verdict.MATCH
    assert detector.judge(make_scenes(), before=nothing).verdict is Verdict.DRIFT


def test_no_box_in_another_layout_is_compared(detector: Detector, court: Any, side: Any) -> None:
    """``torch.tensor([])`` says nothing of its axes: none is none, and the note says so."""
    spec = {"found": OutputSpec(kind="detection")}
    flat, axes = np.zeros((3, 0), np.float32), np.zeros((3, 0, 6), np.float32)
    result = court.judge(side(outputs={"found": flat}), side(outputs={"found": axes}), specs=spec)
    assert result.verdict is Verdict.MATCH
    assert any("no sample has a box on either side" in note for note in result.notes)


def test_boxes_written_down_in_another_way_are_told(detector: Detector) -> None:
    """Corner and size for two corners: what this run's boxes are when read so, they were."""

    def edit(scenes: Scenes) -> None:
        for rows in scenes:
            rows[:, 2:4] -= rows[:, :2]

    result = detector.judge(change(edit))
    assert result.verdict is Verdict.DRIFT
    assert any("read as xywh, 3 of 3 boxes have a partner" in note for note in result.notes)


def test_new_nan_is_drift_and_the_same_nan_is_none(detector: Detector) -> None:
    """A coordinate that is no number any more is found; one that never was is what it was."""
    broken = change(lambda scenes: scenes[0].__setitem__((1, 0), np.nan))
    assert detector.judge(broken).verdict is Verdict.DRIFT
    assert detector.judge(broken, before=broken).verdict is Verdict.MATCH
    scores = change(lambda scenes: scenes[0].__setitem__((1, 4), np.nan))
    assert "not finite on one side only" in detector.judge(scores).message


def test_scores_that_do_not_fit_the_boxes_are_a_finding(detector: Detector) -> None:
    """Fewer scores than boxes cannot be matched: a drift that names the sample, no exception."""
    scores = lay_out(make_scenes())["scores"]
    scores[0] = scores[0][:2]
    result = detector.judge(make_scenes(), outputs={"scores": scores})
    assert result.verdict is Verdict.DRIFT
    assert "s0" in result.drifted_samples
    assert any(finding.what == "row shape" for finding in result.structure)


def test_output_that_is_gone_leaves_the_others_judged(court: Any, side: Any) -> None:
    """Without this run's scores, boxes still find their partners."""
    outputs = lay_out(change(lambda scenes: scenes.__setitem__(0, scenes[0][::-1])))
    del outputs["scores"]
    result = court.judge(side(outputs=lay_out(make_scenes())), side(outputs=outputs), specs={"boxes": SPEC})
    assert [(finding.output, finding.what) for finding in result.structure] == [("scores", "presence")]
    assert not list_failed(result)


def test_pattern_finds_siblings_beside_every_match(court: Any, side: Any) -> None:
    """Each detection's scores and classes are those below its own key."""
    sides = [
        side(outputs={**lay_out(scenes, path="left.{}"), **lay_out(make_scenes(), path="right.{}")})
        for scenes in (make_scenes(), change(lambda scenes: scenes[0].__setitem__((1, 4), 0.5)))
    ]
    result = court.judge(*sides, specs={"*.boxes": SPEC})
    assert list_failed(result) == {("left.scores", "rel_l2")}


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"scores": "score"},
            r"outputs.boxes: scores: expected an output path beside it .*'score' \(did you",
        ),
        (
            {"scores": "labels", "classes": "labels"},
            "classes: expected every output once, got 'labels' twice",
        ),
        ({"along": ("boxes",)}, "along: expected every output once, got 'boxes' twice"),
        ({"threshold": 0.5}, "threshold: expected scores that it applies to, got none"),
    ],
)
def test_siblings_that_do_not_fit_are_refused(court: Any, side: Any, spec: dict[str, Any], text: str) -> None:
    """Judging and recording name what the suite got wrong."""
    both = side(outputs=lay_out(make_scenes()))
    specs = {"boxes": OutputSpec(kind="detection", **spec)}
    with pytest.raises(JudgeError, match=text):
        court.judge(both, both, specs=specs)
    request = court.request(both, both)
    with pytest.raises(JudgeError, match=text):
        summarise(request.observation_folder, request.observation, request.samples, specs)


@pytest.mark.parametrize(
    "rows",
    [np.zeros((3, 4), np.float32), np.zeros((3, 2, 3), np.float32), np.zeros((3, 2, 4, 1), np.float32)],
)
def test_rows_that_are_no_boxes_are_refused(court: Any, side: Any, rows: np.ndarray) -> None:
    """The boxes of one image handed over as if they were samples would match whatever they are."""
    both = side(outputs={"found": rows})
    with pytest.raises(JudgeError, match="expected boxes, axes"):
        court.judge(both, both, specs={"found": OutputSpec(kind="detection")})


def test_complex_boxes_are_refused_where_they_would_become_a_golden(court: Any, side: Any) -> None:
    """Half of every number would be dropped without a word."""
    both = side(outputs={"found": np.ones((3, 2, 4), np.complex64)})
    request = court.request(both, both)
    specs = {"found": OutputSpec(kind="detection")}
    with pytest.raises(JudgeError, match="found: expected boxes of real numbers, got complex64"):
        summarise(request.observation_folder, request.observation, request.samples, specs)


def test_summary_has_count_best_score_and_best_box(court: Any, side: Any) -> None:
    """One line a sample in ``summary.csv``, with the score and the name from beside the boxes."""
    both = side(outputs=lay_out(make_scenes()))
    request = court.request(both, both)
    table = summarise(request.observation_folder, request.observation, request.samples, {"boxes": SPEC})
    assert [row[:4] for row in table] == [
        ["id", "boxes.boxes", "boxes.best_score", "boxes.best_box"],
        ["s0", "3", "0.99", "face [12.0 30.0 80.0 120.0]"],
        ["s1", "1", "0.88", "mask [5.0 5.0 55.0 65.0]"],
        ["s2", "0", "", ""],
    ]


def test_equal_bytes_are_not_read(detector: Detector, court: Any, side: Any) -> None:
    """Bit-identical outputs are recognised first: the golden's arrays may be gone."""
    both = side(outputs=lay_out(make_scenes()))
    request = court.request(both, both, specs={"boxes": SPEC})
    for file in request.golden_folder.glob("outputs.*"):
        file.unlink()
    result = judge_case(request)
    assert result.verdict is Verdict.MATCH
    assert all(measures.bit_identical for measures in result.outputs.values())
