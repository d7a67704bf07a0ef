"""Words that several explanations share.

What belongs here: numbers, counts and lists in words, and two descriptions held against each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pytest_modelreg.domain import listing

N_LISTED = 20
"""Names in a cause's evidence: the others are counted."""

_N_NAMED = 3


_UNNAMED = "(not named)"
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "'\""


def name_some(names: Sequence[str], *, most: int = _N_NAMED, n_total: int | None = None) -> str:
    """Return a few names in words: ``a, b, c and 4 more``; see :func:`~pytest_modelreg.domain.listing`."""
    return listing.name_some(names, most, n_total=n_total)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 sample``, ``4 samples``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def number(value: float) -> str:
    """Return a relative error in two digits."""
    return f"{value:.2g}"


def are(number: int, *, of: str = "") -> str:
    """Return the verb that fits a count: ``1 is``, ``4 are``, ``4 of 34 tensors are``."""
    return f"{number}{f' of {of}' if of else ''} {'is' if number == 1 else 'are'}"


def tell_apart(rel_l2: float) -> str:
    """Return how far two answers are apart, as a relative error, or that no number says it."""
    if math.isfinite(rel_l2):
        return f"{number(rel_l2)} apart"
    return "not finite at the same places, or not of the same form"


def contrast(expected: str, actual: str) -> str:
    """Return what differs in two descriptions ``Kind(setting, name=value)``: ``Kind: eps: 1e-05 -> 0.01``.

    Named settings are paired by name, the others by place.
    """
    (kind, before), (other, after) = read_description(expected), read_description(actual)
    if kind != other:
        return f"was {expected} and is {actual}"
    told = [
        f"{'' if name.isdigit() else f'{name}: '}{before.get(name, _UNNAMED)} -> {after.get(name, _UNNAMED)}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    return f"{kind}: {', '.join(told)}" if told else f"was {expected} and is {actual}"


def read_description(text: str) -> tuple[str, dict[str, str]]:
    """Return kind and settings of a description ``Kind(setting, name=value)``.

    Returns
    -------
    tuple
        The kind, and what is set by name; a setting without one goes by its place, ``"0"`` for the first.
    """
    kind, _, inside = text.partition("(")
    settings: dict[str, str] = {}
    for place, setting in enumerate(_split_settings(inside.removesuffix(")"))):
        name, is_named, value = setting.partition("=")
        if is_named and name.isidentifier():
            settings[name] = value
        else:
            settings[str(place)] = setting
    return kind, settings


def _split_settings(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no brackets and no quotes."""
    depth, quote, start = 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    if text[start:].strip():
        yield text[start:].strip()
