"""Kind ``classification``: a row holds one score a class, the highest decides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import DISTRIBUTION_TOLERANCE
from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.kinds.kind import Kind, Row
from pytest_modelreg.judge.kinds.numbers import (
    SUMMARY_DIGITS,
    describe_non_finite,
    format_number,
    render_values,
    summarise_values,
)


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    if not _holds_scores(row) or np.isnan(row).any():
        return render_values(row, digits)
    top = int(row.argmax())
    return f"{_name(top, spec)} {as_probabilities(row)[top]:.{digits}f}{describe_non_finite(row)}"


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    if not _holds_scores(row) or np.isnan(row).any():
        return (*summarise_values(row), "", "")
    first, second = np.argsort(-row.astype(np.float64), kind="stable")[:2].tolist()
    probabilities = as_probabilities(row)
    return (
        _name(first, spec),
        format_number(float(probabilities[first]), SUMMARY_DIGITS),
        _name(second, spec),
        format_number(float(probabilities[second]), SUMMARY_DIGITS),
    )


def _find_label_fault(path: str, row_shape: tuple[int, ...], spec: OutputSpec) -> str | None:
    """Return that the names are not one a class: every name behind the gap would be a wrong one."""
    if spec.labels is None or len(row_shape) != 1 or row_shape[0] in (-1, len(spec.labels)):
        return None
    n_classes = row_shape[0]
    names, classes = ("name", "class") if n_classes == 1 else ("names", "classes")
    return (
        f"labels of {path}: expected {n_classes} {names} for {n_classes} {classes}, got {len(spec.labels)}; "
        "write one name a class, in the order of the scores, or leave `labels` out"
    )


def _holds_scores(row: Row) -> bool:
    return row.ndim == 1 and row.size >= 2 and row.dtype.kind == "f"


def _name(index: int, spec: OutputSpec) -> str:
    if spec.labels is not None and index < len(spec.labels):
        return spec.labels[index]
    return f"class {index}"


def as_probabilities(row: Row) -> npt.NDArray[np.float64]:
    """Return a row of scores itself where it is a distribution, else its softmax, axes (class,).

    Parameters
    ----------
    row : ndarray of a floating dtype, axes (class,)
        Without NaN.
    """
    scores = row.astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        if scores.min() >= 0.0 and abs(scores.sum() - 1.0) <= DISTRIBUTION_TOLERANCE:
            return scores
        highest = scores.max()
        # An infinite score takes everything; subtracting it would only make NaN.
        weights = (scores == highest).astype(np.float64) if np.isinf(highest) else np.exp(scores - highest)
        probabilities: npt.NDArray[np.float64] = weights / weights.sum()
    return probabilities


CLASSIFICATION = Kind(
    name="classification",
    render=_render,
    digits=2,
    columns=("top", "score", "second", "second_score"),
    summarise=_summarise,
    find_fault=_find_label_fault,
)
