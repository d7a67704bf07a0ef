"""Detections: several outputs with a row a box that belong together.

Modules: ``group`` (which outputs belong together), ``reader`` (one side's boxes of a sample),
``matched_rows`` (rows with partners side by side), ``matched_sample`` (one sample: partners and what to
say of the others), ``matching`` (all samples of a case), ``remarks`` (what all samples have in common).
What to do with the numbers is the rest of judging's.
"""

from __future__ import annotations

from pytest_modelreg.judge.detection.group import DetectionGroup, find_groups, list_group_faults
from pytest_modelreg.judge.detection.matched_sample import MOST_WITHOUT_PARTNER
from pytest_modelreg.judge.detection.matching import MatchedDetection, match_detections
from pytest_modelreg.judge.detection.reader import DetectionReader

__all__ = [
    "MOST_WITHOUT_PARTNER",
    "DetectionGroup",
    "DetectionReader",
    "MatchedDetection",
    "find_groups",
    "list_group_faults",
    "match_detections",
]
