"""Numpy kernels that compare two outputs, row by row, in one pass and bounded memory.

Knows arrays (:class:`Rows`) and neither files nor verdicts. Modules: ``rows`` (pairing and
bands), ``kernel`` (arithmetic on a tile), ``gate`` (the relative error), ``measurement``
(a band's rows), ``worst`` (places that differ most), ``decisions`` (top-1, top-k),
``divergence`` (of distributions), ``comparison`` (the pass), ``neighbours`` (of embeddings),
``profile`` (facts of one output).
"""

from __future__ import annotations

from pytest_modelreg.compare.comparison import BLOCK_BYTES, BandObserver, compare_rows
from pytest_modelreg.compare.decisions import Decisions, ScoreObserver
from pytest_modelreg.compare.divergence import DISTRIBUTION_TOLERANCE, DivergenceObserver
from pytest_modelreg.compare.gate import ElementwiseLimit, Gate
from pytest_modelreg.compare.measures import Comparison, RowMeasures, WorstElement, compute_norm
from pytest_modelreg.compare.neighbours import Neighbours, compare_neighbours
from pytest_modelreg.compare.profile import profile_rows
from pytest_modelreg.compare.rows import RowPairs, Rows

__all__ = [
    "BLOCK_BYTES",
    "BandObserver",
    "Comparison",
    "DISTRIBUTION_TOLERANCE",
    "Decisions",
    "DivergenceObserver",
    "ElementwiseLimit",
    "Gate",
    "Neighbours",
    "RowMeasures",
    "RowPairs",
    "Rows",
    "ScoreObserver",
    "WorstElement",
    "compare_neighbours",
    "compare_rows",
    "compute_norm",
    "profile_rows",
]
