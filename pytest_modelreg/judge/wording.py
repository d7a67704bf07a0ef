"""Small words of messages and notes."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """Return ``1 sample`` or ``2 samples``."""
    return f"{number} {noun if number == 1 else noun + ('es' if noun.endswith('ch') else 's')}"
