"""One side's boxes of a sample, gathered from the outputs that hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import Boxes, find_corners
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.judge.detection.group import DetectionGroup
from pytest_modelreg.judge.kinds.detection import CLASS_COLUMN, N_COORDINATES, SCORE_COLUMN
from pytest_modelreg.store import StoredOutput, open_output

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
MaskArray = npt.NDArray[np.bool_]

N_COLUMNS = 6


class DetectionReader:
    """Reads one side's boxes with their scores and classes.

    Parameters
    ----------
    folder : pathlib.Path
        Where that side's arrays are.
    records : mapping of str to OutputRecord
        Its outputs; the boxes are among them.
    group : DetectionGroup
        Scores and classes that are not among the outputs are taken for absent.
    """

    def __init__(self, folder: Path, records: Mapping[str, OutputRecord], group: DetectionGroup) -> None:
        self._folder = folder
        self._records = records
        self._group = group

    # Opened late: where the bytes of both sides are equal, no box is looked at.
    @cached_property
    def _boxes(self) -> StoredOutput:
        return open_output(self._folder, self._records[self._group.boxes])

    @cached_property
    def _beside(self) -> dict[int, tuple[str, StoredOutput]]:
        return {
            column: (path, open_output(self._folder, self._records[path]))
            for column, path in ((SCORE_COLUMN, self._group.scores), (CLASS_COLUMN, self._group.classes))
            if path is not None and path in self._records
        }

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self._boxes.n_rows

    def find_misfit(self, row: int) -> str | None:
        """Return why one sample's rows are no boxes, or not as many in all outputs; None where they are."""
        shape = self._boxes.row_shape(row)
        n_boxes = self.count(row)
        if self._boxes.dtype.startswith("complex"):
            return f"{self._group.boxes}: expected boxes of real numbers, got {self._boxes.dtype}"
        if n_boxes and (len(shape) != 2 or shape[1] < N_COORDINATES):
            return f"{self._group.boxes}: row {row}: expected boxes, axes (box, 4 or more), got shape {shape}"
        for path, stored in self._beside.values():
            if math.prod(stored.row_shape(row)) != n_boxes:
                return (
                    f"{path}: row {row}: expected a number for each of the {n_boxes} boxes of "
                    f"{self._group.boxes}, got shape {stored.row_shape(row)}"
                )
        return None

    def read(self, row: int) -> FloatArray:
        """Return one sample's boxes, axes (box, column): four coordinates, score, class.

        NaN stands for a score or a class that there is none of.

        Raises
        ------
        JudgeError
            As :meth:`find_misfit`.
        """
        misfit = self.find_misfit(row)
        if misfit is not None:
            raise JudgeError(misfit)
        table = np.full((self.count(row), N_COLUMNS), np.nan)
        if len(table):
            boxes = self._boxes.row(row)
            n_columns = min(N_COLUMNS, boxes.shape[1])
            table[:, :n_columns] = boxes[:, :n_columns]
        for column, (_, stored) in self._beside.items():
            table[:, column] = stored.row(row).reshape(-1)
        return table

    def count(self, row: int) -> int:
        """Return how many boxes one sample has, counted or not."""
        shape = self._boxes.row_shape(row)
        return shape[0] if math.prod(shape) else 0

    def read_counted(self, row: int) -> FloatArray:
        """Return one sample's boxes that count, as :meth:`read`."""
        table = self.read(row)
        return table[self.choose(table)]

    def choose(self, table: FloatArray) -> IndexArray:
        """Return which boxes count, axes (box,): all but those that score below the threshold."""
        threshold = self._group.spec.threshold
        if threshold is None:
            return np.arange(len(table))
        # A score of NaN is no low one: it has to show.
        return np.flatnonzero(~(table[:, SCORE_COLUMN] < threshold))

    def as_boxes(self, table: FloatArray) -> Boxes:
        """Return rows of a table as boxes that can be matched."""
        scores, classes = (
            None if np.isnan(table[:, column]).all() else table[:, column]
            for column in (SCORE_COLUMN, CLASS_COLUMN)
        )
        return Boxes(
            corners=find_corners(table[:, :N_COORDINATES], self._group.spec.box_format),
            scores=scores,
            classes=classes,
        )
