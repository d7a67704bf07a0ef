"""Class order changed while the scores stay: every answer means something else, and it is a drift."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

SCORES = np.random.default_rng(0).standard_normal((20, 10)).astype(np.float32) * 3
SPECS = {"y": OutputSpec(kind="classification")}
NAMES = tuple(f"s{number}" for number in range(20))


@pytest.mark.parametrize("off", [[], ["rel_l2"], ["top1_agreement"]])
def test_classes_in_another_order_drift(court: Any, ask: Any, off: Any) -> None:
    """By value and by decision, each alone is enough; near ties do not excuse it."""
    result = court.judge(SCORES, SCORES[:, ::-1].copy(), specs=SPECS, checks=ask(off=off))
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == NAMES
    assert not any(sample.near_tie for sample in result.samples)


def test_two_classes_that_changed_places_are_found_by_value(court: Any) -> None:
    """A swap of two classes that are never on top leaves every decision as it was, and is found."""
    order = [0, 1, 3, 2, *range(4, 10)]
    before = SCORES.copy()
    before[:, 5] = 99.0
    result = court.judge(before, before[:, order], specs=SPECS)
    assert {check.name: check.ok for check in result.checks} == {"rel_l2": False, "top1_agreement": True}
    assert result.drifted_samples == NAMES


def test_an_index_that_changed_while_scores_stay_is_a_drift(court: Any, side: Any) -> None:
    """An integer answer beside scores that are bit-identical is exact."""
    labels = SCORES.argmax(axis=1)
    golden = side(outputs={"y": SCORES, "label": labels})
    result = court.judge(golden, side(outputs={"y": SCORES, "label": 9 - labels}), specs=SPECS)
    assert result.verdict is Verdict.DRIFT
    assert [check.name for check in result.checks if not check.ok] == ["exact"]
    assert result.causes == ()
