"""Everything in a project that may be pruned, and what cannot be judged, for the command that prunes.

What belongs here: putting together what suites and the last whole run claim. Each of the two answers
for itself, in ``orphans`` and ``values_orphans``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_modelreg.engine.claims import read_last_claims
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.engine.orphans import find_suite_orphans
from pytest_modelreg.engine.suite_loading import load_suites
from pytest_modelreg.engine.values import VALUES_SUITE
from pytest_modelreg.engine.values_orphans import holds_values_goldens, sort_unclaimed
from pytest_modelreg.store import list_golden_folders


@dataclass(frozen=True, kw_only=True)
class Leftovers:
    """What no case of a project has.

    Parameters
    ----------
    orphans : list of Path
        Golden folders.
    unknown : mapping of str to int
        How many goldens of Python tests cannot be judged, by the reason.
    run : str or None
        The whole run that goldens of Python tests were held against; None where there is none.
    """

    orphans: list[Path]
    unknown: Mapping[str, int] = field(default_factory=dict)
    run: str | None = None

    @property
    def n_unknown(self) -> int:
        """How many goldens cannot be judged."""
        return sum(self.unknown.values())


def find_leftovers(root: Path) -> Leftovers:
    """Return the orphans of a project.

    Raises
    ------
    SuiteFileError
        When a suite file is faulty: what it claims is not known then.
    GoldenError
        When the record of the last whole run is damaged.
    """
    claims = read_last_claims(root)
    files = find_suites([root], ignored=lambda path: holds_values_goldens(path, root))
    if claims is not None:  # those of the run in hidden folders, which nobody else finds
        seen = {os.path.realpath(path) for path in files}
        named = [root / name for name in sorted(claims[1].suites)]
        files += [path for path in named if path.is_file() and os.path.realpath(path) not in seen]
    orphans = find_suite_orphans(load_suites(files, rootdir=root), root)
    if claims is None:
        n_values = len(list_golden_folders(root / "golden" / VALUES_SUITE))
        unknown = {"no whole run is on record": n_values} if n_values else {}
        return Leftovers(orphans=orphans, unknown=unknown)
    values = sort_unclaimed(root, claims[1])
    unknown = {reason: len(folders) for reason, folders in values.unknown.items()}
    return Leftovers(orphans=[*orphans, *values.orphans], unknown=unknown, run=claims[0])
