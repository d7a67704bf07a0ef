"""Output paths of a suite that stand for more than one output: ``heads.*``, ``**.logits``.

What belongs here: what a pattern means, and which entry of a suite is an output's. Whoever looks
something up by output path does it with :func:`find_entry`. To add a wildcard, give its keys an
expression in :func:`_compile` and let :func:`is_pattern` know it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

Found = TypeVar("Found")

WILDCARD = "*"
ANY_KEYS = "**"


def is_pattern(path: str) -> bool:
    """Return whether a path holds a wildcard, so that it may stand for several outputs."""
    return WILDCARD in path


def matches(pattern: str, path: str) -> bool:
    """Return whether an output path is one that a pattern stands for.

    Parameters
    ----------
    pattern : str
        Keys joined by ``.``. ``*`` stands for one key, whatever it is, and inside a key for any
        characters (``head_*``); ``**`` for any number of keys, none included: ``heads.**`` is
        ``heads`` and everything below it. A pattern without wildcards stands for itself.
    path : str
        Where an output sits in what the model returned.
    """
    return path == pattern or (is_pattern(pattern) and _compile(pattern).fullmatch(f".{path}") is not None)


def find_entry(path: str, entries: Mapping[str, Found]) -> Found | None:
    """Return what a suite says of the output at this path, None where it says nothing.

    Parameters
    ----------
    path : str
        Where the output sits in what the model returned.
    entries : mapping
        By path or pattern. The path itself wins, then the pattern with most literal characters;
        of equals the one with fewer ``**``, with fewer wildcards, written first.
    """
    key = find_key(path, entries)
    return None if key is None else entries[key]


def find_key(path: str, entries: Mapping[str, object]) -> str | None:
    """Return under which path or pattern :func:`find_entry` finds its entry, None for none."""
    if path in entries:
        return path
    fitting = [pattern for pattern in entries if is_pattern(pattern) and matches(pattern, path)]
    return min(fitting, key=_rank, default=None)


def _rank(pattern: str) -> tuple[int, int, int]:
    """Return what sorts the narrowest pattern first."""
    n_wildcards = pattern.count(WILDCARD)
    return n_wildcards - len(pattern), pattern.split(".").count(ANY_KEYS), n_wildcards


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern, for paths with a ``.`` in front of every key."""
    keys = [
        r"(?:\.[^.]*)*"
        if key == ANY_KEYS
        else r"\." + "[^.]*".join(re.escape(part) for part in re.split(r"\*+", key))
        for key in pattern.split(".")
    ]
    # A key of a mapping may hold a line break.
    return re.compile("".join(keys), re.DOTALL)
