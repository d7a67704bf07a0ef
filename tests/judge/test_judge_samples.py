"""The sample set first: what was added, removed or changed, and what the common samples say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.verdict import Verdict

VALUES = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)


def _side(side: Any, ids: str, **facts: Any) -> Any:
    rows = VALUES[["abcd".index(name) for name in ids]]
    return side(outputs={"y": rows}, ids=list(ids), **facts)


def test_a_changed_sample_set_is_stale(court: Any, side: Any) -> None:
    """Ids that only one side has and changed digests are named; the common samples were compared."""
    result = court.judge(_side(side, "abc"), _side(side, "dab", digests={"b": "other"}))
    assert result.verdict is Verdict.STALE
    assert result.message == (
        "the sample set differs from the golden's: 1 added (d), 1 removed (c), 1 changed (b); "
        "1 common sample agrees, largest rel_l2 0 of 1e-05"
    )
    assert (result.sample_set.added, result.sample_set.removed, result.sample_set.changed) == (
        ("d",),
        ("c",),
        ("b",),
    )
    (cause,) = result.causes
    assert cause.cause is Cause.SAMPLES_CONTENT
    assert cause.evidence == {"added": ["d"], "removed": ["c"], "changed": ["b"]}
    assert cause.summary == "the pinned samples changed, not the model: the only common sample agrees"
    assert result.n_samples == 1


def test_a_drift_among_common_samples_is_a_drift(court: Any, side: Any) -> None:
    """A changed sample set does not hide that a sample of unchanged bytes drifted."""
    actual = side(outputs={"y": VALUES[:2] * np.float32(1.1)}, ids=["a", "b"])
    result = court.judge(_side(side, "abc"), actual)
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("a", "b")
    assert "the sample set differs too: 1 removed (c)" in result.message
    (cause,) = result.causes
    assert (cause.cause, cause.confidence) == (Cause.SAMPLES_CONTENT, 0.2)
    assert cause.summary == (
        "the pinned samples changed, which does not explain the drift: "
        "it is in the 2 common samples, whose files are unchanged"
    )


def test_the_cause_of_a_stale_golden_says_what_the_message_does_not(court: Any, side: Any) -> None:
    """Which samples differ is in the message; the cause says what that means for the model."""
    result = court.judge(_side(side, "abcd"), _side(side, "abc"))
    assert result.causes[0].summary == (
        "the pinned samples changed, not the model: the 3 common samples agree"
    )
    assert "(d)" in result.message
    assert "(d)" not in result.causes[0].summary


def test_a_reordered_sample_set_matches(court: Any, side: Any) -> None:
    """Rows are found by sample id."""
    assert court.judge(_side(side, "abcd"), _side(side, "cdab")).verdict is Verdict.MATCH


def test_no_common_sample_is_stale_and_says_that_nothing_was_compared(court: Any, side: Any) -> None:
    """Without a common sample even another row shape proves nothing."""
    result = court.judge(_side(side, "ab"), side(outputs={"y": np.ones((2, 7))}, ids=["c", "d"]))
    assert result.verdict is Verdict.STALE
    assert result.message.endswith("nothing could be compared")
    assert (result.n_samples, result.inputs_identical, result.samples) == (0, None, ())
    assert result.causes[0].summary.endswith("whether the model did, no common sample can tell")


def test_a_new_sample_of_other_shape_leaves_the_others_comparable(court: Any, side: Any) -> None:
    """An output that turned ragged by an added sample is compared on the common ones."""
    actual = side(outputs={"y": [*VALUES[:2], np.ones(9, np.float32)]}, ids=["a", "b", "x"])
    assert court.judge(_side(side, "ab"), actual).verdict is Verdict.STALE


def test_samples_are_listed_worst_first(court: Any) -> None:
    """Failed samples lead by their error, the others follow by theirs, then in their order."""
    expected = np.ones((5, 20))
    actual = expected * np.array([[1.0], [1 + 1e-12], [1.1], [1.0], [1.2]])
    result = court.judge(expected, actual)
    assert [sample.id for sample in result.samples] == ["s4", "s2", "s1", "s0", "s3"]
    assert [sample.ok for sample in result.samples] == [False, False, True, True, True]
    assert result.drifted_samples == ("s2", "s4")


def test_a_sample_shows_the_output_that_failed(court: Any, side: Any) -> None:
    """With several outputs the failed one is rendered, by name, with digits that show the change."""
    expected = {"a": np.ones((2, 1)), "b": np.full((2, 1), 2.0)}
    actual = {"a": np.ones((2, 1)), "b": np.array([[2.0], [2.0000001]])}
    worst = court.judge(side(outputs=expected), side(outputs=actual)).samples[0]
    assert (worst.id, worst.expected, worst.actual) == ("s1", "b: [2.0]", "b: [2.0000001]")


def test_input_digests_say_where_the_change_is(court: Any, side: Any) -> None:
    """A drift notes whether the model was fed the same tensors, and for which samples not."""
    moved = side(outputs={"y": VALUES * np.float32(1.1)}, ids=list("abcd"))
    result = court.judge(_side(side, "abcd"), moved)
    assert result.inputs_identical is True
    assert "inputs: bit-identical for all 4 samples" in result.notes
    result = court.judge(_side(side, "abcd", inputs={"b": "other"}), moved)
    assert result.inputs_identical is False
    assert result.notes[0].startswith("inputs differ for 1 of 4 samples, e.g. b")


def test_a_large_drift_renders_the_worst_samples_only(court: Any) -> None:
    """All drifted ids are listed; what they were and are is read for the worst thousand."""
    expected = np.ones((1100, 8))
    result = court.judge(expected, expected * np.linspace(2, 3, 1100)[:, np.newaxis])
    assert len(result.drifted_samples) == 1100
    assert result.samples[0].id == "s1099"
    assert [bool(sample.actual) for sample in result.samples] == [True] * 1000 + [False] * 100


def test_a_match_lists_the_worst_few_and_renders_none(court: Any) -> None:
    """Nobody reads what samples were that hold: the arrays are not opened for it, numbers are kept."""
    expected = np.ones((30, 8))
    result = court.judge(expected, expected * (1 + np.linspace(0, 1e-11, 30)[:, np.newaxis]))
    assert result.verdict is Verdict.MATCH
    assert [sample.id for sample in result.samples] == [f"s{number}" for number in range(29, 9, -1)]
    assert {(sample.expected, sample.actual, sample.note) for sample in result.samples} == {("", "", "")}
    assert result.n_samples == 30


def test_a_near_tie_beyond_the_worst_is_still_listed_and_rendered(court: Any) -> None:
    """A decision that changed is worth a line although 25 samples that hold differ more."""
    expected = np.tile(np.array([5.0, 1.0, 0.0], np.float32), (26, 1))
    actual = expected * np.float32(1 + 5e-6)
    expected[25], actual[25] = [5.0, 5.000001, 1.0], [5.000001, 5.0, 1.0]
    result = court.judge(expected, actual, specs={"y": OutputSpec(kind="classification")})
    assert result.verdict is Verdict.MATCH
    assert len(result.samples) == 21
    last = result.samples[-1]
    assert (last.id, last.near_tie, last.note, bool(last.actual)) == ("s25", True, "near tie", True)
    assert not any(sample.actual for sample in result.samples[:-1])


def test_a_drift_renders_samples_that_hold_among_the_worst(court: Any) -> None:
    """Beside one that drifted, 19 that hold show what usual is."""
    expected = np.ones((30, 8))
    actual = expected.copy()
    actual[3] *= 2
    result = court.judge(expected, actual)
    assert [sample.ok for sample in result.samples] == [False] + [True] * 19
    assert all(sample.actual for sample in result.samples)


def test_measures_hold_every_sample(court: Any, side: Any) -> None:
    """Numbers of all samples and outputs as builtin values; outputs a batch have none a sample."""
    expected = {"a": np.ones((3, 4)), "b": np.ones((3, 2)), "loss": np.array([1.0])}
    actual = {**expected, "b": np.array([[1.0, 1.0], [1.0, np.nan], [2.0, 2.0]])}
    per = {"loss": "batch"}
    measures = court.judge(side(outputs=expected, per=per), side(outputs=actual, per=per)).measures
    assert measures.ids == ("s0", "s1", "s2")
    assert measures.rel_l2 == {"a": (0.0, 0.0, 0.0), "b": (0.0, math.inf, 1.0)}
    assert measures.failed == (False, True, True)
    assert {type(value) for value in (*measures.rel_l2["b"], *measures.failed)} == {float, bool}


def test_measures_of_rows_of_other_shape_are_infinite(court: Any) -> None:
    """A row without a counterpart is not taken for one that is equal."""
    result = court.judge([np.ones(2), np.ones(3)], [np.ones(2), np.ones(4)])
    assert result.measures.rel_l2 == {"y": (0.0, math.inf)}
    assert result.measures.failed == (False, True)


def test_equal_sets_are_not_looked_up_one_by_one(court: Any, side: Any) -> None:
    """Equal ids and digests in order align as they are, and other inputs are still seen."""
    result = court.judge(_side(side, "abcd"), _side(side, "abcd", inputs={"b": "other", "d": "other"}))
    assert result.inputs_identical is False
    assert not result.sample_set
    assert result.verdict is Verdict.MATCH


def test_one_changed_digest_in_an_equal_order_is_seen(court: Any, side: Any) -> None:
    """The short way is for sets that are equal as a whole only."""
    result = court.judge(_side(side, "abcd"), _side(side, "abcd", digests={"c": "other"}))
    assert (result.verdict, result.sample_set.changed) == (Verdict.STALE, ("c",))
