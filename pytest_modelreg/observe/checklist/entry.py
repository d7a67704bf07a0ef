"""Entries of the checklist: a value with where it comes from, or the reason why there is none.

What belongs here: the form of an entry, and the rounding of its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

Entry = dict[str, Any]

SIGNIFICANT_DIGITS = 6
VARIES = "varies"
"""In the place of what is not the same for all samples."""


def read(value: Any) -> Entry:
    """Return the entry of what a stage says about itself."""
    return {"value": value, "source": "read"}


def measured(value: Any) -> Entry:
    """Return the entry of what the samples show."""
    return {"value": value, "source": "measured"}


def unknown(reason: str) -> Entry:
    """Return the entry of what neither tells."""
    return {"value": None, "reason": reason}


def round_number(value: float) -> float | None:
    """Round to 6 significant digits, so that noise does not rewrite a golden; None if not finite."""
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if math.isfinite(value) else None


def round_numbers(values: Iterable[float]) -> list[float | None]:
    """Round each of several numbers."""
    return [round_number(float(value)) for value in values]
