"""What an output kind is: default checks on decisions, and how its rows read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from pytest_modelreg.domain.case import OutputSpec

Row = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What the numbers of an output mean.

    Parameters
    ----------
    name : str
        One of ``domain.check.KINDS``.
    decision_limits : mapping of str to float
        Default checks beyond the dtype's check of values, with their limits.
    render : callable
        ``(row, spec, digits)`` to one line that a person can compare with another.
    digits : int
        Digits to start with; raised until two renderings differ.
    columns : tuple of str
        Titles of its cells in ``summary.csv``.
    summarise : callable
        ``(row, spec)`` to these cells, numbers to 6 significant digits, so that noise in
        the last bits rarely shows in a diff.
    """

    name: str
    decision_limits: Mapping[str, float] = field(default_factory=dict)
    render: Callable[[Row, OutputSpec, int], str]
    digits: int = 4
    columns: tuple[str, ...]
    summarise: Callable[[Row, OutputSpec], tuple[str, ...]]
