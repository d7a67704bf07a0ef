"""Facts of one output that every later comparison needs, computed once at recording."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.compare.comparison import BLOCK_BYTES, compare_rows
from pytest_modelreg.compare.gate import Gate
from pytest_modelreg.compare.measures import root_sum_square
from pytest_modelreg.compare.rows import RowPairs, Rows
from pytest_modelreg.domain.golden import OutputProfile


def profile_rows(rows: Rows, *, block_bytes: int = BLOCK_BYTES) -> OutputProfile:
    """Return the typical row norm and the non-finite counts of an output.

    Parameters
    ----------
    rows : Rows
        The output.
    block_bytes : int
        Working set, bytes.

    Notes
    -----
    Measured by comparing the output with itself, so that R and the norms it is held
    against later come from the same arithmetic.
    """
    itself = compare_rows(
        rows,
        rows,
        pairs=RowPairs.same_order(rows.n_rows),
        gate=Gate(rms_row_norm=0.0, limit=0.0),
        block_bytes=block_bytes,
    ).rows
    # Divided first: the mean of norms that fit float64 fits it, their sum may not.
    return OutputProfile(
        rms_row_norm=root_sum_square(itself.expected_norm / np.sqrt(max(1, rows.n_rows))),
        n_nan=int(itself.nan_expected.sum()),
        n_inf=int(itself.inf_expected.sum()),
    )
