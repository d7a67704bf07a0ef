"""Numbers of a row as text, short enough for a table cell."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.compare import compute_norm
from pytest_modelreg.judge.kinds.kind import Row

SUMMARY_DIGITS = 6
N_SHORT = 8
N_FIRST = 3


def format_number(value: object, digits: int) -> str:
    """Return a scalar to ``digits`` significant digits; integers and bool whole."""
    if isinstance(value, float):
        text = f"{value:.{digits}g}"
        return f"{text}.0" if text.lstrip("-").isdigit() else text
    if isinstance(value, complex):
        return f"{value:.{digits}g}"
    return str(value)


def render_values(row: Row, digits: int) -> str:
    """Return a short row whole, a longer one by its norm and its first values."""
    values = row.reshape(-1)
    if row.ndim == 0:
        return format_number(row.item(), digits)
    if len(values) <= N_SHORT:
        return f"[{', '.join(format_number(value, digits) for value in values.tolist())}]"
    first = ", ".join(format_number(value, digits) for value in values[:N_FIRST].tolist())
    return f"norm {format_number(compute_norm(row), digits)}, first {first}{describe_non_finite(row)}"


def describe_non_finite(row: Row) -> str:
    """Return how many elements are not finite, as a clause; empty when all are."""
    if row.dtype.kind not in "fc":
        return ""
    n_nan = int(np.count_nonzero(np.isnan(row)))
    n_inf = int(np.count_nonzero(~np.isfinite(row))) - n_nan
    return "".join(f", {count} {word}" for count, word in ((n_nan, "NaN"), (n_inf, "infinite")) if count)


def summarise_values(row: Row) -> tuple[str, str]:
    """Return the norm and the first values, for ``summary.csv``."""
    return (
        format_number(compute_norm(row), SUMMARY_DIGITS) + describe_non_finite(row),
        list_first(row, N_FIRST),
    )


def list_first(row: Row, count: int) -> str:
    """Return the first values for a cell: ``[-0.5 2.0 1.0]``.

    In brackets, because a bare ``-0.5 2.0`` is a formula to a spreadsheet.
    """
    values = [format_number(value, SUMMARY_DIGITS) for value in row.reshape(-1)[:count].tolist()]
    return f"[{' '.join(values)}]"
