"""Scenes of a detector, and what judges them after a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.result import CaseResult

SPEC = OutputSpec(
    kind="detection", labels=("face", "mask"), scores="scores", classes="labels", along=("marks",)
)
SCENES = (
    [[12, 30, 80, 120, 0.99, 0], [100, 40, 160, 130, 0.93, 1], [300, 20, 350, 90, 0.71, 0]],
    [[5, 5, 55, 65, 0.88, 1]],
    [],
)

Scenes = list[np.ndarray]


def make_scenes() -> Scenes:
    """Return boxes with score and class of three samples, axes (box, column)."""
    return [np.array(rows, np.float64).reshape(-1, 6) for rows in SCENES]


def lay_out(scenes: Scenes, *, path: str = "{}") -> dict[str, Any]:
    """Return what a detector with four outputs says of the scenes."""
    outputs = {
        "boxes": [rows[:, :4].astype(np.float32) for rows in scenes],
        "scores": [rows[:, 4].astype(np.float32) for rows in scenes],
        "labels": [rows[:, 5].astype(np.int64) for rows in scenes],
        "marks": [np.stack([rows[:, :2], rows[:, 2:4]], axis=1).astype(np.float32) for rows in scenes],
    }
    return {path.format(name): rows for name, rows in outputs.items()}


class Detector:
    """Judges a detector's scenes after a change."""

    def __init__(self, court: Any, side: Any) -> None:
        self._court = court
        self._side = side

    def judge(
        self,
        after: Scenes,
        *,
        before: Scenes | None = None,
        spec: OutputSpec = SPEC,
        outputs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> CaseResult:
        """Judge four outputs; ``outputs`` replaces some of this run's."""
        expected = lay_out(make_scenes() if before is None else before)
        actual = {**lay_out(after), **(outputs or {})}
        result: CaseResult = self._court.judge(
            self._side(outputs=expected), self._side(outputs=actual), specs={"boxes": spec}, **options
        )
        return result

    def judge_packed(
        self, after: Scenes, *, before: Scenes | None = None, spec: OutputSpec | None = None
    ) -> CaseResult:
        """Judge one output that holds boxes, scores and classes as columns."""
        sides = [
            self._side(outputs={"found": [rows.astype(np.float32) for rows in scenes]})
            for scenes in (make_scenes() if before is None else before, after)
        ]
        spec = spec or OutputSpec(kind="detection")
        result: CaseResult = self._court.judge(*sides, specs={"found": spec})
        return result


def change(edit: Callable[[Scenes], None]) -> Scenes:
    """Return the scenes with an edit made."""
    scenes = make_scenes()
    edit(scenes)
    return scenes


def list_failed(result: CaseResult) -> set[tuple[str, str]]:
    """Return output and name of every check that failed."""
    return {(check.output, check.name) for check in result.checks if not check.ok}


def read_note(result: CaseResult, sample: str) -> str:
    """Return what is noted of a sample."""
    return next(each.note for each in result.samples if each.id == sample)
