"""The search for the first candidate that behaves otherwise, whatever the candidates are.

What belongs here: what is tried next, and when it is over. Candidates are ``commits``' or
``versions``'; a new kind implements :class:`Candidates`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pytest_modelreg.domain.errors import UsageFault


class Finding(Enum):
    """What trying a candidate came to."""

    GOOD = "match"
    BAD = "drift"
    UNKNOWN = "could not run"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One candidate, tried.

    Parameters
    ----------
    candidate : str
        A commit's hash, a version.
    message : str
        What the case came to, in a line.
    details : str
        What else there is to say where it could not run, in lines: the reason is often the last one.
    """

    candidate: str
    finding: Finding
    message: str
    details: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Where a search ended.

    Parameters
    ----------
    first_bad : str
        The first candidate found to drift.
    suspects : tuple of str
        Candidates before it that could not run: each may be the first one as well.
    trials : tuple of Trial
        In the order in which they were tried.
    """

    first_bad: str
    suspects: tuple[str, ...]
    trials: tuple[Trial, ...]


class Candidates(Protocol):
    """What lies between a good end and a bad one."""

    def choose(self, good: Collection[str], bad: str, skipped: Collection[str]) -> str | None:
        """Return what is to be tried next, halving what is left; None when nothing is left to try."""

    def list_left(self, good: Collection[str], bad: str) -> list[str]:
        """Return what lies behind every good candidate and up to the bad one, itself left out, in order."""


def search(
    candidates: Candidates, *, good: str, bad: str, attempt: Callable[[str, int], Trial]
) -> SearchResult:
    """Find the first candidate that drifts.

    Parameters
    ----------
    good, bad : str
        The ends. Both are tried first: a search between ends that are not what they are said to
        be finds something that means nothing.
    attempt : callable
        Given a candidate and how many are left beside it, tries it.

    Raises
    ------
    UsageFault
        When an end is not what it is said to be, or cannot run.
    """
    trials = [attempt(good, 0)]
    if trials[0].finding is not Finding.GOOD:
        raise UsageFault(
            f"{good}: expected an end that matches the golden, got one that {_describe(trials[0])}; "
            "name an earlier one, or check out the golden that it belongs to"
        )
    trials.append(attempt(bad, 0))
    if trials[1].finding is not Finding.BAD:
        raise UsageFault(
            f"{bad}: expected an end that drifts from the golden, got one that {_describe(trials[1])}; "
            "name a later one"
        )
    known_good, skipped = {good}, set[str]()
    while (candidate := candidates.choose(known_good, bad, skipped)) is not None:
        trial = attempt(candidate, len(candidates.list_left(known_good, bad)) - 1)
        trials.append(trial)
        if trial.finding is Finding.GOOD:
            known_good.add(candidate)
        elif trial.finding is Finding.BAD:
            bad = candidate
        else:
            skipped.add(candidate)
    left = candidates.list_left(known_good, bad)
    return SearchResult(
        first_bad=bad, suspects=tuple(name for name in left if name in skipped), trials=tuple(trials)
    )


def _describe(trial: Trial) -> str:
    verb = {Finding.GOOD: "matches", Finding.BAD: "drifts", Finding.UNKNOWN: "could not run"}[trial.finding]
    return f"{verb} ({trial.message})"
