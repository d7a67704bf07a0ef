"""Suites whose goldens are larger than they may be: what a run warns of."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.store import describe_excess, measure_goldens


def list_excess(suites: Iterable[Suite]) -> list[str]:
    """Return a warning for every suite above its budget, with the ways out."""
    found = []
    for suite in suites:
        sizes = measure_goldens(suite.golden_root, suite.name)
        excess = describe_excess(suite.name, sizes, budget_mb=suite.golden_budget_mb)
        found += [] if excess is None else [excess]
    return found
