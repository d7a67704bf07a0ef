"""Outputs declared by pattern: checks, kinds and what a pattern that fits nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge import summarise

HEADS = {"heads.0": np.ones((4, 3)), "heads.1": np.ones((4, 3)), "aux": np.ones((4, 3))}


def test_limits_by_pattern_reach_the_outputs_it_fits(court: Any, side: Any) -> None:
    """A loose limit of the heads does not loosen what is beside them; the narrower entry wins."""
    loose = OutputChecks(limits=(Limit(name="rel_l2", value=0.5, source="outputs.heads.*.checks.rel_l2"),))
    tight = OutputChecks(limits=(Limit(name="rel_l2", value=1e-3, source="outputs.heads.1.checks.rel_l2"),))
    checks = CheckPlan(by_output={"heads.*": loose, "heads.1": tight})
    actual = {path: values * 1.01 for path, values in HEADS.items()}
    result = court.judge(side(outputs=HEADS), side(outputs=actual), checks=checks)
    assert {check.output: (check.limit, check.ok) for check in result.checks} == {
        "heads.0": (0.5, True),
        "heads.1": (1e-3, False),
        "aux": (1e-10, False),
    }


def test_kinds_by_pattern_are_judged_and_summarised(court: Any, side: Any) -> None:
    """Every head is a classification; what the pattern ignores is not compared."""
    specs = {"heads.*": OutputSpec(kind="classification"), "a*": OutputSpec(per="ignore")}
    both = side(outputs=HEADS)
    result = court.judge(both, both, specs=specs)
    assert {check.output for check in result.checks if check.name == "top1_agreement"} == {
        "heads.0",
        "heads.1",
    }
    assert result.notes == ("aux: not compared: per: ignore",)
    request = court.request(both, both)
    header = summarise(request.observation_folder, request.observation, request.samples, specs)[0]
    assert header[1:3] == ["heads.0.top", "heads.0.score"]


@pytest.mark.parametrize("path", ["haeds.*", "heads", "heads.*.box"])
def test_a_pattern_that_fits_nothing_is_a_fault(court: Any, side: Any, path: str) -> None:
    """Its limits would be silently nothing."""
    both = side(outputs=HEADS)
    with pytest.raises(JudgeError, match=r"outputs\..*: expected .*output path that the model returns"):
        court.judge(both, both, specs={path: OutputSpec(kind="tensor")})


def test_a_pattern_that_ignores_nothing_is_none(court: Any, side: Any) -> None:
    """An output that is not there cannot be compared by accident."""
    both = side(outputs=HEADS)
    assert court.judge(both, both, specs={"debug.**": OutputSpec(per="ignore")}).verdict is Verdict.MATCH
