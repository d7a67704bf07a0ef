"""Kind ``multilabel``: a row holds one score a label, each decided by itself against a threshold."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.judge.kinds.kind import Kind, Row
from pytest_modelreg.judge.kinds.numbers import (
    SUMMARY_DIGITS,
    describe_non_finite,
    format_number,
    render_values,
    summarise_values,
)
from pytest_modelreg.judge.labelling import name_label, threshold_of

N_SHOWN = 3
"""Labels that a line names; the others are counted."""


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    if not _holds_scores(row):
        return render_values(row, digits)
    on = _list_on(row, spec)
    named = ", ".join(f"{name_label(at, spec)} {float(row[at]):.{digits}f}" for at in on[:N_SHOWN])
    more = ", ..." if len(on) > N_SHOWN else ""
    return f"{len(on)} of {len(row)}{f': {named}{more}' if on else ''}{describe_non_finite(row)}"


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    if not _holds_scores(row):
        return ("", *summarise_values(row))
    _require_threshold(row, spec)
    on = _list_on(row, spec)
    names = " ".join(name_label(at, spec).replace(" ", "_") for at in on)
    highest = int(np.nanargmax(row)) if not np.isnan(row).all() else 0
    return (str(len(on)), names, format_number(float(row[highest]), SUMMARY_DIGITS))


def _require_threshold(row: Row, spec: OutputSpec) -> None:
    """Refuse scores that 0.5 means nothing to: labels that are off by mistake would be believed."""
    finite = row[np.isfinite(row)].astype(np.float64)
    if spec.threshold is not None or not len(finite) or (finite.min() >= 0.0 and finite.max() <= 1.0):
        return
    raise JudgeError(
        "multilabel: expected `threshold`, in the scores' own unit, for scores that are no probabilities, "
        f"got none and scores from {finite.min():.3g} to {finite.max():.3g}; write `threshold: 0` for logits"
    )


def _holds_scores(row: Row) -> bool:
    return row.ndim == 1 and row.size >= 1 and row.dtype.kind == "f"


def _list_on(row: Row, spec: OutputSpec) -> list[int]:
    """Return the labels that are on, the highest score first."""
    on = np.flatnonzero(row >= threshold_of(spec))
    order = np.argsort(-row[on].astype(np.float64), kind="stable")
    found: list[int] = on[order].tolist()
    return found


def _find_fault(path: str, row_shape: tuple[int, ...], spec: OutputSpec) -> str | None:
    """Return that the names are not one a label: every name behind the gap would be a wrong one."""
    if spec.labels is None or len(row_shape) != 1 or row_shape[0] in (-1, len(spec.labels)):
        return None
    return (
        f"labels of {path}: expected one name a score, {row_shape[0]} in all, got {len(spec.labels)}; "
        "write them in the order of the scores, or leave `labels` out"
    )


MULTILABEL = Kind(
    name="multilabel",
    render=_render,
    digits=2,
    columns=("on", "labels", "highest"),
    summarise=_summarise,
    find_fault=_find_fault,
)
