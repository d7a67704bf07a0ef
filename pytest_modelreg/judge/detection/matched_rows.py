"""Rows of an output with a row a box, put in the order of their partners on the other side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import Rows
from pytest_modelreg.judge.ragged_rows import RaggedRows

Array = npt.NDArray[Any]
IndexArray = npt.NDArray[np.int64]


class MatchedRows(RaggedRows):
    """One side of an output, with boxes that have no partner left out: :class:`compare.Rows`.

    Parameters
    ----------
    rows : Rows
        As recorded.
    chosen : mapping of int to ndarray of int64, axes (box,)
        Which boxes of a row come, and in which order; rows that are not in it come whole.
    columns : slice or None
        Of boxes that hold more than their coordinates: which of their columns come.
    """

    def __init__(self, rows: Rows, chosen: Mapping[int, IndexArray], *, columns: slice | None = None) -> None:
        super().__init__(rows)
        self._chosen = chosen
        self._columns = columns

    def row_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of one row."""
        return self.row(index).shape

    def row(self, index: int) -> Array:
        """Return one row: its boxes with a partner, in the expected order."""
        row = self._recorded.row(index)
        chosen = self._chosen.get(index)
        if not row.size or (chosen is not None and not len(chosen)):
            return row.reshape(-1)[:0]  # no box: nothing to say of the axes behind
        row = row if chosen is None else row[chosen]
        return row if self._columns is None else row[:, self._columns]
