"""Goldens and sample sets held against their own records: no model, no code of the user's.

What belongs here: what there is to verify below a project, suite or folder, and the faults
of it. How one golden or one sample set is verified is ``store``'s; how faults are shown is
the command's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pytest_modelreg.domain.errors import FaultsError, GoldenError, UsageFault
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.engine.run import find_project_root
from pytest_modelreg.engine.selection import holds_suites, select_cases
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.suite_loading import load_suites
from pytest_modelreg.store import (
    find_attributes_fault,
    golden_folder,
    is_row_file,
    open_output,
    pin_rows,
    read_golden,
    read_sample_set,
    safe_component,
    survey_goldens,
    verify_files,
)
from pytest_modelreg.store.sample_table import SAMPLES_FILE

GOLDEN_FOLDER = "golden"
"""Where the goldens of Python tests are, below the project's root."""

_MAX_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What was verified, and what does not hold.

    Parameters
    ----------
    n_goldens, n_sample_sets, n_samples : int
        How many were looked at; samples of sets that hold.
    n_faulty : int
        Goldens and sample sets with a fault.
    faults : tuple of str
        A line each: path, what, what to do.
    unrecorded : tuple of str
        Ids of cases that keep a golden and have none.
    """

    n_goldens: int = 0
    n_sample_sets: int = 0
    n_samples: int = 0
    n_faulty: int = 0
    faults: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()


@dataclass
class _Scope:
    """What is to be verified: sets of places, in the order in which they were named."""

    suites: dict[Path, Suite] = field(default_factory=dict)
    goldens: dict[Path, Path] = field(default_factory=dict)
    """Folder to look below, and the golden root that links must not leave."""
    sample_sets: dict[SampleSet, None] = field(default_factory=dict)
    row_files: dict[Path, None] = field(default_factory=dict)
    """Files with rows that were named themselves: what a suite says of their columns is not looked at."""

    def add_suites(self, suites: Iterable[Suite]) -> None:
        for suite in suites:
            self.suites[suite.file] = suite
            self.sample_sets[suite.samples] = None
            self.goldens[suite.golden_root / safe_component(suite.name)] = suite.golden_root


def verify_goldens(targets: Sequence[str], base: Path) -> Verification:
    """Verify every golden and sample set that the words name.

    Parameters
    ----------
    targets : sequence of str
        Suite files and suite names; folders with suites at or below them, or else with
        goldens at or below them or a sample set; files with rows. None means the whole project around
        ``base``. The goldens of cases that are gone from a suite file are verified too,
        and so are those of the Python tests of a folder with suites.
    base : Path
        Where the command was typed.

    Raises
    ------
    SuiteFileError
        With the faults of the suite files that were meant.
    UsageFault
        When a word names nothing, or there is nothing to verify.
    """
    root = find_project_root(base)
    scope = _take_targets(targets or [str(root)], base, root)
    found = _verify(scope)
    if not found.faults and not found.n_goldens and (scope.suites or not found.n_sample_sets):
        raise UsageFault(_describe_nothing(targets, base, root, scope))
    return found


def _take_targets(targets: Sequence[str], base: Path, root: Path) -> _Scope:
    scope = _Scope()
    words: list[str] = []
    for target in targets:
        path = Path(os.path.abspath(base / target))
        if is_row_file(path) and path.is_file():
            scope.row_files[path] = None
            continue
        if path.is_dir():
            _add_folder(scope, path, root)
        if not path.is_dir() or (not holds_suites(path) and _names_a_suite(target, base)):
            words.append(target)  # a folder of samples is often called like its suite: both are meant
    if words:
        scope.add_suites(suite for suite, _ in select_cases(words, base))
    return scope


def _names_a_suite(word: str, base: Path) -> bool:
    try:
        return bool(select_cases([word], base))
    except (UsageFault, FaultsError):
        return False  # the folder is what was meant, whatever a suite file elsewhere says


def _add_folder(scope: _Scope, path: Path, root: Path) -> None:
    suites = load_suites(find_suites([path], ignored=_none), rootdir=root)
    scope.add_suites(suites)
    inside = path / GOLDEN_FOLDER  # of Python tests, and of suites that are gone
    if inside.is_dir():
        scope.goldens[inside] = inside
    elif not suites:
        scope.goldens[path] = path
    if (path / SAMPLES_FILE).is_file():
        scope.sample_sets[SampleSet(folder=str(path), samples=())] = None


def _verify(scope: _Scope) -> Verification:
    faults: dict[str, None] = {}
    n_faulty = n_samples = 0
    folders: dict[str, tuple[Path, Path]] = {}
    for place, golden_root in scope.goldens.items():
        tree = survey_goldens(place, golden_root=golden_root)
        if tree.folders or place != golden_root:  # links and the like in any other folder are its own matter
            faults.update(dict.fromkeys(tree.faults))
        faults.update(dict.fromkeys(map(_describe_remains, tree.remains)))
        for folder in tree.folders:
            folders.setdefault(os.path.realpath(folder), (folder, golden_root))
    for folder, golden_root in folders.values():
        found = list(_find_golden_faults(folder, golden_root))
        n_faulty += bool(found)
        faults.update(dict.fromkeys(found))
    counts = [
        *(partial(_count_samples, declared) for declared in scope.sample_sets),
        *(partial(_count_rows, path) for path in scope.row_files),
    ]
    for count in counts:
        try:
            n_samples += count()
        except FaultsError as error:
            n_faulty += 1
            faults.update(dict.fromkeys(map(str, error.faults)))
    unrecorded: list[str] = []
    for case, place, golden_root in _find_absent(scope.suites.values(), folders):
        try:
            read_golden(place, golden_root=golden_root)
        except GoldenError as error:  # there is one, and not here: DVC has a whole folder
            faults.update(dict.fromkeys(str(error).splitlines()))
        else:
            unrecorded.append(case)
    return Verification(
        n_goldens=len(folders),
        n_sample_sets=len(counts),
        n_samples=n_samples,
        n_faulty=n_faulty,
        faults=tuple(faults),
        unrecorded=tuple(unrecorded),
    )


def _count_samples(declared: SampleSet) -> int:
    return len(read_sample_set(declared).samples)


def _count_rows(path: Path) -> int:
    return pin_rows(path, check=True).n_samples


def _find_golden_faults(folder: Path, golden_root: Path) -> Iterator[str]:
    """Yield what is wrong with one golden, a line each."""
    try:
        if (fault := find_attributes_fault(folder)) is not None:
            yield fault
        golden = read_golden(folder, golden_root=golden_root)
        if golden is None:  # removed since it was listed
            yield f"{folder}: expected the golden that was here a moment ago; verify again"
            return
        verify_files(folder, golden)
        for record in golden.observation.outputs.values():
            open_output(folder, record)  # a record that says another dtype or shape than the file
    except GoldenError as error:
        yield from str(error).splitlines()


def _describe_remains(folder: Path) -> str:
    names = sorted(path.name for path in folder.glob("*.npy"))
    named = ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")
    return (
        f"{folder}: expected golden.json beside {named}, got none; restore it from version control, record "
        "the golden with `modelreg regen`, or remove the files"
    )


def _find_absent(suites: Iterable[Suite], folders: Iterable[str]) -> Iterator[tuple[str, Path, Path]]:
    """Yield id, place and golden root of cases without a golden, at its own place or in a folder below it."""
    known = list(folders)
    for suite in suites:
        for case in suite.cases:
            place = golden_folder(suite.golden_root, suite.name, case.variant)
            real = os.path.realpath(place)
            inside = real + os.sep
            if case.keeps_golden and not any(path == real or path.startswith(inside) for path in known):
                yield case.id, place, suite.golden_root


def _describe_nothing(targets: Sequence[str], base: Path, root: Path, scope: _Scope) -> str:
    where = ", ".join(targets) or os.path.relpath(root, base)
    if scope.suites:
        ids = ", ".join(case.id for suite in scope.suites.values() for case in suite.cases[:1])
        return f"{where}: expected goldens to verify, found none; record them with `modelreg regen` ({ids})"
    return (
        f"{where}: expected suites, goldens or a sample set to verify, found none;"
        " name a suite, a golden folder or a sample set, or write a first suite with `modelreg init`"
    )


def _none(path: Path) -> bool:
    """Pass over nothing that discovery would look into."""
    return False
