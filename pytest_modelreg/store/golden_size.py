"""How much the goldens of a suite weigh, and what to do when that is too much for git.

What belongs here: bytes on disk. Which budget a suite has is its file's word.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from pytest_modelreg.store.naming import safe_component

DEFAULT_BUDGET_MB = 20.0
"""What the goldens of one suite may weigh before a warning, megabytes of 10**6 bytes."""

_MB = 10**6
_MAX_NAMED = 3


def suite_folder(golden_root: Path, suite: str) -> Path:
    """Return the folder above all goldens of a suite."""
    return golden_root / safe_component(suite)


def measure_goldens(golden_root: Path, suite: str, *, left_out: Collection[str] = ()) -> dict[str, int]:
    """Return the bytes of a suite's goldens by variant, the largest first.

    Parameters
    ----------
    golden_root : pathlib.Path
        Above the suite's own folder; need not exist.
    left_out : collection of str
        Files that do not count, relative to the suite's folder, parts joined by ``/``.

    Returns
    -------
    dict of str to int
        Folder name of the reference or variant to bytes of all files below it.
    """
    try:
        with os.scandir(suite_folder(golden_root, suite)) as entries:
            sizes = {
                entry.name: _measure(entry.path, entry.name, left_out) for entry in entries if entry.is_dir()
            }
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))


def describe_excess(suite: str, sizes: Mapping[str, int], *, budget_mb: float) -> str | None:
    """Return a warning in one line when goldens are over their budget, None when they are not.

    Parameters
    ----------
    sizes : mapping of str to int
        As :func:`measure_goldens` returned it.
    budget_mb : float
        Megabytes of 10**6 bytes.
    """
    total = sum(sizes.values())
    if total <= budget_mb * _MB:
        return None
    largest = list(sizes.items())[:_MAX_NAMED]
    named = ", ".join(f"{variant} {size / _MB:.1f} MB" for variant, size in largest)
    if len(sizes) > len(largest):
        named += f" and {len(sizes) - len(largest)} smaller"
    return (
        f"{suite}: expected goldens of {budget_mb:g} MB at most, got {total / _MB:.1f} MB ({named}), and git"
        " keeps every replaced one for good: pin fewer samples, declare `per: ignore` for outputs that"
        " nobody needs, keep the arrays in git-lfs or DVC (docs/large-goldens.md), or raise golden_budget_mb"
    )


def _measure(folder: str, shown: str, left_out: Collection[str]) -> int:
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{shown}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                total += _measure(entry.path, name, left_out)
            elif name not in left_out:
                total += entry.stat(follow_symlinks=False).st_size
    return total
