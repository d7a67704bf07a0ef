"""All samples of one detection matched, one after the other.

What belongs here: which rows of every output of the detection are compared, in which order. Rows
whose boxes all have their partner at their own place are compared as they are, and cost no memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pytest_modelreg.compare import BoxAgreement, RowPairs, Rows, profile_rows
from pytest_modelreg.judge.alignment import Alignment
from pytest_modelreg.judge.detection.group import DetectionGroup, find_groups
from pytest_modelreg.judge.detection.matched_rows import MatchedRows
from pytest_modelreg.judge.detection.matched_sample import MatchedSample, match_sample
from pytest_modelreg.judge.detection.reader import DetectionReader, FloatArray, IndexArray, MaskArray
from pytest_modelreg.judge.detection.remarks import Remarks
from pytest_modelreg.judge.kinds.detection import CLASS_COLUMN, N_COORDINATES, SCORE_COLUMN
from pytest_modelreg.judge.limits import choose_epsilon, find_default
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.sides import OutputSides, is_bit_identical
from pytest_modelreg.store import StoredOutput

PARTS = (slice(0, N_COORDINATES), slice(SCORE_COLUMN, CLASS_COLUMN), slice(CLASS_COLUMN, CLASS_COLUMN + 1))
"""Columns of boxes that hold their scores and classes too: unlike numbers, each held against its own."""


class MatchedDetection:
    """A detection whose boxes have found their partners.

    Made by :func:`match_detections`; pairs are those of the alignment.
    """

    def __init__(self, group: DetectionGroup, matcher: _Matcher, pairs: RowPairs) -> None:
        self.group = group
        self.agreement = BoxAgreement.of_equal_rows(len(pairs))
        self.remarks: tuple[str, ...] = ()
        self.is_whole = True
        self._matcher = matcher
        self._pairs = pairs
        self._fits: MaskArray = np.ones(len(pairs), dtype=np.bool_)
        self._chosen: tuple[dict[int, IndexArray], dict[int, IndexArray]] = ({}, {})

    def match(self) -> None:
        """Match every sample; only those whose boxes are not simply as they were leave something behind."""
        remarks = Remarks(self.group)
        for at, rows in enumerate(self._list_rows()):
            if not self._matcher.fits(rows):
                self._fits[at] = False
                continue
            sample = self._matcher.match(rows)
            remarks.observe(sample)
            self.agreement.overlap[at] = sample.overlap
            self.agreement.near_tie[at] = sample.has_near_tie
            self.agreement.n_lost[at] = len(sample.lost)
            self.agreement.n_new[at] = len(sample.new)
            self.agreement.n_relabelled[at] = len(sample.match.relabelled)
            if not sample.is_identity(*self._matcher.count(rows)):
                for chosen, row, boxes in zip(self._chosen, rows, sample.partners, strict=True):
                    chosen[row] = boxes
        self.remarks = remarks.list()
        self.is_whole = bool(self._fits.all()) and not self._chosen[0]

    def find_fitting(self, stored: tuple[StoredOutput, StoredOutput]) -> MaskArray:
        """Return for every pair whether rows of one of the outputs fit the boxes and each other."""
        fits: MaskArray = self._fits.copy()
        for at, rows in enumerate(self._list_rows()):
            if fits[at]:
                counts = self._matcher.count(rows)
                shapes = [each.row_shape(row) for each, row in zip(stored, rows, strict=True)]
                fits[at] = all(
                    _holds(shape, count) for shape, count in zip(shapes, counts, strict=True)
                ) and (0 in counts or shapes[0][1:] == shapes[1][1:])
        return fits

    def view(
        self, stored: tuple[Rows, Rows], columns: slice | None = None
    ) -> tuple[MatchedRows, MatchedRows]:
        """Return both sides of one of the outputs with partners side by side."""
        expected, actual = (
            MatchedRows(rows, chosen, columns=columns)
            for rows, chosen in zip(stored, self._chosen, strict=True)
        )
        return expected, actual

    def place_of(self, row: int, box: int) -> int:
        """Return where the box that comes at this place of an expected row was recorded."""
        chosen = self._chosen[0].get(row)
        return box if chosen is None else int(chosen[box])

    def list_parts(self, path: str, shape: tuple[int, ...]) -> tuple[slice, ...]:
        """Return the columns of an output that are each measured by itself; none for most."""
        if path != self.group.boxes or len(shape) != 3 or shape[2] <= N_COORDINATES:
            return ()
        rest = (slice(CLASS_COLUMN + 1, None),) if shape[2] > CLASS_COLUMN + 1 else ()
        return (*PARTS[: shape[2] - N_COORDINATES + 1], *rest)

    def compute_typical_norm(self, rows: Rows, columns: slice | None = None) -> float:
        """Return the root mean square norm of one box in an output of the golden, of the boxes that count.

        Samples of thousands of boxes would otherwise say what one box of another sample may move by.
        """
        counted = self._counted
        n_boxes = sum(
            len(counted[row]) if row in counted else self._matcher.readers[0].count(row)
            for row in range(rows.n_rows)
        )
        per_row = profile_rows(MatchedRows(rows, counted, columns=columns)).rms_row_norm
        return per_row * math.sqrt(rows.n_rows / max(1, n_boxes))

    @cached_property
    def _counted(self) -> dict[int, IndexArray]:
        return self._matcher.choose_counted(self._matcher.readers[0].n_rows)

    def describe(self, at: int) -> str:
        """Return what is to be said of one sample's boxes without a partner."""
        agreement = self.agreement
        is_plain = not (agreement.n_lost[at] or agreement.n_new[at] or agreement.n_relabelled[at])
        if is_plain and not agreement.near_tie[at]:
            return ""
        return self._match_again(at).describe(self.group.spec)

    def arrange(self, at: int) -> tuple[FloatArray, FloatArray]:
        """Return one sample's boxes of both sides, what changed most in front."""
        return self._match_again(at).arrange()

    def _match_again(self, at: int) -> MatchedSample:
        return self._matcher.match((int(self._pairs.expected[at]), int(self._pairs.actual[at])))

    def _list_rows(self) -> list[tuple[int, int]]:
        return list(zip(self._pairs.expected.tolist(), self._pairs.actual.tolist(), strict=True))


