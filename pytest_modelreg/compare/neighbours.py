"""Nearest neighbours of embeddings within their own set, on both sides, block by block.

Here belongs which rows are each other's neighbours, and how many stayed. How large an overlap a
suite wants is judged elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare.decisions import find_top_k
from pytest_modelreg.compare.measures import CountArray, FloatArray, MaskArray
from pytest_modelreg.compare.rows import IndexArray, RowPairs, Rows

NEIGHBOUR_BYTES = 16 * 2**20
"""Working set, bytes: larger than a comparison's, because every block meets every other one."""

N_BUFFERS = 4
ROUNDING = 1e-12
"""Room for float64's rounding in a cosine, dimensionless: equal rows can end up that far apart."""

NO_DIRECTION = -2.0
"""Cosine with a row that is zero or not finite: below every real one, so that it is nobody's neighbour."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """Agreement of nearest neighbours; every array has axes (pair,).

    Parameters
    ----------
    overlap : float64
        Share of the nearest neighbours that stayed, near ties at their edge included; 0 where a
        side alone has no direction (all zero, or not finite), 1 where both are zero, NaN where both
        are not finite.
    near_tie : bool
        Where overlap is owed to the near-tie bound.
    """

    overlap: FloatArray
    near_tie: MaskArray

    @classmethod
    def of_equal_rows(cls, n_pairs: int) -> Neighbours:
        """Return what equal sides come to."""
        return cls(overlap=np.ones(n_pairs), near_tie=np.zeros(n_pairs, dtype=np.bool_))


def compare_neighbours(
    expected: Rows,
    actual: Rows,
    *,
    pairs: RowPairs,
    top_k: int,
    epsilon: float,
    block_bytes: int = NEIGHBOUR_BYTES,
) -> Neighbours:
    """Find every row's nearest neighbours among the paired rows, on both sides.

    Parameters
    ----------
    expected, actual : Rows
        Golden side and this run's side, neither ragged; a row is flattened to one vector.
    pairs : RowPairs
        The set: neighbours are looked for among these rows.
    top_k : int
        Neighbours of a row, itself left out: from 1 to the number of pairs less one.
    epsilon : float
        Relative error that counts as noise, dimensionless.
    block_bytes : int
        Working set, bytes; results do not depend on it.

    Notes
    -----
    Neighbours are those with the largest cosine; of equal ones the first. One that is new counts as
    having stayed when the expected side has it within 4 * epsilon of the last neighbour: a vector
    that is off by epsilon of its own norm turns its unit vector by epsilon (to first order), which
    moves a cosine by at most 2 * epsilon, the row's own turn and the neighbour's. When one came
    in, another went out that was as near or nearer before, so both cosines together can close at
    most 4 * epsilon. Epsilon never comes from the difference that is judged.
    """
    sides = (
        _Directions(expected, pairs.expected, block_bytes),
        _Directions(actual, pairs.actual, block_bytes),
    )
    found = Neighbours.of_equal_rows(len(pairs))
    step = min(sides[0].step, max(1, math.isqrt(block_bytes // (8 * N_BUFFERS))))
    bound = 4.0 * epsilon + ROUNDING
    for start in range(0, len(pairs), step):
        queries = slice(start, min(start + step, len(pairs)))
        before, after = (_find_nearest(side, queries, top_k, step) for side in sides)
        for row in np.flatnonzero((before.index != after.index).any(axis=1)).tolist():
            entered = np.setdiff1d(after.index[row], before.index[row])
            cosines = sides[0].cosines(start + row, entered)
            n_near = int(np.count_nonzero(before.cosine[row].min() - cosines <= bound))
            found.near_tie[start + row] = n_near > 0
            found.overlap[start + row] = 1.0 - (len(entered) - n_near) / top_k
    _decide_directionless(found, sides[0], sides[1])
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Nearest:
    """The nearest rows of some rows, axes (row, neighbour), in the order of the set."""

    cosine: FloatArray
    index: CountArray


class _Directions:
    """One side's rows as unit vectors; zero where a row has no direction."""

    def __init__(self, rows: Rows, index: IndexArray, block_bytes: int) -> None:
        self._rows = rows
        self._index = index
        width = math.prod(rows.row_shape(0)) if len(index) else 1
        self.step = max(1, min(len(index), block_bytes // (8 * N_BUFFERS * max(1, width))))
        self.is_directed = np.zeros(len(index), dtype=np.bool_)
        self.is_finite = np.zeros(len(index), dtype=np.bool_)
        for start in range(0, len(index), self.step):
            at = slice(start, start + self.step)
            values = self._read(index[at])
            self.is_finite[at] = np.isfinite(values).all(axis=1)
            self.is_directed[at] = self.is_finite[at] & values.any(axis=1)

    def units(self, at: slice | CountArray) -> FloatArray:
        """Return rows of unit length, axes (row, element)."""
        values = self._read(self._index[at])
        values[~self.is_directed[at]] = 0.0
        # Divided by the largest element first: squares of float64's extremes leave its range.
        largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
        np.divide(values, largest, out=values, where=largest > 0.0)
        norms = np.sqrt(np.einsum("ij,ij->i", values, values))[:, np.newaxis]
        np.divide(values, norms, out=values, where=norms > 0.0)
        return values

    def cosines(self, row: int, others: CountArray) -> FloatArray:
        """Return the cosines of one row with others."""
        cosines: FloatArray = self.units(others) @ self.units(slice(row, row + 1))[0]
        cosines[~self.is_directed[others]] = NO_DIRECTION
        return cosines

    def _read(self, index: IndexArray) -> FloatArray:
        first = int(index[0])
        if np.array_equal(index, np.arange(first, first + len(index))):
            values = self._rows.rows(first, first + len(index))
        else:
            values = np.concatenate([self._rows.rows(row, row + 1) for row in index.tolist()])
        # Widening a signalling NaN warns.
        with np.errstate(invalid="ignore"):
            widened: FloatArray = values.reshape(len(index), -1).astype(np.float64)
        return widened


def _find_nearest(side: _Directions, queries: slice, top_k: int, step: int) -> _Nearest:
    """Return the nearest rows of some rows, passing once over the set."""
    units = side.units(queries)
    n_queries, n_rows = len(units), len(side.is_directed)
    cosine = np.full((n_queries, top_k), -np.inf)
    index = np.full((n_queries, top_k), -1, dtype=np.int64)
    for start in range(0, n_rows, step):
        at = slice(start, min(start + step, n_rows))
        cosines = units @ side.units(at).T
        cosines[:, ~side.is_directed[at]] = NO_DIRECTION
        own = np.arange(max(queries.start, at.start), min(queries.stop, at.stop))
        cosines[own - queries.start, own - at.start] = -np.inf
        cosine, index = _merge(cosine, index, cosines, at)
    return _Nearest(cosine=cosine, index=index)


def _merge(
    cosine: FloatArray, index: CountArray, cosines: FloatArray, at: slice
) -> tuple[FloatArray, CountArray]:
    """Return the nearest of those kept and of a block; of equal ones the first in the set."""
    improved = np.flatnonzero(cosines.max(axis=1) > cosine.min(axis=1))
    if not len(improved):
        return cosine, index
    candidates = np.concatenate([cosine[improved], cosines[improved]], axis=1)
    numbers = np.broadcast_to(np.arange(at.start, at.stop), (len(improved), cosines.shape[1]))
    nearest = find_top_k(candidates, cosine.shape[1])
    cosine[improved] = candidates[nearest].reshape(len(improved), -1)
    index[improved] = np.concatenate([index[improved], numbers], axis=1)[nearest].reshape(len(improved), -1)
    return cosine, index


def _decide_directionless(found: Neighbours, before: _Directions, after: _Directions) -> None:
    """Overrule rows that have no direction: what their neighbours are says nothing."""
    neither = ~(before.is_directed | after.is_directed)
    found.overlap[before.is_directed != after.is_directed] = 0.0
    found.overlap[neither] = np.where((before.is_finite & after.is_finite)[neither], 1.0, np.nan)
    found.near_tie[~(before.is_directed & after.is_directed)] = False
