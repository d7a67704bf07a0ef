"""The classes that either side ranks highest, with their shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.exhibit import Bar, ClassBars
from pytest_modelreg.engine.exhibits.both_sides import BothSides, Row
from pytest_modelreg.judge.kinds.classification import as_probabilities
from pytest_modelreg.judge.labelling import name_label

_TOP = {"classification": 3, "multilabel": 4}
"""Kinds with a score a class, and how many classes of each side are shown."""


def draw_class_bars(sides: BothSides, path: str, sample: str) -> ClassBars | None:
    """Return the bars of one sample's output; None where it holds no scores by class."""
    spec = sides.spec_of(path)
    if spec.kind not in _TOP:
        return None
    rows = sides.read(path, sample)
    if rows is None or rows[0].shape != rows[1].shape or not all(_holds_scores(row) for row in rows):
        return None
    expected, actual = (_measure_shares(row, spec) for row in rows)
    top = _TOP[spec.kind]
    shown = dict.fromkeys([*_rank(expected)[:top], *_rank(actual)[:top]])
    bars = [
        Bar(label=name_label(at, spec), expected=float(expected[at]), actual=float(actual[at]))
        for at in shown
    ]
    return ClassBars(output=path, bars=tuple(bars))


def _holds_scores(row: Row) -> bool:
    return row.ndim == 1 and row.size >= 2 and row.dtype.kind == "f" and bool(np.isfinite(row).all())


def _rank(shares: NDArray[np.float64]) -> list[int]:
    order: list[int] = np.argsort(-shares, kind="stable").tolist()
    return order


def _measure_shares(row: Row, spec: OutputSpec) -> NDArray[np.float64]:
    """Return shares from 0 to 1, axes (class,): of several labels each is one by itself."""
    if spec.kind == "classification":
        return as_probabilities(row)
    scores = row.astype(np.float64)
    if scores.min() >= 0.0 and scores.max() <= 1.0:
        return scores
    with np.errstate(over="ignore"):
        shares: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-scores))
    return shares
