"""What a suite file says of boxes."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.engine.suite_file.checks import list_unfit_checks

FULL = (
    "outputs: {boxes: {kind: detection, scores: scores, classes: labels, along: [marks, masks], "
    "box_format: xywh, threshold: 0.5, labels: [face, mask], checks: {iou_match: 0.9}}}\n"
)


def test_every_key_of_boxes_is_read(suites):
    """Siblings, format, threshold and names reach the case."""
    case = suites.extend(FULL).cases[0]
    assert case.outputs == {
        "boxes": OutputSpec(
            kind="detection",
            scores="scores",
            classes="labels",
            along=("marks", "masks"),
            box_format="xywh",
            threshold=0.5,
            labels=("face", "mask"),
        )
    }
    (limit,) = case.checks.of("boxes").limits
    assert (limit.name, limit.value) == ("iou_match", 0.9)


@pytest.mark.parametrize(
    ("key", "kinds"),
    [
        ("scores: s", "detection"),
        ("classes: c", "detection"),
        ("along: [a]", "detection"),
        ("box_format: xywh", "detection"),
        ("threshold: 0.5", "detection, multilabel or segmentation"),
        ("ignore_index: 255", "segmentation"),
        ("logits: scores", "tokens"),
    ],
)
def test_key_of_another_kind_is_refused(suites, key, kinds):
    """On an output of another kind it would have no effect."""
    (fault,) = suites.faults(suites.suite + f"outputs: {{y: {{{key}}}}}\n")
    name = key.partition(":")[0]
    assert f"outputs.y.{name}: expected it on an output of kind {kinds} only, got it on kind tensor" in fault


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("box_format: xyhw", "expected one of xyxy, xywh, cxcywh, got 'xyhw'"),
        ("threshold: .inf", "threshold: expected"),
        ("along: marks", "along: expected"),
        ("scores: ''", "scores: expected an output path"),
        ("top_k: 3", "top_k: expected it on an output of kind classification or embedding only"),
        ("checks: {iou_match: 1.5}", "iou_match: expected"),
        ("checks: {top1_agreement: 1.0}", "which needs kind: classification"),
    ],
)
def test_faulty_value_is_named(suites, keys, text):
    """Each with what was expected."""
    (fault,) = suites.faults(suites.suite + f"outputs: {{y: {{kind: detection, {keys}}}}}\n")
    assert text in fault


def test_overlap_needs_boxes(suites):
    """A limit for all outputs of which none holds boxes would never be looked at."""
    (fault,) = suites.faults(suites.suite + "checks: {iou_match: 0.9}\n")
    assert "checks.iou_match: expected an output of kind detection for it, got none" in fault
    assert "iou_match" in list_unfit_checks("classification")
    assert "iou_match" not in list_unfit_checks("detection")
