"""What an output kind is: what it needs to be declared rightly, and how its rows read.

Which checks it gets without being asked is in ``domain.check.DEFAULT_CHECKS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    render : callable
        ``(row, spec, digits)`` to one line that a person can compare with another.
    digits : int
        Digits to start with; raised until two renderings differ.
    columns : tuple of str
        Titles of its cells in ``summary.csv``.
    summarise : callable
        ``(row, spec)`` to these cells, numbers to 6 significant digits, so that noise in
        the last bits rarely shows in a diff. A cell that is no single number starts with a
        letter or a bracket: ``-1.5 2.0`` would read as a formula to a spreadsheet.
    find_fault : callable
        ``(path, row_shape, spec)`` to why what the suite declares does not fit rows of this
        shape (-1 where rows differ) and what to do, or None.
    """

    name: str
    render: Callable[[Row, OutputSpec, int], str]
    digits: int = 4
    columns: tuple[str, ...]
    summarise: Callable[[Row, OutputSpec], tuple[str, ...]]
    find_fault: Callable[[str, tuple[int, ...], OutputSpec], str | None]


def accept_any_shape(path: str, row_shape: tuple[int, ...], spec: OutputSpec) -> str | None:
    """Accept rows of every shape."""
    return None
