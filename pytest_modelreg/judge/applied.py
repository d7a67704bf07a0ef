"""What is applied to one output, as values: checks by name, checks of the suite's own, their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.judge.checks import Check, Reads

IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class AppliedCheck:
    """One check on one output with its limit, in the check's direction.

    Parameters
    ----------
    value : float or None
        Limit over all samples; None where only tags carry limits.
    tags : mapping of str to float
        Limits over the samples with a tag.
    rtol, atol : float
        Of ``elementwise`` only.
    source : str
        Where the limit comes from.
    """

    check: Check
    value: float | None
    tags: Mapping[str, float] = field(default_factory=dict)
    rtol: float = 0.0
    atol: float = 0.0
    source: str


@dataclass(frozen=True, kw_only=True)
class AppliedFunction:
    """One check of the suite's own on one output with its limit.

    Parameters
    ----------
    reference : str
        ``module:fn``, the check's name.
    function : callable
        ``fn(expected, actual, samples)``, returns a number.
    bound : str
        One of ``domain.check.BOUNDS``: what the limits are held against.
    value : float or None
        Limit over all samples; None where only tags carry limits.
    tags : mapping of str to float
        Limits over the samples with a tag.
    source : str
        Where the limit comes from.
    """

    reference: str
    function: Callable[..., Any]
    bound: str
    value: float | None
    tags: Mapping[str, float] = field(default_factory=dict)
    source: str


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputPlan:
    """What is applied to one output: one check at least, by name or of the suite's own.

    Parameters
    ----------
    checks : tuple of AppliedCheck
        In the order of reports.
    functions : tuple of AppliedFunction
        As written.
    share_limit : float
        The ``rel_l2`` limit by which mismatched elements are counted, dimensionless:
        the applied one, else the dtype's; 0 where elements have to be equal.
    epsilon : float
        Relative noise under which a flip is a near tie, dimensionless: calibrated for the
        golden, else the dtype's. Never a limit that a suite widened.
    labels : ndarray of int64, axes (pair,), or None
        True class of every row, -1 where its sample has no label; None where no check asks.
    notes : tuple of str
        What was left out, and why.
    """

    checks: tuple[AppliedCheck, ...]
    functions: tuple[AppliedFunction, ...] = ()
    share_limit: float
    epsilon: float
    labels: IndexArray | None = None
    notes: tuple[str, ...] = ()

    @property
    def tags(self) -> tuple[tuple[str, str], ...]:
        """Every check's name with every tag that it has a limit for."""
        named = [(each.check.name, each.tags) for each in self.checks]
        named += [(each.reference, each.tags) for each in self.functions]
        return tuple((name, tag) for name, tags in named for tag in tags)

    def find(self, name: str) -> AppliedCheck | None:
        """Return the applied check of this name."""
        return next((applied for applied in self.checks if applied.check.name == name), None)

    def reads(self, what: Reads) -> bool:
        """Return whether a check looks at this beside the differences of values."""
        return any(each.check.reads == what for each in self.checks)
