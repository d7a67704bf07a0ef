"""Rows of tokens, or of their scores, made as long as they are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import Rows

Array = npt.NDArray[Any]

ENDED = -1
"""Stands where one side has ended and the other goes on; no token has a negative number."""


class SequenceRows:
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
        self._rows = rows
        self._lengths = lengths

    @property
    def dtype(self) -> str:
        """True dtype by its common name."""
        return self._rows.dtype

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._rows.n_rows

    @property
    def is_ragged(self) -> bool:
        """True: rows are as long as they are."""
        return True

    def row_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of one row."""
        shape = self._rows.row_shape(index)
        return (self._lengths.get(index, shape[0]), *shape[1:])

    def rows(self, start: int, stop: int) -> Array:
        """Return nothing: rows differ in shape.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(f"rows {start} to {stop} differ in shape; read them one by one")

    def row(self, index: int) -> Array:
        """Return one row, cut or filled up."""
        row = self._rows.row(index)
        missing = self._lengths.get(index, len(row)) - len(row)
        if missing > 0:
            return np.concatenate([row.astype(np.int64), np.full(missing, ENDED, dtype=np.int64)])
        return row if not missing else row[:missing]
