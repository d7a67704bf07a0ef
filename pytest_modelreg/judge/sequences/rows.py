"""Rows of tokens, or of their scores, made as long as they are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import Rows
from pytest_modelreg.judge.ragged_rows import RaggedRows

Array = npt.NDArray[Any]

ENDED = -1
"""Stands where one side has ended and the other goes on; no token has a negative number."""


class SequenceRows(RaggedRows):
    """One side of an output of tokens, or of their scores, as it is compared: :class:`compare.Rows`.

    Parameters
    ----------
    rows : Rows
        As recorded.
    lengths : mapping of int to int
        How long a row is made: a longer one is cut, a shorter one ends in :data:`ENDED`. Rows that are not
        in it come as they are.
    """

    def __init__(self, rows: Rows, lengths: Mapping[int, int]) -> None:
        super().__init__(rows)
        self._lengths = lengths

    def row_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of one row."""
        shape = self._recorded.row_shape(index)
        return (self._lengths.get(index, shape[0]), *shape[1:])

    def row(self, index: int) -> Array:
        """Return one row, cut or filled up."""
        row = self._recorded.row(index)
        missing = self._lengths.get(index, len(row)) - len(row)
        if missing > 0:
            return np.concatenate([row.astype(np.int64), np.full(missing, ENDED, dtype=np.int64)])
        return row if not missing else row[:missing]
