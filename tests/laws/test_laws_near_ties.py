"""Law of near ties: which flips of the highest score are noise, by brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan, OutputChecks
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

SCORES = {"y": OutputSpec(kind="classification")}
PLAN = CheckPlan(by_output={"y": OutputChecks(off=frozenset({"rel_l2"}))})


@st.composite
def _near_ties(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor, float | None]:
    """Scores whose two highest are a multiple of the near-tie bound apart and change places."""
    name = draw(st.sampled_from(["float64", "float32", "float16", "bfloat16"]))
    epsilon = draw(st.sampled_from([None, 0.0, 1e-3, 1e-2, 0.1]))
    noise = epsilon or {"float64": 1e-10, "float32": 1e-5, "float16": 5e-3, "bfloat16": 2e-2}[name]
    n_rows, n_classes = draw(st.integers(1, 4)), draw(st.integers(2, 6))
    expected = draw(hnp.arrays(np.float64, (n_rows, n_classes), elements=st.integers(-8, 7).map(float)))
    actual = np.empty_like(expected)
    for row in range(n_rows):
        top, second = draw(st.permutations(range(n_classes)))[:2]
        expected[row, [top, second]] = 8.0
        bound = math.sqrt(2.0) * noise * float(np.linalg.norm(expected[row]))
        expected[row, second] -= bound * draw(st.sampled_from([0.0, 0.5, 0.9, 1.1, 2.0, 10.0]))
        actual[row] = expected[row][list(draw(st.permutations(range(n_classes))))]
        if draw(st.booleans()):
            actual[row] = expected[row]
            actual[row, [top, second]] = expected[row, [second, top]]
            # Scores that tie in the golden itself have to part for another one to be on top.
            actual[row, top] -= draw(st.sampled_from([0.0, 1.0]))
    sides = (torch.from_numpy(side).to(getattr(torch, name)) for side in (expected, actual))
    return (*sides, epsilon)


@given(drawn=_near_ties())
@settings(max_examples=200, deadline=None)
def test_near_ties_agree_with_brute_force(bench: Any, drawn: Any) -> None:
    """Law: a flip is agreement exactly where the margin that the golden gives it is within
    sqrt(2) * epsilon * norm, in exact fractions, epsilon the dtype's limit or the calibrated floor.
    """
    expected, actual, floor = drawn
    sides = [{"y": side} for side in (expected, actual)]
    default = bench.compare(sides[0], sides[0])
    epsilon = Fraction(default.checks[0].limit if floor is None else floor)
    near, flipped = set(), set()
    for row, (before, after) in enumerate(zip(expected.tolist(), actual.tolist(), strict=True)):
        a, b = before.index(max(before)), after.index(max(after))
        margin = Fraction(before[a]) - Fraction(before[b])
        bound = 2 * epsilon**2 * sum(Fraction(score) ** 2 for score in before)
        assume(margin == 0 or abs(margin**2 - bound) > bound / 10**9)
        if a != b:
            (near if margin**2 <= bound else flipped).add(str(row))
    event(f"{bool(near)} near, {bool(flipped)} flipped")
    result = bench.compare(
        *sides,
        outputs=SCORES,
        checks=PLAN,
        noise_floor={} if floor is None else {"y": floor},
    )
    assert {sample.id for sample in result.samples if sample.near_tie} == near
    assert set(result.drifted_samples) == flipped
    assert result.verdict is (Verdict.DRIFT if flipped else Verdict.MATCH)
