"""The sample set first: what was added, removed or changed, and what the common samples say."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    assert result.n_samples == 1


def test_a_drift_among_common_samples_is_a_drift(court: Any, side: Any) -> None:
    """A changed sample set does not hide that a sample of unchanged bytes drifted."""
    actual = side(outputs={"y": VALUES[:2] * np.float32(1.1)}, ids=["a", "b"])
    result = court.judge(_side(side, "abc"), actual)
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("a", "b")
    assert "the sample set differs too: 1 removed (c)" in result.message
    assert [cause.cause for cause in result.causes] == [Cause.SAMPLES_CONTENT]


def test_a_reordered_sample_set_matches(court: Any, side: Any) -> None:
    """Rows are found by sample id."""
    assert court.judge(_side(side, "abcd"), _side(side, "cdab")).verdict is Verdict.MATCH


def test_no_common_sample_is_stale_and_says_that_nothing_was_compared(court: Any, side: Any) -> None:
    """Without a common sample even another row shape proves nothing."""
    result = court.judge(_side(side, "ab"), side(outputs={"y": np.ones((2, 7))}, ids=["c", "d"]))
    assert result.verdict is Verdict.STALE
    assert result.message.endswith("nothing could be compared")
    assert (result.n_samples, result.inputs_identical, result.samples) == (0, None, ())


def test_a_new_sample_of_other_shape_leaves_the_others_comparable(court: Any, side: Any) -> None:
    """An output that turned ragged by an added sample is compared on the common ones."""
    actual = side(outputs={"y": [*VALUES[:2], np.ones(9, np.float32)]}, ids=["a", "b", "x"])
    assert court.judge(_side(side, "ab"), actual).verdict is Verdict.STALE


def test_all_samples_are_listed_worst_first(court: Any) -> None:
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
