"""Goldens of suites that no case has any more, and how orphans of all kinds are listed.

What belongs here: what suite files claim, asked of the file system alone. What a Python test claims
only a whole run knows: ``values_orphans``. Removing is ``store``'s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from pytest_modelreg.engine.golden_choice import can_be_chosen, list_possible_facts
from pytest_modelreg.engine.outcome import case_folder
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.values import VALUES_SUITE
from pytest_modelreg.store import walk_goldens

MAX_LISTED = 20
"""How many orphans a run names; thousands of lines would hide what else it says."""

# Out of the bytes, because parsing thousands of records would take longer than the run's other work.
_SUITE = re.compile(rb'\n  "suite": "([^"\\]*)"')


def find_suite_orphans(suites: Iterable[Suite], base: Path) -> list[Path]:
    """Return golden folders below the suites' golden roots that belong to no case of any suite.

    A folder of a suite that is not there any more is one as well, and so is one of an environment that
    ``golden_per`` cannot lead to any more. Golden roots may lie in each other. Goldens of Python tests,
    which may be below any of them, are not asked about, and neither is what lies outside of the
    project; where a golden root is a link that leads out, only goldens of suites that the project has
    are its own.

    Parameters
    ----------
    suites : iterable of Suite
        All suites of the project.
    base : Path
        The project's folder.
    """
    suites = list(suites)
    claimed, shared = _list_claims(suites)
    own = {suite.name for suite in suites}
    project, values = os.path.abspath(base), os.path.realpath(base / "golden" / VALUES_SUITE)
    real_project = os.path.realpath(base)
    found: dict[str, str] = {}
    for root in dict.fromkeys(suite.golden_root for suite in suites):
        real_root, shown_root = os.path.realpath(root), str(root)
        is_ours = _is_below(os.path.abspath(root), project) or _is_below(project, os.path.abspath(root))
        if not is_ours:
            continue
        in_root = os.path.relpath(values, real_root)
        for folder in walk_goldens(root, passed_over=os.path.join(shown_root, in_root)):
            # Links below a root are not entered, so that one look at the root resolves them all.
            inside = folder[len(shown_root) :].lstrip(os.sep)
            real = os.path.join(real_root, inside) if inside else real_root
            if real in found or real in claimed or _is_below(real, values):
                continue
            parent, name = os.path.split(real)
            if any(can_be_chosen(name, facts) for facts in shared.get(parent, ())):
                continue
            if not _is_below(os.path.abspath(folder), project) or inside.split(os.sep)[0] == VALUES_SUITE:
                continue
            suite_name = _read_suite_name(folder)
            if suite_name != VALUES_SUITE and (_is_below(real, real_project) or suite_name in own):
                found[real] = folder
    # Sorted as text: comparing paths would take as long as all else.
    return [Path(folder) for folder in sorted(found.values())]


def _list_claims(suites: Iterable[Suite]) -> tuple[set[str], dict[str, list[dict[str, str | None]]]]:
    """Return the folders of cases, and above those of environments which facts each may have."""
    claimed: set[str] = set()
    shared: dict[str, list[dict[str, str | None]]] = {}
    for suite in suites:
        for case in suite.cases:
            place = os.path.realpath(case_folder(suite, case))
            if suite.golden_per:
                facts = list_possible_facts(suite.golden_per, device=case.template.device)
                shared.setdefault(place, []).append(facts)
            elif case.keeps_golden:
                claimed.add(place)
    return claimed, shared


def _is_below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)


def _read_suite_name(folder: str) -> str | None:
    try:
        with open(f"{folder}{os.sep}golden.json", "rb") as stream:
            found = _SUITE.search(stream.read().replace(b"\r\n", b"\n"))
    except OSError:
        return None
    return None if found is None else found[1].decode("utf-8", "replace")


def describe_orphans(orphans: Collection[Path], base: Path) -> list[str]:
    """Return a line that says how many there are and what to do, and one each for the first of them."""
    if not orphans:
        return []
    what = "golden that no case has" if len(orphans) == 1 else "goldens that no case has"
    return [
        f"{len(orphans)} {what}; look at them and remove them with: modelreg prune",
        *list_places(orphans, base, n_listed=MAX_LISTED),
    ]


def list_places(folders: Collection[Path], base: Path, *, n_listed: int | None) -> list[str]:
    """Return folders as they are shown, sorted, and how many more there are.

    Parameters
    ----------
    n_listed : int or None
        How many are named; None: all.
    """
    prefix = f"{base}{os.sep}"
    shown = sorted(str(path).removeprefix(prefix).replace(os.sep, "/") for path in folders)
    if n_listed is None or len(shown) <= n_listed:
        return shown
    return [*shown[:n_listed], f"and {len(shown) - n_listed} more"]
