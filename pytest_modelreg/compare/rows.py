"""What is compared: rows of two outputs, paired, cut into bands of bounded size.

Here belongs how rows are reached. What is measured on them lives in ``kernel`` and
``decisions``. A new way to hold rows (another file format) implements :class:`Rows`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
IndexArray = npt.NDArray[np.int64]


class Rows(Protocol):
    """One output, row by row; a row is what belongs to one sample (or one batch)."""

    @property
    def dtype(self) -> str:
        """True dtype by its common name (``bfloat16`` although rows arrive as float32)."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def is_ragged(self) -> bool:
        """Whether rows differ in shape; ``rows`` is then not available."""
        ...

    def row_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of one row."""
        ...

    def rows(self, start: int, stop: int) -> Array:
        """Return rows ``start`` to ``stop``: axes (row, *row shape)."""
        ...

    def row(self, index: int) -> Array:
        """Return one row in its own shape."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class RowPairs:
    """Which row of the expected side is compared with which row of the actual side.

    Parameters
    ----------
    expected, actual : ndarray of int64, axes (pair,)
        Row indices; equally long.
    """

    expected: IndexArray
    actual: IndexArray

    @classmethod
    def same_order(cls, n_rows: int) -> RowPairs:
        """Pair row i with row i."""
        index = np.arange(n_rows, dtype=np.int64)
        return cls(expected=index, actual=index)

    def __len__(self) -> int:
        return len(self.expected)


@dataclass(frozen=True, kw_only=True, eq=False)
class Band:
    """Consecutive pairs whose rows have one shape.

    Parameters
    ----------
    start : int
        Position of the first pair.
    row_shape : tuple of int
        Shape of every row in the band.
    expected, actual : ndarray, axes (pair, element)
        As stored, flattened row by row; usually views of the files.
    """

    start: int
    row_shape: tuple[int, ...]
    expected: Array
    actual: Array

    @property
    def pairs(self) -> slice:
        """Positions of this band's pairs."""
        return slice(self.start, self.start + len(self.expected))


def iterate_bands(expected: Rows, actual: Rows, pairs: RowPairs, *, max_elements: int) -> Iterator[Band]:
    """Cut paired rows into bands of at most ``max_elements`` elements, one row at least.

    Raises
    ------
    ValueError
        If paired rows differ in shape: (3, 1) against (1, 3) is never broadcast, and
        the caller has to report it as a difference of structure.
    """
    if not len(pairs):
        return
    one_by_one = expected.is_ragged or actual.is_ragged
    step = 1
    if not one_by_one:
        step = max(1, max_elements // max(1, math.prod(expected.row_shape(0))))
    for start in range(0, len(pairs), step):
        of_expected = _gather(expected, pairs.expected[start : start + step], one_by_one)
        of_actual = _gather(actual, pairs.actual[start : start + step], one_by_one)
        if of_expected.shape != of_actual.shape:
            raise ValueError(
                f"rows of pair {start}: expected shape {of_expected.shape[1:]}, got {of_actual.shape[1:]}"
            )
        # Not reshape(n, -1): it cannot tell the second axis when a row is empty.
        flat = (of_expected.shape[0], math.prod(of_expected.shape[1:]))
        yield Band(
            start=start,
            row_shape=of_expected.shape[1:],
            expected=of_expected.reshape(flat),
            actual=of_actual.reshape(flat),
        )


def _gather(rows: Rows, index: IndexArray, one_by_one: bool) -> Array:
    """Return the rows at ``index``; a view where they are consecutive."""
    first = int(index[0])
    if one_by_one:
        return rows.row(first)[np.newaxis]
    if np.array_equal(index, np.arange(first, first + len(index))):
        return rows.rows(first, first + len(index))
    return np.concatenate([rows.rows(at, at + 1) for at in index.tolist()])
