"""Kind ``detection``: a row holds the boxes of a sample, as many as there are.

Whoever renders boxes hands over their scores and classes too, as columns behind the four
coordinates, NaN where the output has none: see ``judge.detection.reader``.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.kinds.kind import Kind, Row
from pytest_modelreg.judge.kinds.numbers import SUMMARY_DIGITS, format_number

N_COORDINATES = 4
SCORE_COLUMN = 4
CLASS_COLUMN = 5

N_SHOWN = 1
"""Boxes that a line shows, so that it is short enough for a table: the others are counted."""


def count_boxes(number: int) -> str:
    """Return ``1 box``, ``2 boxes`` or ``no boxes``."""
    return f"{number or 'no'} {'box' if number == 1 else 'boxes'}"


def describe_box(box: Row, spec: OutputSpec, digits: int, scale: float) -> str:
    """Return one box as a clause: ``face 0.99 [12 30 80 120]``.

    Parameters
    ----------
    box : ndarray, axes (column,)
        Four coordinates; score and class number where there are such columns, NaN for none.
    digits : int
        Decimals of the score; coordinates get one digit more, counted from the largest one's first.
    scale : float
        Largest absolute coordinate of all boxes beside it, their unit.
    """
    decimals = max(0, digits + 1 - (math.floor(math.log10(scale)) + 1 if 0 < scale < math.inf else 0))
    coordinates = " ".join(f"{value:.{decimals}f}" for value in box[:N_COORDINATES].tolist())
    parts = [name_class(box, spec)]
    if len(box) > SCORE_COLUMN and not np.isnan(box[SCORE_COLUMN]):
        parts.append(f"{box[SCORE_COLUMN]:.{digits}f}")
    return " ".join([part for part in parts if part] + [f"[{coordinates}]"])


def name_class(box: Row, spec: OutputSpec) -> str:
    """Return the name of a box's class; empty where it has none."""
    labels = spec.labels or ()
    if len(box) <= CLASS_COLUMN or np.isnan(box[CLASS_COLUMN]):
        return labels[0] if len(labels) == 1 else ""
    number = float(box[CLASS_COLUMN])
    if number.is_integer() and 0 <= number < len(labels):
        return labels[int(number)]
    return f"class {number:g}"


def find_scale(boxes: Row) -> float:
    """Return the largest absolute coordinate, which says how many decimals mean something."""
    return float(np.abs(boxes[:, :N_COORDINATES]).max(initial=0.0)) if len(boxes) else 0.0


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    boxes = _as_boxes(row)
    if boxes is None or not len(boxes):
        return count_boxes(0 if boxes is None else len(boxes))
    scale = find_scale(boxes)
    shown = ", ".join(describe_box(box, spec, digits, scale) for box in boxes[:N_SHOWN])
    more = ", ..." if len(boxes) > N_SHOWN else ""
    return f"{count_boxes(len(boxes))}: {shown}{more}"


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    boxes = _as_boxes(row)
    if boxes is None or not len(boxes):
        return ("0", "", "")
    scores = boxes[:, SCORE_COLUMN] if boxes.shape[1] > SCORE_COLUMN else np.full(len(boxes), np.nan)
    has_scores = not np.isnan(scores).all()
    best = int(np.nanargmax(scores)) if has_scores else 0
    coordinates = " ".join(
        format_number(value, SUMMARY_DIGITS) for value in boxes[best, :N_COORDINATES].tolist()
    )
    name = name_class(boxes[best], spec)
    return (
        str(len(boxes)),
        format_number(float(scores[best]), SUMMARY_DIGITS) if has_scores else "",
        f"{name} [{coordinates}]" if name else f"[{coordinates}]",
    )


def _as_boxes(row: Row) -> Row | None:
    """Return the rows as float64, axes (box, column); None where it holds no boxes."""
    if not row.size:
        return None
    boxes: Row = row.astype(np.float64)
    return boxes if boxes.ndim == 2 and boxes.shape[1] >= N_COORDINATES else None


def _find_shape_fault(path: str, row_shape: tuple[int, ...], spec: OutputSpec) -> str | None:
    """Return that rows are no boxes, or that scores are asked for and are not there."""
    n_columns = row_shape[1] if len(row_shape) == 2 else 0
    if 0 in row_shape and len(row_shape) <= 2:
        return None  # no sample has a box, and an empty array says nothing of its columns
    if n_columns < N_COORDINATES:
        return (
            f"{path}: expected boxes, axes (box, 4) or (box, 5 or more) with score and class as columns, got "
            f"rows of shape {str(row_shape).replace('-1', '*')}; return a list with one array a sample, "
            "or declare another kind"
        )
    named = [key for key in ("scores", "classes") if getattr(spec, key) is not None]
    if named and n_columns > N_COORDINATES:
        return (
            f"{path}: {' and '.join(named)}: expected boxes of 4 columns beside it, got {n_columns}, of "
            "which the fifth is the score and the sixth the class; leave it out, or return them apart"
        )
    if spec.threshold is not None and spec.scores is None and n_columns == N_COORDINATES:
        return f"{path}: threshold: expected scores that it applies to, got none; name them with `scores`"
    return None


DETECTION = Kind(
    name="detection",
    render=_render,
    digits=2,
    columns=("boxes", "best_score", "best_box"),
    summarise=_summarise,
    find_fault=_find_shape_fault,
)
