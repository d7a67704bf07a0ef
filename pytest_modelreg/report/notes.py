"""Notes of several cases, each said once.

What belongs here: which cases share a note, and how those cases are named. How a line of it
looks is the form of output's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

N_NAMED = 3


def group_notes(notes: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return the ids of the cases that a note is about, by note, in the order in which they come."""
    found: dict[str, list[str]] = {}
    for case, texts in notes.items():
        for text in texts:
            found.setdefault(text, []).append(case)
    return found


def name_cases(ids: Sequence[str]) -> str:
    """Return one id as it is, several as ``9 cases (photo[a], photo[b], photo[c], ...)``."""
    if len(ids) == 1:
        return ids[0]
    return f"{len(ids)} cases ({', '.join(ids[:N_NAMED])}{', ...' if len(ids) > N_NAMED else ''})"
