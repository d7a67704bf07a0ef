"""Inputs held against each other: which differ, how far, and what explains it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.observation import InputProbes, PreprocessHabit, Stage
from pytest_modelreg.judge import judge_inputs
from pytest_modelreg.judge.input_judgement import INPUT_LIMIT
from pytest_modelreg.store import write_trace
from pytest_modelreg.trace import CountSketch, make_row

VALUES = np.random.default_rng(0).standard_normal(500)


def row(values, n_buckets=256):
    """Return the row of one sample."""
    sketch = CountSketch(n_buckets)
    sketch.add(np.asarray(values, np.float64))
    return make_row(sketch)


def probe(folder, observation, rows, forms=("float64 500",)):
    """Return the observation with this table of probes."""
    table = np.array(rows)
    file = write_trace(folder, "inputs", table)
    return replace(
        observation, input_probes=InputProbes(file=file, n_columns=table.shape[1], forms=tuple(forms))
    )


@pytest.fixture
def compare(court, side):
    """Return a function that judges inputs of two samples, of which those named differ."""

    def judge(expected=None, actual=None, *, changed=("s0",), forms=None, **more):
        after = {name: f"other {name}" for name in changed}
        before = side(outputs={"y": np.ones((2, 3), np.float32)}, **more.pop("before", {}))
        now = side(outputs={"y": np.ones((2, 3), np.float32)}, inputs=after, **more.pop("now", {}))
        request = court.request(before, now, **more)
        forms = forms or (("float64 500",), ("float64 500",))
        golden = request.golden
        if expected is not None:
            observation = probe(request.golden_folder, golden.observation, expected, forms[0])
            request = replace(request, golden=replace(golden, observation=observation))
        if actual is not None:
            observation = probe(request.observation_folder, request.observation, actual, forms[1])
            request = replace(request, observation=observation)
        return judge_inputs(request)

    return judge


def test_equal_digests_have_no_distance(compare):
    """Whatever the probes say: digests decide."""
    found = compare([row(VALUES)] * 2, [row(2 * VALUES)] * 2, changed=())
    assert found.distances == ()
    assert found.notes == ()
    assert found.common == ("s0", "s1")
    assert found.is_within_limit


def test_distance_is_that_of_the_samples_that_differ(compare):
    """One of two, measured from its own row."""
    other = VALUES.copy()
    other[7] += 1.0
    found = compare([row(VALUES), row(VALUES)], [row(VALUES), row(other)], changed=("s1",))
    (distance,) = found.distances
    assert distance.sample == "s1"
    assert distance.rel_l2 == pytest.approx(1 / np.linalg.norm(VALUES), rel=1e-9)
    assert not distance.is_within_limit
    assert not found.is_within_limit


@pytest.mark.parametrize(("share", "is_within"), [(0.99, True), (1.01, False)])
def test_limit_is_that_of_float32(compare, share, is_within):
    """Just inside and just beyond; one element, so that the estimate is exact."""
    assert INPUT_LIMIT == 1e-5
    other = VALUES.copy()
    other[0] += share * INPUT_LIMIT * np.linalg.norm(VALUES)
    found = compare([row(VALUES)] * 2, [row(other), row(VALUES)])
    assert found.distances[0].is_within_limit is is_within
    assert found.is_within_limit is is_within
    assert found.limit == INPUT_LIMIT


def test_one_sample_beyond_decides(compare):
    """The others within do not excuse it; the farthest comes first."""
    near, far = VALUES * (1 + 1e-7), VALUES * 1.5
    found = compare([row(VALUES)] * 2, [row(near), row(far)], changed=("s0", "s1"))
    assert [distance.sample for distance in found.distances] == ["s1", "s0"]
    assert [distance.is_within_limit for distance in found.distances] == [False, True]
    assert not found.is_within_limit


def test_other_form_comes_before_all_numbers_and_has_none(compare):
    """HWC for CHW holds the same numbers: no distance is estimated between two structures."""
    found = compare(
        [row(VALUES)] * 2,
        [row(1e9 * VALUES), row(VALUES)],
        changed=("s0", "s1"),
        forms=(("float32 3 x 4 x 4",), ("float32 3 x 4 x 4", "float32 4 x 4 x 3")),
    )
    first, second = found.distances
    assert (first.sample, second.sample) == ("s1", "s0")
    assert first.has_other_form
    assert first.rel_l2 is None
    assert (first.expected_form, first.actual_form) == ("float32 3 x 4 x 4", "float32 4 x 4 x 3")
    assert not first.is_within_limit
    assert second.rel_l2 == pytest.approx(1e9, rel=0.3)


@pytest.mark.parametrize("missing", ["expected", "actual", "both"])
def test_distance_is_unknown_without_probes(compare, missing):
    """A golden from before there were probes: unknown is beyond the limit, never within."""
    sides = {"expected": [row(VALUES)] * 2, "actual": [row(VALUES)] * 2}
    kept = {name: rows for name, rows in sides.items() if missing not in (name, "both")}
    (distance,) = compare(**kept).distances
    assert distance.rel_l2 is None
    assert not distance.has_other_form
    assert not distance.is_within_limit


def test_row_that_knows_nothing_is_unknown(compare):
    """Overwritten buffers have such rows; the others' distances are measured."""
    unknown = np.full(258, np.nan)
    found = compare([unknown, row(VALUES)], [row(VALUES), row(2 * VALUES)], changed=("s0", "s1"))
    assert [(distance.sample, distance.rel_l2 is None) for distance in found.distances] == [
        ("s1", False),
        ("s0", True),
    ]


