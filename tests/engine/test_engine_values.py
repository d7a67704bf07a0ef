"""What a Python test declares of its values, and the limit of bare floats."""

from __future__ import annotations

from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.engine.values import PYTHON_NUMBER_LIMIT, widen_for_python_numbers

LIMIT = Limit(name="rel_l2", value=1e-9, source="checks.rel_l2")
OTHER = Limit(name="max_abs", value=1.0, source="checks.max_abs")


def test_bare_floats_get_a_limit_beside_what_is_written() -> None:
    """Only the named paths, and only where nothing is said of rel_l2."""
    plan = CheckPlan(default=OutputChecks(limits=(OTHER,)))
    found = widen_for_python_numbers(plan, ["loss"])
    assert [(limit.name, limit.value) for limit in found.of("loss").limits] == [
        ("max_abs", 1.0),
        ("rel_l2", PYTHON_NUMBER_LIMIT),
    ]
    assert found.of("logits") == plan.default


def test_what_the_test_says_wins() -> None:
    """A limit of its own, also by pattern, or off."""
    for checks in (OutputChecks(limits=(LIMIT,)), OutputChecks(limits=(OTHER,), off=frozenset({"rel_l2"}))):
        for plan in (CheckPlan(default=checks), CheckPlan(by_output={"lo*": checks})):
            assert widen_for_python_numbers(plan, ["loss"]).of("loss") == checks
