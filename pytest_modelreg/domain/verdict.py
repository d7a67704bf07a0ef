"""The closed set of verdicts.

Only :attr:`Verdict.MATCH` is green. :attr:`Verdict.RECORDED` passes, because the
user asked for a recording, and is listed apart because nothing was compared.
"""

from __future__ import annotations

from enum import Enum


class Verdict(str, Enum):
    """What became of a case."""

    MATCH = "match"
    DRIFT = "drift"
    MISSING = "missing"
    STALE = "stale"
    RECORDED = "recorded"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def passes(self) -> bool:
        """Whether a pytest item with this verdict passes."""
        return self in (Verdict.MATCH, Verdict.RECORDED)


WORST_FIRST = (
    Verdict.ERROR,
    Verdict.DRIFT,
    Verdict.STALE,
    Verdict.MISSING,
    Verdict.SKIPPED,
    Verdict.RECORDED,
    Verdict.MATCH,
)
"""All verdicts, in the order in which somebody wants to see them."""