def match_detections(
    request: JudgeRequest, alignment: Alignment, comparable: Collection[str]
) -> dict[str, MatchedDetection]:
    """Match the boxes of all common samples.

    Parameters
    ----------
    comparable : collection of str
        Outputs that both sides have with a row a sample, of dtypes that can be compared. Scores and
        classes that are not among them are not looked at, nor boxes.

    Returns
    -------
    dict of str to MatchedDetection
        By the path of every output that belongs to one.
    """
    paths = {**request.golden.observation.outputs, **request.observation.outputs}
    found: dict[str, MatchedDetection] = {}
    for group in find_groups(paths, request.outputs):
        if group.boxes in comparable:
            detection = _match_group(request, alignment, group, comparable)
            found.update(dict.fromkeys(detection.group.members, detection))
    return found


def _match_group(
    request: JudgeRequest, alignment: Alignment, group: DetectionGroup, comparable: Collection[str]
) -> MatchedDetection:
    group = replace(
        group,
        scores=group.scores if group.scores in comparable else None,
        classes=group.classes if group.classes in comparable else None,
        along=tuple(path for path in group.along if path in comparable),
    )
    sides = {
        path: OutputSides(
            path=path,
            expected=request.golden.observation.outputs[path],
            actual=request.observation.outputs[path],
        )
        for path in group.members
    }
    records = [
        {path: side.expected for path, side in sides.items()},
        {path: side.actual for path, side in sides.items()},
    ]
    noise = {
        path: choose_epsilon(request, side, find_default(request, side))
        for path, side in sides.items()
        if path in group.deciding
    }
    matcher = _Matcher(
        readers=(
            DetectionReader(request.golden_folder, records[0], group),
            DetectionReader(request.observation_folder, records[1], group),
        ),
        threshold=group.spec.threshold,
        noise=noise[group.boxes],
        score_noise=noise[group.boxes if group.scores is None else group.scores],
    )
    matched = MatchedDetection(group, matcher, alignment.pairs)
    if not (alignment.is_same_order and _is_known_equal(group, sides)):
        matched.match()
    return matched


def _is_known_equal(group: DetectionGroup, sides: Mapping[str, OutputSides]) -> bool:
    """Whether equal bytes say that every box has its partner at its own place, and all are compared."""
    looked_at = group.deciding if group.spec.threshold is None else group.members
    return all(is_bit_identical(sides[path].expected, sides[path].actual) for path in looked_at)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Matcher:
    """What matching one sample takes."""

    readers: tuple[DetectionReader, DetectionReader]
    threshold: float | None
    noise: float
    score_noise: float

    def fits(self, rows: tuple[int, int]) -> bool:
        return all(reader.find_misfit(row) is None for reader, row in zip(self.readers, rows, strict=True))

    def count(self, rows: tuple[int, int]) -> tuple[int, int]:
        return self.readers[0].count(rows[0]), self.readers[1].count(rows[1])

    def match(self, rows: tuple[int, int]) -> MatchedSample:
        return match_sample(
            self.readers, rows, threshold=self.threshold, noise=self.noise, score_noise=self.score_noise
        )

    def choose_counted(self, n_rows: int) -> dict[int, IndexArray]:
        """Return which boxes of the golden count, by row; rows of which all do are left out."""
        if self.threshold is None:
            return {}
        reader = self.readers[0]
        found = {row: reader.choose(reader.read(row)) for row in range(n_rows)}
        return {row: chosen for row, chosen in found.items() if len(chosen) != reader.count(row)}


def _holds(shape: tuple[int, ...], count: int) -> bool:
    """Whether a row of this shape has as many entries as there are boxes."""
    return math.prod(shape) == 0 if not count else bool(shape) and shape[0] == count
