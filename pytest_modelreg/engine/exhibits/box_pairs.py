"""Boxes of both sides, in shares of the picture that they are drawn on.

What belongs here: what the coordinates of a detector are relative to. A model knows its input, not the
file behind it; a pipeline may know both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.compare import find_corners
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.exhibit import Box, BoxPair, SampleFace
from pytest_modelreg.engine.exhibits.both_sides import BothSides
from pytest_modelreg.engine.exhibits.fed_inputs import Arrays, as_picture
from pytest_modelreg.judge.detection import DetectionGroup, DetectionReader, find_groups
from pytest_modelreg.judge.kinds.detection import CLASS_COLUMN, N_COORDINATES, SCORE_COLUMN
from pytest_modelreg.judge.labelling import name_label

Size = tuple[float, float]
Tables = tuple[NDArray[np.float64], NDArray[np.float64]]

_MOST_BOXES = 12
_SLACK = 1.05
"""How far beyond the picture a box may reach: detectors predict corners outside of it."""


def draw_boxes(
    sides: BothSides, samples: Sequence[str], faces: Mapping[str, SampleFace], inputs: tuple[Arrays, Arrays]
) -> dict[str, list[BoxPair]]:
    """Return the boxes of samples, by sample; nothing of what cannot be read as boxes.

    Parameters
    ----------
    inputs : pair of mappings
        Exact inputs of both sides, as far as they were kept.
    """
    found: dict[str, list[BoxPair]] = {}
    for group in find_groups(list(sides.golden.observation.outputs), sides.outputs):
        if group.boxes not in sides.paths:
            continue
        then = DetectionReader(sides.golden_folder, sides.golden.observation.outputs, group)
        now = DetectionReader(sides.folder, sides.observation.outputs, group)
        rows = {name: sides.rows[name] for name in samples if name in sides.rows}
        tables = {name: table for name, at in rows.items() if (table := _read(then, now, at)) is not None}
        scale = _Scale(tables, group, faces, inputs)
        for name, pair in tables.items():
            size = scale.size_of(name)
            if size is not None:
                expected, actual = (_as_boxes(table, group, size) for table in pair)
                found.setdefault(name, []).append(
                    BoxPair(output=group.boxes, expected=expected, actual=actual, scale=scale.name)
                )
    return found


def _read(then: DetectionReader, now: DetectionReader, rows: tuple[int, int]) -> Tables | None:
    try:
        return then.read_counted(rows[0]), now.read_counted(rows[1])
    except JudgeError:
        return None


class _Scale:
    """What the coordinates of a case are relative to: one answer for all samples."""

    def __init__(
        self,
        tables: Mapping[str, Tables],
        group: DetectionGroup,
        faces: Mapping[str, SampleFace],
        inputs: tuple[Arrays, Arrays],
    ) -> None:
        reach = {name: _find_reach(pair, group) for name, pair in tables.items()}
        fed = _find_fed_sizes(inputs)
        usual = next(iter(fed.values())) if len(set(fed.values())) == 1 else None
        stored = {
            name: (float(face.stored_size[0]), float(face.stored_size[1]))
            for name, face in faces.items()
            if face.stored_size is not None
        }
        ones = dict.fromkeys(reach, (1.0, 1.0))
        entered = {name: size for name in reach if (size := fed.get(name, usual)) is not None}
        most = tuple(max((each[axis] for each in reach.values()), default=0.0) for axis in (0, 1))
        fitted = dict.fromkeys(reach, (most[0] or 1.0, most[1] or 1.0))
        self.name, self._sizes = next(
            (name, sizes)
            for name, sizes in (
                ("coordinates are shares of the picture", ones),
                ("coordinates are pixels of the model's input", entered),
                ("coordinates are pixels of the file", stored),
                ("drawn to fit: what the coordinates are relative to is not known", fitted),
            )
            if sizes is fitted or _fits(reach, sizes)
        )

    def size_of(self, sample: str) -> Size | None:
        """Return the width and height that a sample's boxes are relative to."""
        return self._sizes.get(sample)


def _fits(reach: Mapping[str, Size], sizes: Mapping[str, Size]) -> bool:
    return all(
        name in sizes and across <= _SLACK * sizes[name][0] and down <= _SLACK * sizes[name][1]
        for name, (across, down) in reach.items()
    )


def _find_reach(pair: Tables, group: DetectionGroup) -> Size:
    corners = np.concatenate([_find_corners(table, group) for table in pair])
    finite = np.where(np.isfinite(corners), corners, 0.0)
    return float(finite[:, 2].max(initial=0.0)), float(finite[:, 3].max(initial=0.0))


def _find_fed_sizes(inputs: tuple[Arrays, Arrays]) -> dict[str, Size]:
    """Return width and height of the pictures that the model was fed, by sample."""
    sizes: dict[str, Size] = {}
    for side in inputs:
        for name, leaves in side.items():
            pictures = (as_picture(array) for array in leaves.values())
            picture = next((each for each in pictures if each is not None), None)
            if picture is not None:
                sizes[name] = (float(picture.shape[1]), float(picture.shape[0]))
    return sizes


def _find_corners(table: NDArray[np.float64], group: DetectionGroup) -> NDArray[np.float64]:
    return np.asarray(find_corners(table[:, :N_COORDINATES], group.spec.box_format), np.float64).reshape(
        -1, 4
    )


def _as_boxes(table: NDArray[np.float64], group: DetectionGroup, size: Size) -> tuple[Box, ...]:
    scores = np.nan_to_num(table[:, SCORE_COLUMN], nan=0.0)
    chosen = np.argsort(-scores, kind="stable")[:_MOST_BOXES]
    corners = _find_corners(table, group)
    boxes = []
    for at in chosen.tolist():
        if not np.isfinite(corners[at]).all():
            continue
        left, top, right, bottom = (
            float(np.clip(value, -0.05, 1.05)) for value in corners[at] / np.array([*size, *size])
        )
        boxes.append(Box(left=left, top=top, right=right, bottom=bottom, label=_describe(table[at], group)))
    return tuple(boxes)


def _describe(row: NDArray[np.float64], group: DetectionGroup) -> str:
    score, number = float(row[SCORE_COLUMN]), float(row[CLASS_COLUMN])
    name = name_label(int(number), group.spec) if np.isfinite(number) else ""
    return " ".join(part for part in (name, f"{score:.2f}" if np.isfinite(score) else "") if part)
