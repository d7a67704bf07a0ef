"""What all samples of a detection have in common: facts worth a line that no single sample tells.

What belongs here: gathering them while samples are matched. They change no verdict.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pytest_modelreg.compare import Boxes, find_corners, match_boxes
from pytest_modelreg.domain.case import BOX_FORMATS
from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.judge.detection.group import DetectionGroup
from pytest_modelreg.judge.detection.matched_sample import MatchedSample
from pytest_modelreg.judge.detection.reader import FloatArray
from pytest_modelreg.judge.kinds.detection import N_COORDINATES, count_boxes

N_TRIED = 20
"""Samples with boxes that have no partner on which other ways to write boxes down are tried."""

FEW, MOST = 0.5, 0.9
"""Shares of boxes with a partner below which another way is looked for, and from which it is told."""

N_CLASSES = 4
SWAPPED = "with x and y swapped"


class Remarks:
    """Gathers remarks on one detection, sample by sample."""

    def __init__(self, group: DetectionGroup) -> None:
        self._group = group
        self._relabelled: Counter[tuple[str, str]] = Counter()
        self._n_boxes = 0
        self._n_tried = 0
        self._n_expected = 0
        self._partners: Counter[str] = Counter()

    def observe(self, sample: MatchedSample) -> None:
        """Look at one sample."""
        self._n_boxes += len(sample.expected) + len(sample.actual)
        self._relabelled += sample.count_relabelled(self._group.spec)
        if len(sample.lost) and len(sample.new) and self._n_tried < N_TRIED:
            self._n_tried += 1
            self._try_formats(sample)

    def list(self) -> tuple[str, ...]:
        """Return what is worth a line."""
        path, spec = self._group.boxes, self._group.spec
        found = []
        if self._relabelled:
            named = self._relabelled.most_common(N_CLASSES)
            shown = [f"{before} is {after} ({count})" for (before, after), count in named]
            told = name_some(shown, N_CLASSES, n_total=len(self._relabelled))
            found.append(f"{path}: boxes that keep their place have another class: {told}")
        way = max(self._partners, key=lambda each: self._partners[each], default="")
        if (
            self._partners[spec.box_format] < FEW * self._n_expected
            and self._partners[way] >= MOST * self._n_expected
        ):
            found.append(
                f"{path}: this run writes boxes down in another way: read {way}, {self._partners[way]} of "
                f"{count_boxes(self._n_expected)} have a partner, as {spec.box_format} "
                f"{self._partners[spec.box_format] or 'none'}"
            )
        if not self._n_boxes:
            which = "a box" if spec.threshold is None else f"a box that scores {spec.threshold:g} or more"
            found.append(
                f"{path}: no sample has {which} on either side: all that is compared is that there is none"
            )
        return tuple(found)

    def _try_formats(self, sample: MatchedSample) -> None:
        """Count the partners of this run's boxes, read in every way."""
        expected = Boxes(
            corners=find_corners(sample.expected[:, :N_COORDINATES], self._group.spec.box_format)
        )
        self._n_expected += len(expected)
        for way in BOX_FORMATS:
            self._count(
                f"as {way}" if way != self._group.spec.box_format else way, expected, sample.actual, way
            )
        turned = sample.actual[:, [1, 0, 3, 2]]
        self._count(SWAPPED, expected, turned, self._group.spec.box_format)

    def _count(self, name: str, expected: Boxes, actual: FloatArray, way: str) -> None:
        corners = find_corners(np.ascontiguousarray(actual[:, :N_COORDINATES]), way)
        self._partners[name] += len(match_boxes(expected, Boxes(corners=corners)).expected)
