"""One output as both sides recorded it, before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_modelreg.domain.observation import OutputRecord


@dataclass(frozen=True, kw_only=True)
class OutputSides:
    """One output path with what either side recorded.

    Parameters
    ----------
    path : str
        Output path.
    expected, actual : OutputRecord
        What either side recorded.
    """

    path: str
    expected: OutputRecord
    actual: OutputRecord


def is_bit_identical(before: OutputRecord, after: OutputRecord) -> bool:
    """Return whether two records hold equal bytes of one dtype in equal shapes, by their digests."""
    counts = [None if side.counts is None else side.counts.sha256 for side in (before, after)]
    return (
        before.dtype == after.dtype
        and before.shape == after.shape
        and before.values.sha256 == after.values.sha256
        and counts[0] == counts[1]
    )
