"""Kind ``segmentation``: a row holds a score a class and pixel, one score a pixel, or the mask itself."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.kinds.kind import Kind, Row
from pytest_modelreg.judge.kinds.numbers import describe_non_finite, render_values, summarise_values
from pytest_modelreg.judge.labelling import choose_reader, name_label

N_SHOWN = 3
"""Classes that a line names, the largest first."""

MAX_DECIMALS = 2
"""Of a share in percent: areas can be equal to the last digit although every pixel changed."""


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    shares = _measure_shares(row, spec)
    if shares is None:
        return render_values(row, digits)
    decimals = min(max(0, digits - 2), MAX_DECIMALS)
    named = [f"{name} {share:.{decimals}%}" for name, share in shares[:N_SHOWN]]
    more = f", {len(shares) - N_SHOWN} more" if len(shares) > N_SHOWN else ""
    return f"{', '.join(named)}{more}{describe_non_finite(row)}"


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    shares = _measure_shares(row, spec)
    if shares is None:
        return summarise_values(row)
    first, second = [*shares, ("", 0.0)][:2]
    texts = [f"{name} {share:.3%}" if name else "" for name, share in (first, second)]
    return texts[0], texts[1]


def _measure_shares(row: Row, spec: OutputSpec) -> list[tuple[str, float]] | None:
    """Return every class with its share of the pixels, the largest first; None for rows that are no image."""
    if row.ndim not in (2, 3) or not row.size or row.dtype.kind not in "fiub":
        return None
    dtype = "float64" if row.dtype.kind == "f" else "int64"
    labels = choose_reader(spec, dtype, row.shape, epsilon=0.0).read(row)
    values, counts = np.unique(labels, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [(name_label(int(values[at]), spec), float(counts[at] / len(labels))) for at in order.tolist()]


def _find_fault(path: str, row_shape: tuple[int, ...], spec: OutputSpec) -> str | None:
    """Return that rows are no images, or that the names are not one a class."""
    if len(row_shape) not in (2, 3):
        return (
            f"{path}: expected rows of shape (classes, height, width) or (height, width), got "
            f"{str(row_shape).replace('-1', '*')}; declare another kind"
        )
    n_classes = row_shape[0] if len(row_shape) == 3 else 1
    if spec.labels is None or n_classes in (-1, 1, len(spec.labels)):
        return None
    return (
        f"labels of {path}: expected {n_classes} names for {n_classes} classes, got {len(spec.labels)}; "
        "write one name a class, in the order of the scores, or leave `labels` out"
    )


SEGMENTATION = Kind(
    name="segmentation",
    render=_render,
    digits=3,
    columns=("most", "second"),
    summarise=_summarise,
    find_fault=_find_fault,
)
