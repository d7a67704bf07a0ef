"""Suites whose goldens are larger than they may be: what a run warns of.

What belongs here: which bytes count. What a golden weighs and what the warning says are ``store``'s.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.tracked_files import list_unkept
from pytest_modelreg.store import describe_excess, measure_goldens, suite_folder


def list_excess(suites: Iterable[Suite]) -> list[str]:
    """Return a warning for every suite above its budget, with the ways out."""
    found = (_find_excess(suite) for suite in suites)
    return [excess for excess in found if excess is not None]


def _find_excess(suite: Suite) -> str | None:
    root, budget_mb = suite.golden_root, suite.golden_budget_mb
    excess = describe_excess(suite.name, measure_goldens(root, suite.name), budget_mb=budget_mb)
    if excess is None:
        return None
    # Whoever went one of the ways that the warning names must not be warned for good.
    unkept = list_unkept(suite_folder(root, suite.name))
    if not unkept:
        return excess
    sizes = measure_goldens(root, suite.name, left_out=unkept)
    return describe_excess(suite.name, sizes, budget_mb=budget_mb)
