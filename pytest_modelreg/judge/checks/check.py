"""What a check is: a measure per row, a direction, and what it can be applied to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import Decisions, RowMeasures

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """What was measured on the compared rows of one output.

    Parameters
    ----------
    rows : RowMeasures
        Numbers per row.
    decisions : Decisions or None
        None where no check of this output needs decisions.
    """

    rows: RowMeasures
    decisions: Decisions | None


@dataclass(frozen=True, kw_only=True)
class OutputFacts:
    """What decides whether a check can be applied to an output.

    Parameters
    ----------
    dtype : str
        True dtype.
    row_shape : tuple of int
        Shape of a row, -1 where rows differ.
    top_k : int
        How many classes ``topk_overlap`` looks at.
    """

    dtype: str
    row_shape: tuple[int, ...]
    top_k: int


@dataclass(frozen=True, kw_only=True)
class Check:
    """One named measure.

    Parameters
    ----------
    name : str
        One of ``domain.check.CHECK_NAMES``.
    direction : str
        ``max`` (value at most limit) or ``min`` (at least).
    summary : str
        How the rows' values become the output's: ``worst`` and ``total`` judge every row
        by itself, ``mean`` judges the set (a row below 1 is what lowers it).
    measure : callable
        Value per row, float64, axes (row,); NaN where a ``mean`` check decides nothing.
    refuse : callable
        Why the check cannot be applied and what to do, or None.
    default_limit : float or None
        Limit where a kind applies the check without being asked (``domain.check.DEFAULT_CHECKS``);
        None where the dtype says it.
    reads_scores : bool
        Whether the comparison has to read decisions off the rows.
    """

    name: str
    direction: str
    summary: str
    measure: Callable[[Measured], FloatArray]
    refuse: Callable[[OutputFacts], str | None]
    default_limit: float | None = None
    reads_scores: bool = False


def refuse_nothing(facts: OutputFacts) -> str | None:
    """Accept any output."""
    return None
