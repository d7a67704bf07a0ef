"""``I/N``: which of how many shards a run is.

What belongs here: the value and how it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_modelreg.domain.errors import UsageFault

MAX_SHARDS = 10_000
"""More than any project has machines; a number that is mistyped is none."""

_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, kw_only=True)
class Shard:
    """One of several runs that are a whole one together.

    Parameters
    ----------
    number : int
        From 1.
    of : int
        How many there are.
    """

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def is_possible(number: int, of: int) -> bool:
    """Whether there can be such a shard."""
    return 1 <= number <= of <= MAX_SHARDS


def parse_shard(text: str) -> Shard:
    """Return the shard that ``2/3`` names.

    Raises
    ------
    UsageFault
        When it names none.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None or not is_possible(int(found[1]), int(found[2])):
        raise UsageFault(
            f"expected I/N, the number of this shard and how many there are, from 1/N to N/N (N at most "
            f"{MAX_SHARDS}), got {text!r:.40}"
        )
    return Shard(number=int(found[1]), of=int(found[2]))
