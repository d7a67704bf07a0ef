"""The profile of an output: its typical row norm and what is not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.compare import profile_rows

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_rms_row_norm_is_the_root_mean_square_of_norms(memory_rows: Any, scale: float) -> None:
    """Rows of norm 3 and 4 have the typical norm sqrt(12.5), at any scale."""
    values = np.array([[3.0, 0.0], [0.0, 4.0]]) * scale
    assert profile_rows(memory_rows(values)).rms_row_norm == pytest.approx(np.sqrt(12.5) * scale)


def test_non_finite_elements_are_counted_apart(memory_rows: Any) -> None:
    """NaN and infinity are counted and leave the norm to the finite elements."""
    profile = profile_rows(memory_rows(np.array([[np.nan, 3.0, np.inf, 4.0, -np.inf]])))
    assert (profile.n_nan, profile.n_inf) == (1, 2)
    assert profile.rms_row_norm == 5.0


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
def test_an_output_without_elements_has_norm_zero(memory_rows: Any, shape: tuple[int, ...]) -> None:
    """No rows, or empty rows, have nothing to be typical of."""
    assert profile_rows(memory_rows(np.zeros(shape, np.float32))).rms_row_norm == 0.0


def test_ragged_rows_have_a_profile(memory_rows: Any) -> None:
    """Rows of different shapes enter one by one."""
    profile = profile_rows(memory_rows([np.array([3.0]), np.array([[0.0, 4.0]])]))
    assert profile.rms_row_norm == pytest.approx(np.sqrt(12.5))
