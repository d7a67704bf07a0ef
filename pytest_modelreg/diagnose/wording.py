"""Words that several explanations share."""

from __future__ import annotations

from collections.abc import Sequence

N_LISTED = 20
"""Names in a cause's evidence: the others are counted."""

_N_NAMED = 3


def name_some(names: Sequence[str], *, most: int = _N_NAMED) -> str:
    """Return a few names in words: ``a, b, c and 4 more``."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 sample``, ``4 samples``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def number(value: float) -> str:
    """Return a relative error in two digits."""
    return f"{value:.2g}"


def contrast(expected: str, actual: str) -> str:
    """Return what differs in two descriptions ``Kind(setting, name=value)``: ``Kind: eps=1e-05 -> 0.01``."""
    (kind, _, before), (other, _, after) = expected.partition("("), actual.partition("(")
    old, new = (text.removesuffix(")").split(", ") for text in (before, after))
    gone = [setting for setting in old if setting not in new]
    come = [setting for setting in new if setting not in old]
    if kind != other or len(gone) != len(come) or not gone:
        return f"was {expected} and is {actual}"
    pairs = [
        f"{one} -> {two.partition('=')[2] if one.partition('=')[0] == two.partition('=')[0] else two}"
        for one, two in zip(gone, come, strict=True)
    ]
    return f"{kind}: {', '.join(pairs)}"