def test_rows_of_other_width_are_unknown(compare):
    """A sample set that grew over the table's size has narrower rows."""
    (distance,) = compare([row(VALUES)] * 2, [row(VALUES, n_buckets=128)] * 2).distances
    assert distance.rel_l2 is None
    assert not distance.is_within_limit


def test_digests_that_differ_in_no_number_are_unknown(compare):
    """The sign of a zero: not known to be what another CPU makes."""
    (distance,) = compare([row([0.0, 1.0])] * 2, [row([-0.0, 1.0])] * 2).distances
    assert distance.rel_l2 is None
    assert not distance.is_within_limit


def test_nan_on_one_side_is_infinitely_far(compare):
    """And comes before every number."""
    found = compare([row([1.0, 2.0])] * 2, [row([3.0, 2.0]), row([1.0, math.nan])], changed=("s0", "s1"))
    assert found.distances[0].rel_l2 == math.inf
    assert not found.is_within_limit


def test_samples_are_paired_by_id(compare):
    """Another order of the sample set pairs no sample with another one's row."""
    found = compare(
        [row(VALUES), row(10 * VALUES)],
        [row(10 * VALUES), row(2 * VALUES)],
        changed=("s0",),
        now={"ids": ("s1", "s0")},
    )
    (distance,) = found.distances
    assert distance.sample == "s0"
    assert distance.rel_l2 == pytest.approx(1, rel=0.3)


def test_sample_set_that_differs_is_told_and_the_rest_is_compared(compare):
    """A changed file is no changed preprocessing."""
    found = compare(
        [row(VALUES)] * 2, [row(2 * VALUES)] * 2, changed=("s0", "s1"), now={"digests": {"s1": "new bytes"}}
    )
    assert found.difference.changed == ("s1",)
    assert [distance.sample for distance in found.distances] == ["s0"]
    assert found.common == ("s0",)


def test_only_some_samples_leave_the_others_unmissed(compare):
    """The golden's other samples were not asked for."""
    now = {"ids": ("s0",)}
    assert compare(now=now).difference.removed == ("s1",)
    assert compare(now=now, only=frozenset({"s0"})).difference.removed == ()
    assert compare(now=now, only=frozenset({"s0", "s1"})).difference.removed == ("s1",)


def test_first_stage_that_differs_is_named_with_its_settings(compare):
    """Facts of both sides, in words; the count of samples is the message's."""
    stages = [
        Stage(name="Resize", description=f"Resize({mode})", digests=(digest, "b"))
        for mode, digest in (("bicubic", "a"), ("bilinear", "x"))
    ]
    found = compare(before={"stages": stages[:1]}, now={"stages": stages[1:]})
    assert found.notes == (
        "first stage whose output differs: 1 (Resize), for 1 of 2 samples: "
        "expected Resize(bicubic), got Resize(bilinear)",
    )


def test_checklist_is_noted_and_habits_are_kept(compare):
    """What was read or measured on both sides, and what preprocessing should not do."""
    habits = (PreprocessHabit(habit="random", samples=("s0",), summary="it is random"),)
    found = compare(
        before={"checklist": {"range": {"value": [0, 1], "source": "measured"}}},
        now={"checklist": {"range": {"value": [0, 255], "source": "measured"}}, "habits": habits},
    )
    assert found.notes == ("preprocessing checklist: range: expected [0, 1], got [0, 255]",)
    assert found.habits == habits


def test_habits_say_nothing_where_nothing_differs(compare):
    """Quiet: a random pipeline that is seeded is no news."""
    habits = (PreprocessHabit(habit="random", samples=("s0",), summary="it is random"),)
    found = compare(changed=(), now={"habits": habits})
    assert (found.notes, found.habits) == ((), ())


def test_damaged_table_is_an_error(court, side):
    """A table of other rows than samples is not read past its end."""
    request = court.request(
        side(outputs={"y": np.ones((2, 3), np.float32)}),
        side(outputs={"y": np.ones((2, 3), np.float32)}, inputs={"s0": "other"}),
    )
    observation = probe(request.golden_folder, request.golden.observation, [row(VALUES)])
    broken = replace(request, golden=replace(request.golden, observation=observation))
    with pytest.raises(GoldenError, match=r"trace\.inputs.*shape"):
        judge_inputs(broken)
