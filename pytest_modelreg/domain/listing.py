"""Lists in messages: the first few names and how many more there are, so that a count always adds up.

What belongs here: the one way in which messages cut a list. How many names a message has room for is its
own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice


def name_some(names: Iterable[object], most: int, *, n_total: int | None = None) -> str:
    """Return the first names and the number of all others: ``a, b, c and 4 more``.

    Parameters
    ----------
    most : int
        Names that are written out.
    n_total : int or None
        How many things there are, where ``names`` are only those worth naming; None: as many as ``names``.
        A message that begins with a count passes that count.
    """
    every = list(names)
    shown = ", ".join(map(str, islice(every, most)))
    n_more = max(len(every), n_total or 0) - min(len(every), most)
    if not n_more:
        return shown
    return f"{shown} and {n_more} more" if shown else f"{n_more} more"
