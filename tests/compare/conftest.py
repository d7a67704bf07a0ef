"""Outputs held in memory, and one call that compares two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.compare import Comparison, Gate, RowPairs, compare_rows, profile_rows


class MemoryRows:
    """Rows over an array, or over a list of arrays whose shapes differ."""

    def __init__(self, values: np.ndarray | Sequence[np.ndarray]) -> None:
        self.is_ragged = not isinstance(values, np.ndarray)
        self._values = values
        self.n_rows = len(values)
        self.dtype = str(values[0].dtype) if self.n_rows else "float32"

    def row_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of one row."""
        return self._values.shape[1:] if isinstance(self._values, np.ndarray) else self._values[index].shape

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return consecutive rows."""
        assert isinstance(self._values, np.ndarray)
        return self._values[start:stop]

    def row(self, index: int) -> np.ndarray:
        """Return one row."""
        return np.asarray(self._values[index])


@pytest.fixture(scope="session")
def memory_rows() -> type[MemoryRows]:
    """Return the class that holds rows in memory."""
    return MemoryRows


@pytest.fixture(scope="session")
def compare() -> Callable[..., Comparison]:
    """Return a function that compares two arrays, or two lists of arrays, row by row."""

    def compare_arrays(expected: Any, actual: Any, *, limit: float = 1e-5, **options: Any) -> Comparison:
        before, after = MemoryRows(expected), MemoryRows(actual)
        return compare_rows(
            before,
            after,
            pairs=options.pop("pairs", None) or RowPairs.same_order(before.n_rows),
            gate=Gate(rms_row_norm=profile_rows(before).rms_row_norm, limit=limit),
            **options,
        )

    return compare_arrays
