"""Labels of many places: how rows are read, and what is a near tie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_modelreg.compare import (
    ArgmaxReader,
    Gate,
    LabelObserver,
    MaskReader,
    RowPairs,
    ThresholdReader,
    compare_rows,
)
from pytest_modelreg.compare.labelling import compute_miou

EPSILON = 1e-5


@pytest.fixture
def label(memory_rows):
    """Return a function that says how far the labels of two outputs agree."""

    def run(expected, actual, reader, ignored=None):
        observer = LabelObserver(len(expected), reader=reader, ignored=ignored)
        compare_rows(
            memory_rows(np.asarray(expected)),
            memory_rows(np.asarray(actual)),
            pairs=RowPairs.same_order(len(expected)),
            gate=Gate(rms_row_norm=1.0, limit=EPSILON),
            observers=[observer],
        )
        return observer.labelling

    return run


def test_label_that_crosses_the_threshold_is_a_change(label):
    """One of four labels of the first sample; the second is as it was."""
    before = np.array([[0.9, 0.1, 0.6, 0.2], [0.9, 0.1, 0.6, 0.2]])
    after = before.copy()
    after[0, 2] = 0.4
    found = label(before, after, ThresholdReader(threshold=0.5, epsilon=EPSILON))
    assert found.agreement.tolist() == [0.75, 1.0]
    assert found.n_changed.tolist() == [1, 0]
    assert not found.near_tie.any()


def test_label_at_the_threshold_is_a_near_tie(label):
    """Just inside the noise of its row, and just outside."""
    reader = ThresholdReader(threshold=0.5, epsilon=EPSILON)
    norm = np.linalg.norm([0.5, 0.9])
    for share, is_near in ((0.9, True), (1.1, False)):
        before = np.array([[0.5 + share * EPSILON * norm, 0.9]])
        found = label(before, [[0.49, 0.9]], reader)
        assert found.near_tie.tolist() == [is_near]
        assert found.agreement.tolist() == [1.0 if is_near else 0.5]


def test_pixel_of_another_class_is_a_change_with_its_name(label):
    """Of nine pixels two changed from class 0 to class 2 and one from 1 to 0."""
    before = np.zeros((1, 3, 3, 3))
    before[0, 0] = 1.0
    before[0, :, 2, 2] = [0.0, 1.0, 0.0]
    after = before.copy()
    after[0, :, 0, :2] = [[0.0], [0.0], [1.0]]
    after[0, :, 2, 2] = [1.0, 0.0, 0.0]
    found = label(before, after, ArgmaxReader(epsilon=EPSILON))
    assert found.n_changed.tolist() == [3]
    assert found.agreement[0] == pytest.approx(6 / 9)
    assert (found.changed_from[0], found.changed_to[0]) == (0, 2)
    # class 0: 6 of 9, class 1: 0 of 1, class 2: 0 of 2
    assert found.miou[0] == pytest.approx((6 / 9 + 0 + 0) / 3)


def test_pixel_between_two_classes_is_a_near_tie(label):
    """The bound is that of class scores, with the row's typical pixel as a floor."""
    for share, is_near in ((0.9, True), (1.1, False)):
        before = np.ones((1, 2, 1, 2))
        before[0, :, 0, 1] = [1.0, 0.0]
        norms = np.linalg.norm(before[0], axis=0).ravel()
        floor = max(norms[0], np.sqrt(np.mean(norms**2)))
        before[0, 0, 0, 0] += share * np.sqrt(2) * EPSILON * floor
        after = before.copy()
        after[0, 1, 0, 0] += 0.01
        found = label(before, after, ArgmaxReader(epsilon=EPSILON))
        assert found.near_tie.tolist() == [is_near]
        assert found.agreement.tolist() == [1.0 if is_near else 0.5]


def test_image_of_one_score_a_pixel_is_bounded_pixel_by_pixel(label):
    """The norm of a whole image would let pixels go that are far from the threshold."""
    before = np.full((1, 100, 100), 10.0)
    before[0, 0, 0] = 0.5 + 50 * EPSILON * 10.0  # below the whole image's noise of 1e-2, above a pixel's
    after = before.copy()
    after[0, 0, 0] = 0.4
    local = label(before, after, ThresholdReader(threshold=0.5, epsilon=EPSILON, is_local=True))
    assert local.n_near_ties.tolist() == [0]
    whole = label(before, after, ThresholdReader(threshold=0.5, epsilon=EPSILON))
    assert whole.n_near_ties.tolist() == [1]


def test_mask_has_no_near_ties_and_may_ignore_a_class(label):
    """Labels are labels; what the golden marks as unknown does not count."""
    before = np.array([[[1, 1], [2, 255]]], dtype=np.uint8)
    after = np.array([[[1, 2], [2, 7]]], dtype=np.uint8)
    found = label(before, after, MaskReader(), ignored=255)
    assert found.n_places.tolist() == [3]
    assert found.agreement[0] == pytest.approx(2 / 3)
    assert found.n_near_ties.tolist() == [0]


def test_one_sided_nan_cannot_be_decided(label):
    """Nor passes it: NaN is below every limit."""
    before = np.array([[0.9, 0.1]])
    found = label(before, [[np.nan, 0.1]], ThresholdReader(threshold=0.5, epsilon=EPSILON))
    assert np.isnan(found.agreement[0])


def test_nan_at_the_same_places_agrees(label):
    """As everywhere; the other labels are still looked at."""
    before = np.array([[np.nan, 0.9, 0.1, 0.9]])
    after = np.array([[np.nan, 0.9, 0.1, 0.2]])
    found = label(before, after, ThresholdReader(threshold=0.5, epsilon=EPSILON))
    assert found.agreement.tolist() == [0.75]


@given(
    arrays(np.int64, 12, elements=st.integers(0, 3)),
    arrays(np.int64, 12, elements=st.integers(0, 3)),
)
def test_miou_is_what_its_definition_says(expected, actual):
    """Class by class, as sets of places; 1 exactly where both are equal."""
    values = [
        np.mean((expected == each) & (actual == each)) / np.mean((expected == each) | (actual == each))
        for each in set(expected.tolist()) | set(actual.tolist())
    ]
    assert compute_miou(expected, actual) == pytest.approx(np.mean(values))
    assert (compute_miou(expected, actual) == 1.0) == bool((expected == actual).all())
