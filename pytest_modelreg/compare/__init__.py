"""Numpy kernels that compare two outputs, row by row, in one pass and bounded memory.

Knows arrays (:class:`Rows`) and neither files nor verdicts. Modules: ``rows`` (pairing and
bands), ``kernel`` (arithmetic on a tile), ``gate`` (the relative error), ``measurement``
(a band's rows), ``worst`` (places that differ most), ``decisions`` (top-1, top-k),
``labelling`` (of many places), ``divergence`` (of distributions), ``comparison`` (the
pass), ``neighbours`` (of embeddings), ``boxes`` and ``matching`` (which box of a sample is
which), ``profile`` (facts of one output).
"""

from __future__ import annotations

from pytest_modelreg.compare.boxes import SAME_BOX, Boxes, compute_iou, find_corners
from pytest_modelreg.compare.comparison import BLOCK_BYTES, BandObserver, compare_rows
from pytest_modelreg.compare.decisions import Decisions, ScoreObserver
from pytest_modelreg.compare.divergence import DISTRIBUTION_TOLERANCE, DivergenceObserver
from pytest_modelreg.compare.gate import ElementwiseLimit, Gate
from pytest_modelreg.compare.labelling import (
    ArgmaxReader,
    Labelling,
    LabelObserver,
    MaskReader,
    Reader,
    ThresholdReader,
)
from pytest_modelreg.compare.matching import BoxAgreement, BoxMatch, match_boxes
from pytest_modelreg.compare.measures import Comparison, RowMeasures, WorstElement, compute_norm
from pytest_modelreg.compare.neighbours import Neighbours, compare_neighbours
from pytest_modelreg.compare.profile import profile_rows
from pytest_modelreg.compare.rows import RowPairs, Rows

__all__ = [
    "ArgmaxReader",
    "BLOCK_BYTES",
    "BandObserver",
    "BoxAgreement",
    "BoxMatch",
    "Boxes",
    "Comparison",
    "DISTRIBUTION_TOLERANCE",
    "Decisions",
    "DivergenceObserver",
    "ElementwiseLimit",
    "Gate",
    "LabelObserver",
    "Labelling",
    "MaskReader",
    "Neighbours",
    "Reader",
    "RowMeasures",
    "RowPairs",
    "Rows",
    "SAME_BOX",
    "ScoreObserver",
    "ThresholdReader",
    "WorstElement",
    "compare_neighbours",
    "compare_rows",
    "compute_iou",
    "compute_norm",
    "find_corners",
    "match_boxes",
    "profile_rows",
]
