"""Goldens that no case has any more: what a project claims, and what is left over.

What belongs here: the question, asked of the file system alone. A suite's goldens are claimed
by its suite file. What a Python test claims only a whole run knows: it writes that down in its
run folder, for the command that prunes. Removing is ``store``'s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.engine.golden_choice import is_environment
from pytest_modelreg.engine.module_files import ModuleFiles
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
_RUN_NAME = re.compile(r"\d{8}T\d{6}-\d{6}Z")
# Out of the bytes, because parsing thousands of records would take longer than the run's other work.
_SUITE = re.compile(rb'\n  "suite": "([^"\\]*)"')
_DATE = re.compile(rb'\n    "date": "([^"\\]*)"')


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
    collected, doctested : frozenset of str
        Files, relative to the project, all of whose tests or doctests were collected. Of any
        other file that is there the run knows nothing.
    suites : frozenset of str
        Suite files that the run loaded, relative to the project: one in a hidden folder is
        found only by who names it.
    as_of : float or None
        When the run started, seconds since the epoch: of what was accepted later it knows nothing.
    """

    checked: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    collected: frozenset[str] = frozenset()
    doctested: frozenset[str] = frozenset()
    suites: frozenset[str] = frozenset()
    as_of: float | None = None

    def cover(self, place: str) -> bool:
        """Whether a golden at this place is claimed."""
        if place in self.checked:
            return True
        parts = place.split("/")
        return any("/".join(parts[:n]) in self.kept for n in range(1, len(parts) + 1))


def find_suite_orphans(suites: Iterable[Suite], base: Path) -> list[Path]:
    """Return golden folders below the suites' golden roots that belong to no case of any suite.

    A folder of a suite that is not there any more is one as well. Golden roots may lie in each
    other. Goldens of Python tests, which may be below any of them, are not asked about, and
    neither is what lies outside of the project; where a golden root is a link that leads out,
    only goldens of suites that the project has are its own.

    Parameters
    ----------
    suites : iterable of Suite
        All suites of the project.
    base : Path
        The project's folder.
    """
    suites = list(suites)
    cases = [(suite, case) for suite in suites for case in suite.cases if case.keeps_golden]
    claimed = {_resolve(case_folder(suite, case)) for suite, case in cases if not suite.golden_per}
    shared = {_resolve(case_folder(suite, case)) for suite, case in cases if suite.golden_per}
    own = {suite.name for suite in suites}
    project, values = Path(os.path.abspath(base)), _resolve(base / "golden" / VALUES_SUITE)
    real_project = _resolve(base)
    found: dict[Path, Path] = {}
    for root in dict.fromkeys(suite.golden_root for suite in suites):
        real_root = _resolve(root)
        for folder in list_golden_folders(root):
            # Links below a root are not entered, so that one look at the root resolves them all.
            inside = folder.relative_to(root)
            real = real_root / inside
            if real in found or real in claimed or (real.parent in shared and is_environment(real.name)):
                continue
            if not Path(os.path.abspath(folder)).is_relative_to(project) or real.is_relative_to(values):
                continue
            suite_name = _search(folder, _SUITE)
            if inside.parts[:1] == (VALUES_SUITE,) or suite_name == VALUES_SUITE:
                continue
            if real.is_relative_to(real_project) or suite_name in own:
                found[real] = folder
    return list(found.values())


def find_values_orphans(base: Path, claims: Claims) -> list[Path]:
    """Return golden folders of Python tests that a whole run did not claim and could have.

    Kept is what belongs to a file that is there and was not collected, and what was accepted
    after the run had started.
    """
    root = base / "golden" / VALUES_SUITE
    files = ModuleFiles(base)
    tests, doctests = (
        {os.path.normpath(os.path.join(os.path.abspath(base), name)) for name in names}
        for names in (claims.collected, claims.doctested)
    )
    known: dict[tuple[str, bool], bool] = {}
    orphans = []
    for folder in list_golden_folders(root):
        place = folder.relative_to(root).as_posix()
        if claims.cover(place):
            continue
        module, _, test = place.partition("/")
        is_doctest = _may_be_doctest(test.partition("/")[0], module)
        if (module, is_doctest) not in known:
            there = files.find(module)
            known[module, is_doctest] = there is not None and (doctests if is_doctest else tests).issuperset(
                there
            )
        if known[module, is_doctest] and not _is_accepted_since(folder, claims.as_of):
            orphans.append(folder)
    return orphans


def _may_be_doctest(test: str, module: str) -> bool:
    """Whether a test's name may be a doctest's: ``package.module.function``, or the module's own."""
    return "." in test.partition("[")[0] or test == module.rpartition(".")[2]


def _is_accepted_since(folder: Path, moment: float | None) -> bool:
    """Whether a golden was accepted, or came to this place, after a moment."""
    if moment is None:
        return False
    try:
        if (folder / "golden.json").stat().st_mtime > moment:
            return True
        date = _search(folder, _DATE)
        return date is not None and datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp() > moment
    except (OSError, ValueError):
        return True  # gone meanwhile, or a date that nobody can read: not this run's to judge


def _search(folder: Path, field: re.Pattern[bytes]) -> str | None:
    try:
        found = field.search((folder / "golden.json").read_bytes().replace(b"\r\n", b"\n"))
    except OSError:
        return None
    return None if found is None else found[1].decode("utf-8", "replace")


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))


def write_claims(run_folder: Path, claims: Claims) -> None:
    """Keep what a whole run claimed; a run that was not whole has none to keep.

    Raises
    ------
    RunFolderError
        When the folder cannot be written.
    """
    path = run_folder / CLAIMS_FILE
    fields = {
        _KEY: _FORMAT,
        "as_of": claims.as_of,
        "checked": sorted(claims.checked),
        "collected": sorted(claims.collected),
        "doctested": sorted(claims.doctested),
        "kept": sorted(claims.kept),
        "suites": sorted(claims.suites),
    }
    try:
        replace_atomically(path, render_json(fields))
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written: {error.strerror or error}") from error


def read_last_claims(root: Path) -> tuple[str, Claims] | None:
    """Return id and claims of the last whole run of a project; None where no run is.

    A folder that is not named like a run, a downloaded one for example, is none of them.

    Raises
    ------
    GoldenError
        When its record cannot be read.
    """
    runs = root / ".modelreg" / "runs"
    found = sorted(
        path
        for path in runs.glob(f"*/{CLAIMS_FILE}")
        if path.is_file() and _RUN_NAME.fullmatch(path.parent.name)
    )
    if not found:
        return None
    path = found[-1]
    fields = JsonObject(parse_json(path.read_bytes(), path), path)
    if fields.integer(_KEY) > _FORMAT:
        raise GoldenError(f"{path}: expected format {_FORMAT} at most; upgrade pytest-modelreg")
    as_of = fields.optional("as_of", fields.number)
    return path.parent.name, Claims(
        checked=frozenset(fields.texts("checked")),
        kept=frozenset(fields.texts("kept")),
        collected=frozenset(fields.optional("collected", fields.texts) or ()),
        doctested=frozenset(fields.optional("doctested", fields.texts) or ()),
        suites=frozenset(fields.optional("suites", fields.texts) or ()),
        as_of=path.stat().st_mtime if as_of is None else as_of,
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
