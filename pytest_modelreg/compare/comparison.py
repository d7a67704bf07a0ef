"""Two outputs compared in one pass over blocks, in bounded memory.

Here belongs the pass itself. Arithmetic on elements is ``kernel``, the gate's formula ``gate``;
what else wants to see every band (decisions) is a :class:`BandObserver`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pytest_modelreg.compare.gate import ElementwiseLimit, Gate
from pytest_modelreg.compare.kernel import N_BUFFERS, Scratch, widened_dtype
from pytest_modelreg.compare.measurement import count_elements, measure_band
from pytest_modelreg.compare.measures import Comparison, RowMeasures
from pytest_modelreg.compare.rows import Band, RowPairs, Rows, iterate_bands
from pytest_modelreg.compare.worst import WorstElements

BLOCK_BYTES = 4 * 2**20
"""Working set of a block, bytes: small enough for a CPU's cache, large enough to hide numpy's overhead."""


class BandObserver(Protocol):
    """Something that looks at every band once, after it was measured."""

    def observe(self, band: Band, rows: RowMeasures) -> None:
        """Look at a band; ``rows`` is filled up to and including ``band.pairs``."""
        ...


def compare_rows(
    expected: Rows,
    actual: Rows,
    *,
    pairs: RowPairs,
    gate: Gate,
    elementwise: ElementwiseLimit | None = None,
    observers: Sequence[BandObserver] = (),
    block_bytes: int = BLOCK_BYTES,
) -> Comparison:
    """Compare paired rows of two outputs.

    Parameters
    ----------
    expected, actual : Rows
        Golden side and this run's side.
    pairs : RowPairs
        Rows to compare; paired rows have equal shapes.
    gate : Gate
        Denominator and limit of ``rel_l2``.
    elementwise : ElementwiseLimit or None
        Counts violating elements into ``rows.n_beyond``.
    observers : sequence of BandObserver
        Called for every band, in order.
    block_bytes : int
        Working set, bytes. Results do not depend on it beyond summation noise of float64.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If paired rows differ in shape.

    Notes
    -----
    Everything is summed in float64. A row longer than a block is measured piece by piece. A row
    whose squares leave float64's range is measured again, scaled by a power of two. Only rows
    that may hold mismatched elements are looked at twice.
    """
    rows = RowMeasures.of_equal_rows(len(pairs))
    worst = WorstElements()
    scratch: Scratch | None = None
    largest_rel: float | None = None
    max_elements = max(1, block_bytes // (np.dtype(np.float64).itemsize * N_BUFFERS))
    # Overflow, NaN and division by zero are results here, not accidents.
    with np.errstate(all="ignore"):
        for band in iterate_bands(expected, actual, pairs, max_elements=max_elements):
            if scratch is None:
                dtype = widened_dtype(band.expected.dtype, band.actual.dtype)
                scratch = Scratch(max(1, block_bytes // (dtype.itemsize * N_BUFFERS)), dtype)
            band_rel = measure_band(band, rows, gate, scratch, worst)
            if band_rel is not None:
                largest_rel = band_rel if largest_rel is None else max(largest_rel, band_rel)
            count_elements(band, rows, elementwise, scratch)
            for observer in observers:
                observer.observe(band, rows)
    return Comparison(rows=rows, max_rel=largest_rel, worst=worst.sorted())
