"""Warnings of this run that may explain a drift."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge.notes import STILL_TRAINING

VALUES = np.ones((4, 3), np.float32)
TRAINING = f"{STILL_TRAINING}: net.drop"


def _judge(court: Any, side: Any, before: list[str], after: list[str], factor: float = 2.0) -> Any:
    golden = side(outputs={"y": VALUES}, warnings=before)
    return court.judge(golden, side(outputs={"y": VALUES * np.float32(factor)}, warnings=after, weights="w2"))


def test_a_warning_that_the_golden_had_not_is_noted_on_a_drift(court: Any, side: Any) -> None:
    """What frameworks warn of in this run only comes after inputs and weights; a match keeps quiet."""
    before, after = ["UserWarning: old"], ["UserWarning: old", "UserWarning: new"]
    notes = _judge(court, side, before, after).notes
    assert [note.partition(":")[0] for note in notes[:2]] == [
        "inputs",
        "weights differ from the golden's (digest w1 -> w2)",
    ]
    assert notes[2:] == ("warning in this run only: UserWarning: new",)
    match = _judge(court, side, before, after, factor=1.0)
    assert (match.verdict, match.notes) == (Verdict.MATCH, ())


def test_modules_still_in_train_mode_come_first(court: Any, side: Any) -> None:
    """Dropout that stays on is the first thing to look at."""
    notes = _judge(court, side, [], ["UserWarning: new", TRAINING]).notes
    assert notes[0] == f"warning in this run only: {TRAINING}"
    assert notes[-1] == "warning in this run only: UserWarning: new"


def test_modules_in_train_mode_in_both_runs_are_noted(court: Any, side: Any) -> None:
    """A model that was random when it was recorded drifts by itself."""
    assert _judge(court, side, [TRAINING], [TRAINING]).notes[0] == f"warning in both runs: {TRAINING}"


def test_train_mode_before_eval_is_no_note(court: Any, side: Any) -> None:
    """Factories return models in train mode as a rule; eval() was applied."""
    golden = side(outputs={"y": VALUES})
    result = court.judge(golden, side(outputs={"y": VALUES * 2}, training=["(model)"]))
    assert result.notes == ("inputs: bit-identical for all 4 samples",)


@pytest.mark.parametrize(
    ("count", "last"), [(3, "UserWarning: 2"), (4, "UserWarning: 2 (and 1 more warning)")]
)
def test_three_warnings_are_shown_and_the_others_counted(
    court: Any, side: Any, count: int, last: str
) -> None:
    """A noisy framework does not push the numbers off the screen."""
    notes = _judge(court, side, [], [f"UserWarning: {number}" for number in range(count)]).notes
    shown = [note for note in notes if note.startswith("warning")]
    assert (len(shown), shown[-1]) == (3, f"warning in this run only: {last}")


def test_train_mode_counts_among_the_three(court: Any, side: Any) -> None:
    """Its note takes one of the places."""
    notes = _judge(court, side, [], [TRAINING, *(f"UserWarning: {number}" for number in range(3))]).notes
    assert [note for note in notes if note.startswith("warning")] == [
        f"warning in this run only: {TRAINING}",
        "warning in this run only: UserWarning: 0",
        "warning in this run only: UserWarning: 1 (and 1 more warning)",
    ]


def test_the_warning_of_an_observation_is_recognised() -> None:
    """Observing and judging never import each other: this holds their wording together."""
    torch = pytest.importorskip("torch")
    from pytest_modelreg.observe.model import apply_eval

    class Stubborn(torch.nn.Dropout):  # type: ignore[name-defined,misc]
        def train(self, mode: bool = True) -> Stubborn:
            self.training = True
            return self

    outcome = apply_eval(torch.nn.Sequential(Stubborn()), case="toy[reference]")
    assert outcome.warnings == (f"{STILL_TRAINING}: 0",)


def test_inputs_that_nobody_saw_are_not_called_identical(court: Any, side: Any) -> None:
    """Values of a Python test have no inputs: neither the report nor a note claims anything of them."""
    unseen = dict.fromkeys(("s0", "s1", "s2", "s3"))
    expected = np.ones((4, 3), np.float32)
    sides = [side(outputs={"y": expected * np.float32(scale)}, inputs=unseen) for scale in (1, 1.5)]
    result = court.judge(*sides)
    assert result.inputs_identical is None
    assert not [note for note in result.notes if "input" in note]
