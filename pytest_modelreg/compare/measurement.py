"""What is measured on one band: tiles summed up per row, then the gate and the counts.

A band holds whole rows; a tile is what fits the scratch memory, several rows or a piece
of one. A row whose squares leave float64's range is measured again at a scale of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pytest_modelreg.compare.gate import (
    ElementwiseLimit,
    Gate,
    compute_allowances,
    compute_denominators,
    compute_rel_l2,
)
from pytest_modelreg.compare.kernel import (
    Scratch,
    Tile,
    find_largest_magnitude,
    measure_elements,
    measure_tile,
)
from pytest_modelreg.compare.measures import CountArray, FloatArray, RowMeasures
from pytest_modelreg.compare.rows import Array, Band
from pytest_modelreg.compare.worst import WorstElements

LARGEST = float(np.finfo(np.float64).max)
SMALLEST_SAFE_SQUARE = 1e-280
"""Squared norms below it have lost digits to float64's smallest numbers (about 2e-308)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sums:
    """Sums per row of a band, each scaled by ``2**exponent`` (squares by its square)."""

    expected_square: FloatArray
    actual_square: FloatArray
    difference_square: FloatArray
    dot: FloatArray
    exponents: CountArray

    @classmethod
    def of_zeros(cls, n_rows: int) -> _Sums:
        squares = [np.zeros(n_rows) for _ in range(4)]
        return cls(
            expected_square=squares[0],
            actual_square=squares[1],
            difference_square=squares[2],
            dot=squares[3],
            exponents=np.zeros(n_rows, dtype=np.int64),
        )

    def clear(self, row: int, exponent: int) -> None:
        self.exponents[row] = exponent
        for sums in (self.expected_square, self.actual_square, self.difference_square, self.dot):
            sums[row] = 0.0

    def add(self, rows: slice, tile: Tile) -> None:
        self.expected_square[rows] += tile.expected_square
        self.actual_square[rows] += tile.actual_square
        self.difference_square[rows] += tile.difference_square
        self.dot[rows] += tile.dot


def measure_band(
    band: Band, rows: RowMeasures, gate: Gate, scratch: Scratch, worst: WorstElements
) -> float | None:
    """Fill ``rows`` for one band, except for its counts of elements beyond a limit.

    Returns
    -------
    float or None
        Largest elementwise relative difference; None where all expected are zero.
    """
    n_rows, n_elements = band.expected.shape
    rows.n_elements[band.pairs] = n_elements
    if not n_elements:
        rows.cosine[band.pairs] = np.nan
        return None
    sums = _Sums.of_zeros(n_rows)
    max_rel: float | None = None
    for at_rows, at_elements in _iterate_tiles(n_rows, n_elements, scratch.max_elements):
        tile = measure_tile(band.expected[at_rows, at_elements], band.actual[at_rows, at_elements], scratch)
        sums.add(at_rows, tile)
        _add_elements(band, rows, tile, at_rows, at_elements.start, worst)
        if tile.has_nonzero:
            max_rel = tile.max_rel if max_rel is None else max(max_rel, tile.max_rel)
    for row in _find_extreme_rows(band, sums):
        _measure_scaled(band, row, sums, scratch)
    _finish_rows(band, rows, gate, sums)
    return max_rel


def count_elements(
    band: Band,
    rows: RowMeasures,
    elementwise: ElementwiseLimit | None,
    scratch: Scratch,
) -> None:
    """Count the elements beyond their limits, in the rows that can hold one."""
    max_abs = rows.max_abs[band.pairs]
    allowance = rows.allowance[band.pairs]
    suspects = (max_abs > allowance) | (rows.n_one_sided[band.pairs] > 0)
    if elementwise is not None:
        suspects |= max_abs > elementwise.atol
    chosen = np.flatnonzero(suspects)
    if not len(chosen):
        return
    # Indexing by a list copies; a band that is suspect as a whole (or one long row) stays a view.
    everything = len(chosen) == len(suspects)
    expected, actual = (side if everything else side[chosen] for side in (band.expected, band.actual))
    positions = chosen + band.start
    for at_rows, at_elements in _iterate_tiles(len(chosen), expected.shape[1], scratch.max_elements):
        absolute, magnitude = measure_elements(
            expected[at_rows, at_elements], actual[at_rows, at_elements], scratch
        )
        beyond_share = absolute > allowance[chosen[at_rows], np.newaxis]
        rows.n_mismatched[positions[at_rows]] += np.count_nonzero(beyond_share, axis=1)
        if elementwise is not None:
            magnitude *= elementwise.rtol
            magnitude += elementwise.atol
            rows.n_beyond[positions[at_rows]] += np.count_nonzero(absolute > magnitude, axis=1)


