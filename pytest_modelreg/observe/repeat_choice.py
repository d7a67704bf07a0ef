"""Which samples are prepared a second time, chosen while they pass.

What belongs here: the choice, in memory that does not grow with the number of samples. What is found
out with them is ``habits``'.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

MAX_REPEATS = 4
SAMPLES_A_REPEAT = 32
"""One sample in this many is prepared again, at least one and at most four, beside the earliest."""

FEWEST_DRAWN = 3
"""Samples for which random numbers were drawn, to try with other seeds: a black photo mirrored is itself."""

EARLY_FROM = 128
"""With this many samples the second is prepared again as well as the first.

A maximum that grows, or a mean, was another when the first samples passed; on the last ones it may
long have settled.
"""


@dataclass(kw_only=True)
class SeenSample:
    """What the pass noted of one sample that may be prepared again."""

    id: str
    position: int
    kind: str
    cost: int
    digest: str = ""
    stage_digests: tuple[str, ...] = ()
    has_drawn: bool = False


class RepeatChoice:
    """Takes every sample that passed, and names those to prepare again.

    Parameters
    ----------
    n_samples : int
        Samples in all.
    """

    def __init__(self, n_samples: int) -> None:
        self._n_samples = n_samples
        self._n_repeats = max(1, min(MAX_REPEATS, n_samples // SAMPLES_A_REPEAT))
        self._n_early = 2 if n_samples >= EARLY_FROM else 1
        self._groups: dict[str, list[SeenSample]] = {}
        self._counts: Counter[str] = Counter()
        self._early: list[SeenSample] = []
        # The last sample has most behind it; the others are for what that one has by chance.
        positions = dict.fromkeys((n_samples - 1, n_samples - 2, n_samples // 2))
        self._late: dict[int, SeenSample | None] = {at: None for at in positions if at > 0}
        self.drawn: list[SeenSample] = []
        """Samples for which random numbers were drawn, a few."""

    def is_new_kind(self, kind: str) -> bool:
        """Whether no sample of this kind has passed."""
        return kind not in self._counts

    def note(self, seen: SeenSample) -> None:
        """Take over a sample that was prepared."""
        if seen.has_drawn and len(self.drawn) < max(self._n_repeats, FEWEST_DRAWN):
            self.drawn.append(seen)
        if seen.position < self._n_early:
            self._early.append(seen)
        if seen.position in self._late:
            self._late[seen.position] = seen
        self._counts[seen.kind] += 1
        group = self._groups.setdefault(seen.kind, [])
        group.append(seen)
        if len(group) > 2 * MAX_REPEATS:  # 20,000 samples need not be remembered to choose four
            group.sort(key=self._rank)
            del group[MAX_REPEATS:]

    def list_repeats(self) -> list[SeenSample]:
        """Return the earliest samples and some of several kinds, of each the cheapest; the latest first.

        That is another order than the one in which they passed.
        """
        for group in self._groups.values():
            group.sort(key=self._rank)
        kinds = [self._groups[kind] for kind, _ in self._counts.most_common()]
        rounds = [group[turn] for turn in range(MAX_REPEATS) for group in kinds if turn < len(group)]
        again = {seen.position: seen for seen in (*rounds[: self._n_repeats], *self._early)}
        return [again[position] for position in sorted(again, reverse=True)]

    def list_late(self) -> list[SeenSample]:
        """Return samples that would be other ones if they came first."""
        return [seen for seen in self._late.values() if seen is not None]

    def _rank(self, seen: SeenSample) -> tuple[bool, int, int]:
        # What changes with every second or third call must not come out alike by chance.
        return math.gcd(self._n_samples - seen.position, 6) > 1, seen.cost, -seen.position
