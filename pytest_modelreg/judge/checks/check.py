"""What a check is: a measure per row, a direction, and what it can be applied to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import BoxAgreement, Decisions, Labelling, Neighbours, RowMeasures

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

Reads = Literal["rows", "scores", "labels", "divergence", "neighbours", "boxes", "labelling"]
"""What a check looks at beside the differences of values: each costs time only where it is asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """What was measured on the compared rows of one output.

    Parameters
    ----------
    rows : RowMeasures
        Numbers per row.
    decisions : Decisions or None
        None where no check of this output needs decisions.
    divergence : ndarray of float64, axes (pair,), or None
        In nats; None where no check needs it.
    neighbours : Neighbours or None
        None where no check needs them.
    labels : ndarray of int64, axes (pair,), or None
        True class of every row, -1 where its sample has no label; None where no check needs it.
    boxes : BoxAgreement or None
        None for what holds no boxes.
    labelling : Labelling or None
        None where no check of this output needs it.
    """

    rows: RowMeasures
    decisions: Decisions | None = None
    divergence: FloatArray | None = None
    neighbours: Neighbours | None = None
    labels: IndexArray | None = None
    boxes: BoxAgreement | None = None
    labelling: Labelling | None = None


@dataclass(frozen=True, kw_only=True)
class OutputFacts:
    """What decides whether a check can be applied to an output.

    Parameters
    ----------
    dtype : str
        True dtype.
    row_shape : tuple of int
        Shape of a row, -1 where rows differ.
    per : str
        ``sample`` or ``batch``.
    n_rows : int
        Rows that are compared.
    top_k : int
        How many classes ``topk_overlap`` looks at, or neighbours ``rank_overlap``.
    """

    dtype: str
    row_shape: tuple[int, ...]
    per: str
    n_rows: int
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
        by itself, ``mean`` judges the set (the rows that are not at ``at_best`` move it).
    measure : callable
        Value per row, float64, axes (row,); NaN where a ``mean`` check decides nothing.
    refuse : callable
        Why the check cannot be applied and what to do, or None.
    default_limit : float or None
        Limit where a kind applies the check without being asked (``domain.check.DEFAULT_CHECKS``);
        None where the dtype says it.
    reads : str
        What has to be measured for it.
    at_best : float
        Value of equal rows.
    """

    name: str
    direction: str
    summary: str
    measure: Callable[[Measured], FloatArray]
    refuse: Callable[[OutputFacts], str | None]
    default_limit: float | None = None
    reads: Reads = "rows"
    at_best: float = 0.0


def refuse_nothing(facts: OutputFacts) -> str | None:
    """Accept any output."""
    return None
