"""The nearest known name: what a misspelt word was probably meant to be.

What belongs here: finding it, and the one way in which messages say it. Whoever refuses a
name appends :func:`suggest` to the message, so that all of them read alike.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_CHARS = 200
"""Longest word that is looked up: comparing takes quadratic time, and words come from files."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean X?)`` for the nearest known name, empty when none is near."""
    return phrase_suggestion(find_nearest(name, known))


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``name`` was probably meant to be, None when none is near.

    Upper and lower case count as equal, and the order of ``known`` does not matter.
    """
    if len(name) > MAX_CHARS:
        return None
    spellings = {option.casefold(): option for option in sorted(known, reverse=True)}
    near = difflib.get_close_matches(name.strip().casefold(), spellings, n=1)
    return spellings[near[0]] if near else None


def phrase_suggestion(meant: str | None) -> str:
    """Return `` (did you mean X?)``, empty for None: for what is no misspelt name."""
    return "" if meant is None else f" (did you mean {meant}?)"
