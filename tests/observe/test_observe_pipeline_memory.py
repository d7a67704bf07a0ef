"""Two passes of one pipeline in a session: what the second shows of the first."""

from __future__ import annotations

import pytest

from pytest_modelreg.observe.case import observe_case
from pytest_modelreg.observe.shared_work import SharedWork

ONCE_LATER = """
CALLS = []

def prepare(x):
    CALLS.append(1)
    return x + (len(CALLS) == 17)
"""


@pytest.fixture
def shared(tmp_path):
    """Return what the cases of a session share."""
    work = SharedWork(tmp_path / "work")
    yield work
    work.close()


def observe_two(case, shared, source):
    """Return the habits of two cases of one session."""
    case.write("prep.py", source)
    specs = [case.spec(variant=name, preprocess="prep:prepare") for name in ("one", "two")]
    found = [observe_case(spec, case.root / spec.variant, shared=shared) for spec in specs]
    return [list(observation.habits) for observation in found]


def test_a_state_that_no_repetition_shows_is_found_by_the_next_case(toy_case, shared):
    """It prepares every sample again; whose input changed is named, and nobody need look at the model."""
    first, (habit,) = observe_two(toy_case, shared, ONCE_LATER)
    assert first == []
    assert habit.habit == "stateful"
    assert habit.samples == ("b",)
    assert "prepared again for another case of this run, 'b' gave another input (1 of 5 do)" in habit.summary


def test_passes_that_agree_show_nothing(toy_case, shared):
    """Just inside."""
    assert observe_two(toy_case, shared, "def prepare(x):\n    return x * 2\n") == [[], []]


def test_a_habit_of_an_earlier_case_is_said_of_the_later_ones(toy_case, shared):
    """The second case would see nothing by itself: what the first had seen holds for it too."""
    source = "CALLS = []\n\ndef prepare(x):\n    CALLS.append(1)\n    return x + (len(CALLS) == 1)\n"
    first, second = observe_two(toy_case, shared, source)
    assert [habit.habit for habit in first] == ["stateful"]
    assert second == first
