"""How much of a run a page shows, so that it stays small enough to be mailed and opened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Detail:
    """Upper limits of what is shown.

    Parameters
    ----------
    cases : int
        Cases with an entry of their own; the table lists ``rows`` of them.
    cards : int
        Samples that are looked at closely, of all cases.
    tiles : int
        Further samples with thumbnail and error, of all cases.
    dots : int
        Points of a plot.
    pictures : int
        Bytes of all pictures, before they are encoded as text.
    characters : int
        Of one message, label or value.
    """

    cases: int
    rows: int
    cards: int
    tiles: int
    dots: int
    pictures: int
    characters: int


LEVELS = (
    Detail(cases=80, rows=600, cards=320, tiles=600, dots=240, pictures=1_600_000, characters=2000),
    Detail(cases=60, rows=400, cards=160, tiles=200, dots=120, pictures=900_000, characters=1000),
    Detail(cases=30, rows=300, cards=60, tiles=60, dots=80, pictures=500_000, characters=500),
    Detail(cases=10, rows=200, cards=10, tiles=0, dots=60, pictures=100_000, characters=300),
)
"""From the fullest to the least, of which the first is taken that fits."""
