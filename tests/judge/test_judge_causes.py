"""Causes that both sides tell themselves: exports, habits of preprocessing, the order of ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.observation import PreprocessHabit, RuntimeFinding
from pytest_modelreg.domain.result import StructureFinding
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

VALUES = np.ones((4, 3), np.float32)
FROZEN = RuntimeFinding(subject="input x", what="axis 0 (batch)", expected="dynamic", actual="8")
RENAMED = RuntimeFinding(subject="input x", what="name", expected="x", actual="input.1")


@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_a_runtime_finding_is_drift_also_where_values_agree(court: Any, side: Any, factor: float) -> None:
    """A frozen batch dimension passes every batch that happens to fit: it is a finding all the same."""
    run = side(outputs={"y": VALUES * np.float32(factor)}, runtime_findings=[FROZEN, RENAMED])
    result = court.judge(side(outputs={"y": VALUES}), run)
    assert result.verdict is Verdict.DRIFT
    assert result.structure == (
        StructureFinding(output="input x", what="axis 0 (batch)", expected="dynamic", actual="8"),
        StructureFinding(output="input x", what="name", expected="x", actual="input.1"),
    )
    assert result.message.startswith("axis 0 (batch) of input x: expected dynamic, got 8; name of input x")
    assert result.drifted_samples == (() if factor == 1.0 else ("s0", "s1", "s2", "s3"))
    (cause,) = result.causes
    assert (cause.cause, cause.confidence) == (Cause.RUNTIME_EXPORT, 1.0)
    assert cause.summary.endswith("axis 0 (batch) of input x: expected dynamic, got 8, and 1 more")
    assert cause.evidence["findings"][1]["actual"] == "input.1"


def test_findings_of_the_golden_s_runtime_are_not_this_run_s(court: Any, side: Any) -> None:
    """A runtime that is as declared now is no drift."""
    golden = side(outputs={"y": VALUES}, runtime_findings=[FROZEN])
    assert court.judge(golden, side(outputs={"y": VALUES})).verdict is Verdict.MATCH


def _habit(kind: str) -> PreprocessHabit:
    return PreprocessHabit(
        habit=kind, samples=("s1", "s2"), summary=f"preprocess was {kind} for 2 of 4 samples"
    )


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("random", Cause.NONDETERMINISM),
        ("stateful", Cause.PREPROCESS_OTHER),
        ("mutates", Cause.PREPROCESS_OTHER),
    ],
)
def test_a_habit_explains_a_drift_whose_inputs_differ(court: Any, side: Any, kind: str, cause: Cause) -> None:
    """An augmentation left in is nondeterminism of preprocessing, and not of the model."""
    run = side(outputs={"y": VALUES * 2}, inputs={"s1": "other"}, habits=[_habit(kind)])
    result = court.judge(side(outputs={"y": VALUES}), run)
    (found,) = result.causes
    assert (found.cause, found.confidence) == (cause, 0.9)
    assert ("of preprocessing, not of the model" in found.summary) is (kind == "random")
    assert dict(found.evidence) == {
        "habit": kind,
        "samples": ["s1", "s2"],
        "n_samples": 2,
        "n_inputs_differ": 1,
    }
    assert not [note for note in result.notes if "preprocess was" in note]


@pytest.mark.parametrize(("factor", "inputs"), [(1.0, {"s1": "other"}), (2.0, {}), (1.0, {})])
def test_a_habit_that_explains_nothing_is_a_note(court: Any, side: Any, factor: float, inputs: Any) -> None:
    """On a match it will bite later; with equal inputs it is innocent of this drift."""
    run = side(outputs={"y": VALUES * np.float32(factor)}, inputs=inputs, habits=[_habit("random")])
    result = court.judge(side(outputs={"y": VALUES}), run)
    assert result.causes == ()
    assert "preprocess: preprocess was random for 2 of 4 samples" in result.notes


@pytest.mark.parametrize("kind", ["random", "stateful"])
@pytest.mark.parametrize("at_recording", [False, True])
def test_a_variant_whose_inputs_differ_by_a_habit_is_not_told_of_a_change(
    court: Any, side: Any, kind: str, at_recording: bool
) -> None:
    """Nothing changed since the golden was recorded: preprocessing was so on one side or the other."""
    habits = [[_habit(kind)], []]
    before, after = habits if at_recording else reversed(habits)
    golden = side(outputs={"y": VALUES}, habits=before)
    run = side(outputs={"y": VALUES * 2}, inputs={"s1": "other"}, habits=after)
    result = court.judge(golden, run, is_variant=True)
    note = next(note for note in result.notes if note.startswith("inputs differ"))
    assert note.endswith("preprocess: it does not make the same of a sample every time")
    (found,) = result.causes
    assert found.evidence["habit"] == kind
    assert ("when the golden was recorded: " in found.summary) is at_recording


def test_a_variant_whose_inputs_differ_without_a_habit_is_told_of_a_change(court: Any, side: Any) -> None:
    """Just inside: nothing else explains it."""
    run = side(outputs={"y": VALUES * 2}, inputs={"s1": "other"}, habits=[_habit("mutates")])
    result = court.judge(side(outputs={"y": VALUES}), run, is_variant=True)
    assert any(note.endswith("they changed since the golden was recorded") for note in result.notes)


def test_a_declared_preprocess_makes_a_habit_less_certain(court: Any, side: Any) -> None:
    """Inputs of such a variant differ anyway."""
    run = side(outputs={"y": VALUES * 2}, inputs={"s1": "x"}, habits=[_habit("random")],
               axes={"preprocess": "a:b"})  # fmt: skip
    result = court.judge(side(outputs={"y": VALUES}), run, is_variant=True)
    assert [cause.confidence for cause in result.causes] == [0.5]


SCORES = np.array([[0.9, 0.5, 0.5, 0.1], [0.8, 0.7, 0.6, 0.5], [0.4, 0.4, 0.4, 0.3]], np.float32)
PLACES = np.array([[7, 3, 5, 1], [0, 1, 2, 3], [9, 8, 7, 6]])


def _sort_again(side: Any, court: Any, places: Any, *, scores: Any = None, **more: Any) -> Any:
    golden = side(outputs={"scores": SCORES, "places": PLACES})
    run = side(outputs={"scores": SCORES if scores is None else scores, "places": np.array(places)})
    return court.judge(golden, run, **more)


def test_swapped_ties_are_a_drift_by_tie_order(court: Any, side: Any) -> None:
    """The integers changed, so it is a drift; message and cause say that only ties changed places."""
    result = _sort_again(side, court, [[7, 5, 3, 1], [0, 1, 2, 3], [7, 9, 8, 6]])
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("s0", "s2")
    assert result.message == (
        "places exact 5 > 0 in 2 of 3 samples (worst: s2), "
        "tie order only: the swapped entries score alike in scores"
    )
    (cause,) = result.causes
    assert cause.cause is Cause.TIE_ORDER
    assert dict(cause.evidence) == {
        "output": "places",
        "scores": "scores",
        "samples": ["s0", "s2"],
        "n_samples": 2,
        "n_swapped": 5,
    }


@pytest.mark.parametrize(
    "places",
    [
        [[3, 7, 5, 1], [0, 1, 2, 3], [9, 8, 7, 6]],  # swapped across scores that differ
        [[7, 5, 4, 1], [0, 1, 2, 3], [9, 8, 7, 6]],  # an entry that was not there
        [[7, 5, 3, 1], [1, 0, 2, 3], [9, 8, 7, 6]],  # one row by ties, another not
        [[7, 5, 5, 1], [0, 1, 2, 3], [9, 8, 7, 6]],  # an entry twice
    ],
)
def test_what_is_more_than_ties_is_not_called_tie_order(court: Any, side: Any, places: Any) -> None:
    """Neighbours of the planted fault: one entry beyond ties makes it a drift like any other."""
    result = _sort_again(side, court, places)
    assert (result.verdict, result.causes) == (Verdict.DRIFT, ())
    assert "tie order" not in result.message


def test_an_entry_that_a_cut_left_out_can_tie_with_the_last(court: Any, side: Any) -> None:
    """The four best of many: which of two equal ones is fourth, the sort decides."""
    result = _sort_again(side, court, [[7, 5, 3, 8], [0, 1, 2, 3], [9, 8, 7, 6]])
    assert [cause.cause for cause in result.causes] == [Cause.TIE_ORDER]


def test_an_entry_that_replaces_a_better_one_is_no_tie(court: Any, side: Any) -> None:
    """It came in where nothing scored as the last one does."""
    result = _sort_again(side, court, [[8, 5, 3, 1], [0, 1, 2, 3], [9, 8, 7, 6]])
    assert result.causes == ()


@pytest.mark.parametrize(("gap", "is_tie"), [(1.99e-5, True), (2.03e-5, False)])
def test_ties_are_equal_within_epsilon(court: Any, side: Any, gap: float, is_tie: bool) -> None:
    """sqrt(2) * epsilon * norm of the scores, just inside and just outside; never the difference judged."""
    scores = np.array([[1.0 + gap, 1.0, 0.0]] * 3) / np.sqrt(2)
    golden = side(outputs={"s": scores.astype(np.float32), "p": np.array([[0, 1, 2]] * 3)})
    run = side(outputs={"s": scores.astype(np.float32), "p": np.array([[1, 0, 2]] * 3)})
    assert bool(court.judge(golden, run).causes) is is_tie


def test_scores_that_drifted_explain_nothing(court: Any, side: Any) -> None:
    """Where values moved, more happened than a sort that chose otherwise."""
    result = _sort_again(side, court, [[7, 5, 3, 1], [0, 1, 2, 3], [9, 8, 7, 6]], scores=SCORES * 1.5)
    assert result.causes == ()


def test_infinite_scores_widen_no_tie(court: Any, side: Any) -> None:
    """Masked entries of -inf tie with each other, and the bound stays that of the finite ones."""
    scores = np.array([[1.0, 0.5, -np.inf, -np.inf]] * 3, np.float32)
    for places, is_tie in (([0, 1, 3, 2], True), ([1, 0, 2, 3], False), ([0, 2, 1, 3], False)):
        golden = side(outputs={"s": scores, "p": np.array([[0, 1, 2, 3]] * 3)})
        run = side(outputs={"s": scores, "p": np.array([places] * 3)})
        assert bool(court.judge(golden, run).causes) is is_tie


def test_equal_places_are_no_tie_order(court: Any, side: Any) -> None:
    """A match has no cause."""
    result = _sort_again(side, court, PLACES)
    assert (result.verdict, result.causes) == (Verdict.MATCH, ())
