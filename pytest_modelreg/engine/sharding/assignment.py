"""Which shard every case is in: the same on every machine, whatever the other shards do.

What belongs here: the rule. It depends on nothing but case ids, what they share, and the durations file.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_modelreg.engine.suite import CasePlan


@dataclass(frozen=True, kw_only=True)
class ShardedCase:
    """A case that is to be given to a shard.

    Parameters
    ----------
    id : str
        A case id; of a Python test, ``py[<test>]``.
    group : str
        What it shares work with: equal text for cases that a run prepares once.
    """

    id: str
    group: str


def describe_group(case: CasePlan) -> str:
    """Return what a case of a suite shares work by: preprocessing, and the model that is exported.

    It is what decides whether a session hands one case's inputs to another, but for what is the same in
    all cases of a suite.
    """
    template = case.template
    facts = [template.suite, template.loader, template.preprocess, template.model, repr(template.model_args)]
    return json.dumps([*facts, template.threads, template.deterministic])


def assign_shards(
    cases: Sequence[ShardedCase], n_shards: int, durations_s: Mapping[str, float] | None = None
) -> dict[str, int]:
    """Return the number of a shard, from 1, by case id.

    Parameters
    ----------
    cases : sequence of ShardedCase
        All cases of the run, in any order.
    n_shards : int
        How many shards there are.
    durations_s : mapping of str to float, optional
        Seconds by case id. Where none of the cases is known, each goes by a hash of its id alone, so that no
        other case moves it.

    Notes
    -----
    With durations the longest unit goes first, to the shard with the least to do (Graham's LPT rule, whose
    longest shard takes at most 4/3 of the best possible for these units). A unit is a group, as long as it
    takes no longer than a shard's fair share; a longer one is parted into as few units as that allows. A case
    without a duration counts as the median of the others. Ties go by the hash, so that nothing depends on the
    order of cases.
    """
    by_id = {case.id: case for case in cases}
    known = {name: durations_s[name] for name in by_id if durations_s and name in durations_s}
    if not known:
        return {name: hash_case(name) % n_shards + 1 for name in by_id}
    median_s = statistics.median(known.values())
    # In whole milliseconds, so that no sum depends on the order of its terms.
    lengths_ms = {name: max(1, round(1000 * known.get(name, median_s))) for name in by_id}
    fair_ms = sum(lengths_ms.values()) / n_shards
    groups: dict[str, dict[str, int]] = {}
    for name, case in by_id.items():
        groups.setdefault(case.group, {})[name] = lengths_ms[name]
    units = {}
    for members in groups.values():
        n_parts = max(1, -int(-sum(members.values()) // fair_ms))
        for part in pack_longest_first(members, n_parts):
            units[min(part, key=_rank)] = part
    found = pack_longest_first(
        {first: sum(lengths_ms[name] for name in part) for first, part in units.items()}, n_shards
    )
    return {
        name: number for number, firsts in enumerate(found, 1) for first in firsts for name in units[first]
    }


def pack_longest_first(lengths: Mapping[str, int], n_bins: int) -> list[list[str]]:
    """Return names in bins: the longest first, each into the bin that holds least; empty bins left out last.

    Parameters
    ----------
    lengths : mapping of str to int
        Milliseconds by name.
    """
    bins: list[list[str]] = [[] for _ in range(n_bins)]
    waiting = [(0, number) for number in range(n_bins)]
    for name in sorted(lengths, key=lambda name: (-lengths[name], _rank(name))):
        held, number = heapq.heappop(waiting)
        bins[number].append(name)
        heapq.heappush(waiting, (held + lengths[name], number))
    return [found for found in bins if found]


def hash_case(case: str) -> int:
    """Return a number for a case id that is the same in every process and release: 64 bits of its sha256."""
    return int.from_bytes(hashlib.sha256(case.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def digest_cases(cases: Iterable[str]) -> str:
    """Return a digest over a set of case ids: 64 hex digits, whatever their order."""
    text = "\n".join(sorted(set(cases)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _rank(case: str) -> tuple[int, str]:
    """Return what breaks ties."""
    return hash_case(case), case
