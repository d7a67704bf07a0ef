"""Limits by tag over samples whose golden is not finite: a check passes nothing that it did not compare."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

SCORES = OutputSpec(kind="classification", top_k=2)


def _with_nan(n_nan: int, size: float = 0.0) -> np.ndarray:
    """Return four rows of four scores, of which ``n_nan`` elements of row 1 are NaN, moved by ``size``."""
    values = np.tile(np.array([4.0, 3.0, 2.0, 1.0]), (4, 1)) + size
    values[1, :n_nan] = np.nan
    return values


@pytest.mark.parametrize("noise", [0.0, 1e-12])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("rel_l2", {"value": 1e-3}),
        ("max_abs", {"value": 1e-3}),
        ("mean_abs", {"value": 1e-3}),
        ("cosine", {"value": 0.5}),
    ],
)
def test_a_tag_of_nan_only_is_an_error(
    court: Any, ask: Any, limit: Any, name: str, more: Any, noise: float
) -> None:
    """A tag whose samples hold no number passes nothing, bit-identical or not; one number is enough."""
    checks = ask(limit(name, **more, tags={"critical": more["value"]}))
    options: Any = {"checks": checks, "tags": {"s1": ("critical",)}}
    with pytest.raises(JudgeError, match=rf"y: {name}: tags: expected a finite number.*'critical', got NaN"):
        court.judge(_with_nan(4), _with_nan(4, noise), **options)
    assert court.judge(_with_nan(3), _with_nan(3, noise), **options).verdict is Verdict.MATCH
    wider: Any = {"checks": checks, "tags": {"s1": ("critical",), "s2": ("critical",)}}
    assert court.judge(_with_nan(4), _with_nan(4, noise), **wider).verdict is Verdict.MATCH


def test_a_tag_that_became_nan_is_a_drift(court: Any, ask: Any, limit: Any) -> None:
    """NaN on one side only is compared, and never passes."""
    options: Any = {
        "checks": ask(limit("rel_l2", 1e-3, tags={"critical": 1e-3})),
        "tags": {"s1": ("critical",)},
    }
    assert court.judge(_with_nan(0), _with_nan(4), **options).drifted_samples == ("s1",)


def test_a_ragged_tag_of_nan_only_is_an_error_and_an_empty_one_is_not(
    court: Any, ask: Any, limit: Any
) -> None:
    """Rows that stayed empty agree in how many there are; rows of NaN agree in nothing."""
    checks = ask(limit("rel_l2", 1e-3, tags={"critical": 1e-3}))
    rows = [np.ones(2), np.full(1, np.nan), np.ones(0)]
    with pytest.raises(JudgeError, match="tags: expected a finite number"):
        court.judge(rows, rows, checks=checks, tags={"s1": ("critical",)})
    assert court.judge(rows, rows, checks=checks, tags={"s2": ("critical",)}).verdict is Verdict.MATCH


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_a_tag_without_a_decision_is_an_error(court: Any, ask: Any, limit: Any, noise: float) -> None:
    """One NaN leaves its row undecided; a tag of such rows only agrees on nothing, bit-identical or not."""
    checks = ask(y=[limit("top1_agreement", 0.9, tags={"critical": 1.0})])
    options: Any = {"specs": {"y": SCORES}, "checks": checks}
    with pytest.raises(JudgeError, match="top1_agreement: expected scores to decide on, got NaN"):
        court.judge(_with_nan(1), _with_nan(1, noise), tags={"s1": ("critical",)}, **options)
    decided = court.judge(_with_nan(1), _with_nan(1, noise), tags={"s2": ("critical",)}, **options)
    assert decided.verdict is Verdict.MATCH


def test_equal_bytes_that_had_to_be_read_are_still_called_bit_identical(
    court: Any, ask: Any, limit: Any
) -> None:
    """NaN enough to fill a tag makes judging look at the rows; the bytes are equal all the same."""
    checks = ask(limit("rel_l2", 1e-3, tags={"critical": 1e-3}))
    result = court.judge(_with_nan(4), _with_nan(4), checks=checks, tags={"s2": ("critical",)})
    assert (result.message, result.outputs["y"].bit_identical) == ("4 samples, bit-identical", True)
