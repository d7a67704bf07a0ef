"""Goldens of Python tests that a whole run did not claim: orphans, or nothing that it could know.

What belongs here: the question whether the run on record still speaks for a golden. To doubt it for one
more reason, add that to :meth:`_Record.find_doubt`; a golden too many that is kept costs less than one
that is lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePath

from pytest_modelreg.engine.claims import Claims
from pytest_modelreg.engine.module_files import ModuleFiles
from pytest_modelreg.engine.tracked_files import digest_file, read_working_state
from pytest_modelreg.engine.values import VALUES_SUITE
from pytest_modelreg.store import walk_goldens

CONFTEST = "conftest.py"

# Out of the bytes, because parsing thousands of records would take longer than the run's other work.
_DATE = re.compile(rb'\n    "date": "([^"\\]*)"')


@dataclass(frozen=True, kw_only=True)
class UnclaimedGoldens:
    """Goldens of Python tests that a whole run did not claim.

    Parameters
    ----------
    orphans : list of Path
        Those that it would have claimed if there were a test for them.
    unknown : dict of str to list of Path
        Those of which it knows nothing, by the reason.
    """

    orphans: list[Path] = field(default_factory=list)
    unknown: dict[str, list[Path]] = field(default_factory=dict)


def holds_values_goldens(path: Path, base: Path) -> bool:
    """Whether a folder is the one of a project's goldens of Python tests: thousands, and nothing else."""
    return path.name == VALUES_SUITE and path == base / "golden" / VALUES_SUITE


def has_values_goldens(base: Path) -> bool:
    """Whether a project has goldens of Python tests."""
    root = base / "golden" / VALUES_SUITE
    return next(walk_goldens(root), None) is not None


def sort_unclaimed(base: Path, claims: Claims) -> UnclaimedGoldens:
    """Return the goldens of Python tests that a whole run did not claim.

    Unknown is what belongs to a file that is there and was not collected as it is now, what was
    accepted after the run had started, and everything once a tracked file of the project changed: tests
    take parameters from anywhere.
    """
    found = UnclaimedGoldens()
    root = base / "golden" / VALUES_SUITE
    prefix = len(str(root)) + 1
    record = _Record(base, claims)
    for folder in sorted(walk_goldens(root)):
        place = folder[prefix:].replace(os.sep, "/")
        if claims.cover(place):
            continue
        doubt = record.find_doubt(place) or _find_late_acceptance(folder, claims.as_of)
        if doubt is None:
            found.orphans.append(Path(folder))
        else:
            found.unknown.setdefault(doubt, []).append(Path(folder))
    return found


def digest_conftests(files: Mapping[str, str], base: Path) -> dict[str, str]:
    """Return the sha256 of every ``conftest.py`` around some files, relative to the project like them."""
    names = {name for file in files for name in _list_conftests(file)}
    found = {name: digest_file(base / name) for name in sorted(names)}
    return {name: digest for name, digest in found.items() if digest is not None}


class _Record:
    """What a run knew, held against the project as it is now; every file is looked at once."""

    def __init__(self, base: Path, claims: Claims) -> None:
        self._base = base
        self._claims = claims
        self._files = ModuleFiles(base)
        self._digests: dict[str, str | None] = {}
        self._doubts: dict[tuple[str, bool], str | None] = {}

    def find_doubt(self, place: str) -> str | None:
        """Return why the run says nothing of a golden; None where it does."""
        module, _, test = place.partition("/")
        is_doctest = _may_be_doctest(test.partition("/")[0], module)
        if (module, is_doctest) not in self._doubts:
            self._doubts[module, is_doctest] = self._find_module_doubt(module, is_doctest=is_doctest)
        return self._doubts[module, is_doctest]

    def _find_module_doubt(self, module: str, *, is_doctest: bool) -> str | None:
        there = self._files.find(module)
        if there is None:
            return "its file cannot be told from its name"
        known = self._claims.doctested if is_doctest else self._claims.collected
        for path in there:
            name = self._show(path)
            if name not in known:
                return (
                    f"{name} is there, and the run did not collect {'its doctests' if is_doctest else 'it'}"
                )
            if self._digest(name) != known[name]:
                return f"{name} changed since the run"
            for conftest in _list_conftests(name):
                if self._digest(conftest) != self._claims.conftests.get(conftest):
                    return f"{conftest} changed since the run"
        return self._changed if there else None  # without a file no parameter says anything

    @cached_property
    def _changed(self) -> str | None:
        """A tracked file that is not what it was, or what else changed; None where nothing did."""
        claims = self._claims
        state = read_working_state(self._base, claims.commit)
        if claims.commit is None:
            return None if state.commit is None else "the project came under git since the run"
        if state.commit is None:
            return f"git does not know the run's commit {claims.commit[:12]} any more"
        for name in sorted({*state.changed, *claims.changed}):
            # What was collected is held against its own digest; what a file was before it changed back
            # is what the commit has.
            is_test = name in claims.collected or name in claims.doctested
            if not is_test and state.changed.get(name) != claims.changed.get(name):
                return f"{name} changed since the run"
        return None

    def _digest(self, name: str) -> str | None:
        if name not in self._digests:
            self._digests[name] = digest_file(self._base / name)
        return self._digests[name]

    def _show(self, path: str) -> str:
        try:
            return PurePath(os.path.relpath(path, self._base)).as_posix()
        except ValueError:  # another drive on Windows
            return PurePath(path).as_posix()


def _list_conftests(file: str) -> list[str]:
    """Return where pytest looks for conftest files around a file, relative to the project."""
    folders = PurePath(file).parent.parts
    if folders[:1] == ("..",):
        return []
    return ["/".join((*folders[:n], CONFTEST)) for n in range(len(folders) + 1)]


def _may_be_doctest(test: str, module: str) -> bool:
    """Whether a test's name may be a doctest's: ``package.module.function``, or the module's own."""
    return "." in test.partition("[")[0] or test == module.rpartition(".")[2]


def _find_late_acceptance(folder: str, moment: float | None) -> str | None:
    """Say that a golden was accepted, or came to this place, after a moment; None where not."""
    if moment is None:
        return None
    late = "accepted or put there after the run had started"
    file = f"{folder}{os.sep}golden.json"
    try:
        with open(file, "rb") as stream:
            if os.fstat(stream.fileno()).st_mtime > moment:
                return late
            date = _DATE.search(stream.read().replace(b"\r\n", b"\n"))
        if date is None:
            return None
        accepted = datetime.fromisoformat(date[1].decode("utf-8", "replace").replace("Z", "+00:00"))
        return late if accepted.timestamp() > moment else None
    except (OSError, ValueError):
        return "gone meanwhile, or with a date that nobody can read"
