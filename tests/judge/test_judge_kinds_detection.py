"""How boxes read."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.kinds import KINDS

NAN = np.nan
NAMED = OutputSpec(kind="detection", labels=("face", "mask"))
ONE_NAME = OutputSpec(kind="detection", labels=("face",))
PLAIN = OutputSpec(kind="detection")


@pytest.mark.parametrize(
    ("row", "spec", "text"),
    [
        ([], NAMED, "no boxes"),
        ([[12, 30, 80, 120, 0.987, 0]], NAMED, "1 box: face 0.99 [12 30 80 120]"),
        (
            [[12, 30, 80, 120, 0.987, 1], [0, 0, 1, 1, 0.5, 0]],
            NAMED,
            "2 boxes: mask 0.99 [12 30 80 120], ...",
        ),
        ([[12, 30, 80, 120, 0.987, 7]], NAMED, "1 box: class 7 0.99 [12 30 80 120]"),
        ([[12, 30, 80, 120, 0.987, -1]], NAMED, "1 box: class -1 0.99 [12 30 80 120]"),
        ([[12, 30, 80, 120, 0.987, NAN]], ONE_NAME, "1 box: face 0.99 [12 30 80 120]"),
        ([[12, 30, 80, 120, 0.987, NAN]], PLAIN, "1 box: 0.99 [12 30 80 120]"),
        ([[12, 30, 80, 120, NAN, 3]], PLAIN, "1 box: class 3 [12 30 80 120]"),
        ([[12, 30, 80, 120]], PLAIN, "1 box: [12 30 80 120]"),
        ([[0.1, 0.25, 0.5, 0.75]], PLAIN, "1 box: [0.100 0.250 0.500 0.750]"),
        ([[1, 2, 3000, 4000]], PLAIN, "1 box: [1 2 3000 4000]"),
        ([[NAN, 2, np.inf, 4]], PLAIN, "1 box: [nan 2.000 inf 4.000]"),
    ],
)
def test_boxes_read_as_name_score_and_place(row: list[list[float]], spec: OutputSpec, text: str) -> None:
    """As many decimals as the largest coordinate leaves room for; odd numbers still read as something."""
    boxes = np.array(row, np.float64)
    assert KINDS["detection"].render(boxes, spec, 2) == text


def test_more_digits_show_smaller_shifts() -> None:
    """What two boxes differ by shows once there are enough digits."""
    boxes = [np.array([[12.0, 30.0, 80.0, 120.0 + shift]]) for shift in (0.0, 0.02)]
    assert len({KINDS["detection"].render(row, PLAIN, 2) for row in boxes}) == 1
    assert len({KINDS["detection"].render(row, PLAIN, 4) for row in boxes}) == 2


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ([], ("0", "", "")),
        ([[1, 2, 3, 4, 0.5, 0], [5, 6, 7, 8, 0.75, 1]], ("2", "0.75", "mask [5.0 6.0 7.0 8.0]")),
        ([[1, 2, 3, 4, NAN, 1]], ("1", "", "mask [1.0 2.0 3.0 4.0]")),
        ([[1, 2, 3, 4]], ("1", "", "[1.0 2.0 3.0 4.0]")),
    ],
)
def test_cells_are_count_best_score_and_best_box(row: list[list[float]], cells: tuple[str, ...]) -> None:
    """For ``summary.csv``; without scores the first box stands there."""
    assert KINDS["detection"].summarise(np.array(row, np.float64), NAMED) == cells
