"""Goldens that no case has any more: what a project claims, and what is left over.

What belongs here: the question, asked of the file system alone. A suite's goldens are claimed
by its suite file. What a Python test claims only a whole run knows: it writes that down in its
run folder, for the command that prunes. Removing is ``store``'s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.engine.golden_choice import is_environment
from pytest_modelreg.engine.outcome import case_folder
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.values import VALUES_SUITE
from pytest_modelreg.store import list_golden_folders, parse_json, replace_atomically
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.json_text import render_json

CLAIMS_FILE = "goldens.json"
"""In a run folder: which goldens of Python tests a whole run claimed."""

_KEY = "modelreg_goldens"
_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Claims:
    """Goldens of Python tests that a run claimed; paths relative to ``golden/py``, with ``/``.

    Parameters
    ----------
    checked : frozenset of str
        Folders of the checks that were made.
    kept : frozenset of str
        Folders of tests that did not come to their end (skipped, expected to fail, in error):
        whatever is below them may be theirs.
    """

    checked: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    def cover(self, place: str) -> bool:
        """Whether a golden at this place is claimed."""
        if place in self.checked:
            return True
        parts = place.split("/")
        return any("/".join(parts[:n]) in self.kept for n in range(1, len(parts) + 1))


def find_suite_orphans(suites: Iterable[Suite]) -> list[Path]:
    """Return golden folders below the suites' golden roots that belong to none of their cases.

    A folder of a suite that is not there any more is one as well; goldens of Python tests,
    which may share the root, are not asked about.
    """
    claimed: dict[Path, set[Path]] = {}
    shared: set[Path] = set()
    for suite in suites:
        folders = {case_folder(suite, case) for case in suite.cases if case.keeps_golden}
        claimed.setdefault(suite.golden_root, set()).update(set() if suite.golden_per else folders)
        shared |= folders if suite.golden_per else set()
    return [
        folder
        for root, folders in claimed.items()
        for folder in list_golden_folders(root)
        if folder not in folders
        and not (folder.parent in shared and is_environment(folder.name))
        and folder.relative_to(root).parts[:1] != (VALUES_SUITE,)
    ]


def find_values_orphans(golden_root: Path, claims: Claims) -> list[Path]:
    """Return golden folders of Python tests that a whole run did not claim."""
    base = golden_root / VALUES_SUITE
    return [
        folder
        for folder in list_golden_folders(base)
        if not claims.cover(folder.relative_to(base).as_posix())
    ]


def write_claims(run_folder: Path, claims: Claims) -> None:
    """Keep what a whole run claimed; a run that was not whole has none to keep.

    Raises
    ------
    RunFolderError
        When the folder cannot be written.
    """
    path = run_folder / CLAIMS_FILE
    fields = {_KEY: _FORMAT, "checked": sorted(claims.checked), "kept": sorted(claims.kept)}
    try:
        replace_atomically(path, render_json(fields))
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written: {error.strerror or error}") from error


def read_last_claims(root: Path) -> tuple[str, Claims] | None:
    """Return id and claims of the last whole run of a project; None where no run is.

    Raises
    ------
    GoldenError
        When its record cannot be read.
    """
    runs = root / ".modelreg" / "runs"
    found = sorted(path for path in runs.glob(f"*/{CLAIMS_FILE}") if path.is_file())
    if not found:
        return None
    path = found[-1]
    fields = JsonObject(parse_json(path.read_bytes(), path), path)
    if fields.integer(_KEY) > _FORMAT:
        raise GoldenError(f"{path}: expected format {_FORMAT} at most; upgrade pytest-modelreg")
    return path.parent.name, Claims(
        checked=frozenset(fields.texts("checked")), kept=frozenset(fields.texts("kept"))
    )


def describe_orphans(orphans: Collection[Path], base: Path) -> list[str]:
    """Return one line an orphan, with its path, and one that says what to do."""
    shown = [
        (path.relative_to(base) if path.is_relative_to(base) else path).as_posix() for path in sorted(orphans)
    ]
    if not shown:
        return []
    what = "golden that no case has" if len(shown) == 1 else "goldens that no case has"
    return [f"{len(shown)} {what}; look at them and remove them with: modelreg prune", *shown]
