"""Rows of an output as they are compared, where that is not as they were recorded: read one by one.

What belongs here: what every such view has in common. What it makes of a row is its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy.typing as npt

from pytest_modelreg.compare import Rows

Array = npt.NDArray[Any]


class RaggedRows(ABC):
    """A view of one side of an output: :class:`compare.Rows`.

    Parameters
    ----------
    recorded : Rows
        As they were recorded.
    """

    def __init__(self, recorded: Rows) -> None:
        self._recorded = recorded

    @property
    def dtype(self) -> str:
        """True dtype by its common name."""
        return self._recorded.dtype

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._recorded.n_rows

    @property
    def is_ragged(self) -> bool:
        """True: rows are as long as they come out."""
        return True

    @abstractmethod
    def row_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of one row."""

    @abstractmethod
    def row(self, index: int) -> Array:
        """Return one row."""

    def rows(self, start: int, stop: int) -> Array:
        """Return nothing: rows differ in shape.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(f"rows {start} to {stop} differ in shape; read them one by one")
