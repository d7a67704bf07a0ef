"""One row of the list: a fault or a benign change, how it is planted, and what names it rightly.

What belongs here: the row and the part that it falls into. Rows themselves are in ``faults/``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.attribution.edits import Edit

BENIGN = "benign"
TUNING, HELD_OUT = "tuning", "held-out"
SEED = 1
"""Part of what is hashed: the first whole number with which every kind has a row in both parts."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A change of a base project between recording and judging.

    Parameters
    ----------
    name : str
        Unique; begins with the base project's name.
    kind : str
        The cause that names it, from the closed vocabulary, or :data:`BENIGN`.
    project : str
        A folder of ``projects/``.
    plant : tuple of Edit
        What is changed after the golden was recorded; may be empty where only variables differ.
    before : tuple of Edit
        What is changed before: another model or pipeline than the base project's.
    variant : str
        The case that is judged: ``reference`` or the name of a variant that an edit adds.
    also : tuple of str
        Causes that name it as rightly as ``kind``.
    why : str
        Why ``also`` does; empty without ``also``.
    affected : tuple of str or None
        Ids of exactly the samples that drift, None where that was not worked out.
    verdicts : tuple of str
        Verdicts that say that something is wrong with what was planted.
    variables : mapping
        Environment variables of the judging process.
    recorded_with : mapping
        Environment variables of the recording process.
    """

    name: str
    kind: str
    project: str
    plant: tuple[Edit, ...] = ()
    before: tuple[Edit, ...] = ()
    variant: str = "reference"
    also: tuple[str, ...] = ()
    why: str = ""
    affected: tuple[str, ...] | None = None
    verdicts: tuple[str, ...] = ("drift",)
    variables: Mapping[str, str] = field(default_factory=dict)
    recorded_with: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_benign(self) -> bool:
        """Whether a match is the right answer."""
        return self.kind == BENIGN

    @property
    def accepted(self) -> tuple[str, ...]:
        """Causes that name it rightly, the best first."""
        return (self.kind, *self.also)

    @property
    def part(self) -> str:
        """The part that the name falls into: a third of all names are held out."""
        digest = hashlib.sha256(f"{SEED} {self.name}".encode()).digest()
        return HELD_OUT if int.from_bytes(digest[:8], "big") % 3 == 0 else TUNING


def digest_list(faults: Iterable[Fault]) -> str:
    """Return 8 hex digits that change with any row: two tables with the same ones are comparable."""
    lines = "\n".join(sorted(repr(fault) for fault in faults))
    return hashlib.sha256(lines.encode()).hexdigest()[:8]
