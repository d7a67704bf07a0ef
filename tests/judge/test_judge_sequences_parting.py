"""Where two sequences part, and when the golden could hardly tell the two tokens apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.sequences.parting import find_parting, is_near_tie, name_token
from pytest_modelreg.judge.sequences.rows import ENDED, SequenceRows

EPSILON = 1e-5
TOKENS = st.lists(st.integers(0, 3), max_size=8)


@given(TOKENS, TOKENS)
def test_parting_is_the_length_of_the_common_beginning(before, after):
    """None exactly where both are equal."""
    place = find_parting(np.array(before, np.int64), np.array(after, np.int64))
    if place is None:
        assert before == after
    else:
        assert before[:place] == after[:place]
        assert before[place : place + 1] != after[place : place + 1]


@pytest.mark.parametrize(("share", "is_near"), [(0.9, True), (1.1, False)])
def test_scores_closer_than_noise_are_a_near_tie(share, is_near):
    """Just inside and just outside of the bound of class scores."""
    scores = np.zeros((3, 4))
    scores[1] = [1.0, 2.0, 2.0, 0.0]
    scores[1, 1] += share * np.sqrt(2) * EPSILON * np.linalg.norm(scores[1])
    assert is_near_tie(scores, 1, 1, 2, EPSILON) == is_near


@pytest.mark.parametrize(
    ("place", "expected", "actual"), [(3, 0, 1), (1, 0, 9), (1, -1, 0)], ids=["place", "token", "negative"]
)
def test_scores_that_do_not_hold_the_tokens_excuse_nothing(place, expected, actual):
    """A vocabulary that grew, or scores that end sooner."""
    assert not is_near_tie(np.ones((3, 4)), place, expected, actual, EPSILON)


def test_scores_that_are_not_finite_excuse_nothing():
    """NaN is near nothing."""
    assert not is_near_tie(np.full((1, 3), np.nan), 0, 0, 1, EPSILON)


class Four:
    """Rows that all hold 0, 1, 2, 3."""

    dtype, n_rows, is_ragged = "int64", 3, False

    def row_shape(self, index):
        """Return the one shape."""
        return (4,)

    def row(self, index):
        """Return a row."""
        return np.arange(4)


def test_rows_are_cut_or_filled_up_and_others_left():
    """Both sides get one length; what ended is marked by no token's number."""
    rows = SequenceRows(Four(), {0: 2, 1: 6})
    assert rows.row(0).tolist() == [0, 1]
    assert rows.row(1).tolist() == [0, 1, 2, 3, ENDED, ENDED]
    assert rows.row(2).tolist() == [0, 1, 2, 3]
    assert [rows.row_shape(at) for at in range(3)] == [(2,), (6,), (4,)]


def test_token_is_named_where_there_is_a_vocabulary():
    """Its number alone otherwise, and beyond its end."""
    spec = OutputSpec(kind="tokens", labels=("[PAD]", "cat"))
    assert [name_token(number, spec) for number in (1, 7)] == ["1 'cat'", "7"]