def _iterate_tiles(n_rows: int, n_elements: int, max_elements: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices over rows and over elements of tiles that fit, in reading order."""
    if n_elements <= max_elements:
        step = max_elements // n_elements
        for start in range(0, n_rows, step):
            yield slice(start, min(start + step, n_rows)), slice(0, n_elements)
        return
    for row in range(n_rows):
        for start in range(0, n_elements, max_elements):
            yield slice(row, row + 1), slice(start, min(start + max_elements, n_elements))


def _add_elements(
    band: Band, rows: RowMeasures, tile: Tile, at_rows: slice, first_element: int, worst: WorstElements
) -> None:
    pairs = slice(band.start + at_rows.start, band.start + at_rows.stop)
    origin = (at_rows.start, first_element)
    np.maximum(rows.max_abs[pairs], tile.max_abs, out=rows.max_abs[pairs])
    rows.sum_abs[pairs] += tile.sum_abs
    if float(tile.max_abs.max()) > worst.threshold:
        worst.add_finite(band, tile.absolute, origin)
    if tile.non_finite is None:
        return
    found = tile.non_finite
    rows.nan_expected[pairs] += found.nan_expected
    rows.nan_actual[pairs] += found.nan_actual
    rows.inf_expected[pairs] += found.inf_expected
    rows.inf_actual[pairs] += found.inf_actual
    rows.n_one_sided[pairs] += np.count_nonzero(found.one_sided, axis=1)
    rows.n_excluded[pairs] += np.count_nonzero(found.excluded, axis=1)
    worst.add_one_sided(band, found.one_sided, origin)


def _find_extreme_rows(band: Band, sums: _Sums) -> list[int]:
    """Return rows whose squares overflowed or sank into float64's smallest numbers."""
    total = sums.expected_square + sums.actual_square + sums.difference_square
    extreme = ~np.isfinite(total)
    tiny = np.flatnonzero(total < SMALLEST_SAFE_SQUARE)
    if len(tiny):
        extreme[tiny] = _count_nonzero(band.expected, tiny) + _count_nonzero(band.actual, tiny) > 0
    return [int(row) for row in np.flatnonzero(extreme)]


def _count_nonzero(values: Array, rows: CountArray) -> CountArray:
    """Return how many elements of each of the rows are not zero."""
    counts: CountArray = np.count_nonzero(values if len(rows) == len(values) else values[rows], axis=1)
    return counts


def _measure_scaled(band: Band, row: int, sums: _Sums, scratch: Scratch) -> None:
    at_row = slice(row, row + 1)
    tiles = [
        at_elements for _, at_elements in _iterate_tiles(1, band.expected.shape[1], scratch.max_elements)
    ]
    largest = max(
        find_largest_magnitude(band.expected[at_row, at], band.actual[at_row, at], scratch) for at in tiles
    )
    exponent = -int(np.frexp(largest)[1])
    sums.clear(row, exponent)
    for at in tiles:
        tile = measure_tile(band.expected[at_row, at], band.actual[at_row, at], scratch, exponent=exponent)
        sums.add(at_row, tile)


def _finish_rows(band: Band, rows: RowMeasures, gate: Gate, sums: _Sums) -> None:
    """Turn sums into norms, cosine, the gate and what it allows an element."""
    n_elements = band.expected.shape[1]
    expected_norm, actual_norm, difference_norm = (
        np.sqrt(square) for square in (sums.expected_square, sums.actual_square, sums.difference_square)
    )
    rms_row_norm = np.ldexp(gate.rms_row_norm, sums.exponents)
    denominators = compute_denominators(expected_norm, n_elements=n_elements, rms_row_norm=rms_row_norm)
    rel_l2 = compute_rel_l2(difference_norm, denominators)
    rel_l2[rows.n_one_sided[band.pairs] > 0] = np.inf
    rows.rel_l2[band.pairs] = rel_l2
    cosine = np.clip(sums.dot / (expected_norm * actual_norm), -1.0, 1.0)
    cosine[(difference_norm == 0.0) & (expected_norm > 0.0)] = 1.0
    cosine[(expected_norm == 0.0) | (actual_norm == 0.0)] = np.nan
    rows.cosine[band.pairs] = cosine
    rows.expected_norm[band.pairs] = _unscale(expected_norm, sums)
    rows.difference_norm[band.pairs] = _unscale(difference_norm, sums)
    rows.allowance[band.pairs] = compute_allowances(
        _unscale(denominators, sums), n_elements=n_elements, limit=gate.limit
    )


def _unscale(norms: FloatArray, sums: _Sums) -> FloatArray:
    """Return true norms; one beyond float64 becomes its largest number, to stay comparable."""
    unscaled: FloatArray = np.minimum(np.ldexp(norms, -sums.exponents), LARGEST)
    return unscaled
