"""Which suites a change concerns, each with the reasons.

What belongs here: the order of reasons, and putting them together. Each sort of reason has a module.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_modelreg.engine.change.changed_files import ChangedFiles
from pytest_modelreg.engine.change.code import CodeChanges
from pytest_modelreg.engine.change.data_files import DataChanges
from pytest_modelreg.engine.change.declared_files import explain_declared_files
from pytest_modelreg.engine.change.dependencies import DependencyChanges
from pytest_modelreg.engine.change.repository import Repository, open_repository
from pytest_modelreg.engine.change.revision import find_fork
from pytest_modelreg.engine.change.suite_code import CodeReader
from pytest_modelreg.engine.outcome import case_folder
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.verification import GOLDEN_FOLDER
from pytest_modelreg.store import pin_path


@dataclass(frozen=True, kw_only=True)
class ChangedSuite:
    """A suite, and what of it changed.

    Parameters
    ----------
    suite : Suite
        One of those that were asked about.
    reasons : tuple of str
        A line each; empty when nothing of it changed.
    """

    suite: Suite
    reasons: tuple[str, ...]


def select_changed(suites: Sequence[Suite], *, base: str, root: Path) -> tuple[ChangedSuite, ...]:
    """Return what changed of each suite since HEAD left a revision, in the order of the suites.

    The working tree as it is counts: commits, staged and other changes, and new files that git does
    not ignore. No code of a suite is imported.

    Parameters
    ----------
    suites : sequence of Suite
        Suites that were read from their files.
    base : str
        A branch, tag or commit: ``origin/main``.
    root : Path
        The project's folder, in a git repository or at its top; reasons name files relative to it.

    Raises
    ------
    UsageFault
        Outside of git or without it, and when the revision is unknown, ambiguous, or beyond what a
        shallow clone has.
    """
    repository = open_repository(root)
    fork = find_fork(repository, base)
    changed = repository.list_changes(fork, root)
    blind = _find_unseen(suites, repository, changed)
    reader = CodeReader(changed)
    goldens = [root / GOLDEN_FOLDER, *(case_folder(suite, suite.cases[0]).parent for suite in suites)]
    places = [suite.samples.place for suite in suites]
    pins = [pin_path(place) for place, suite in zip(places, suites, strict=True) if suite.samples.rows]
    taken = {changed.resolve(str(place)) for place in [*goldens, *places, *pins]}
    code_changes = CodeChanges(changed)
    data_changes = DataChanges(changed, taken=taken, listings=reader.listings)
    dependencies = DependencyChanges(changed, partial(repository.read, fork))
    found = []
    for suite in suites:
        code = reader.read(suite)
        reasons = [
            *blind.get(suite.file, ()),
            *explain_declared_files(suite, changed),
            *code_changes.explain(code),
            *data_changes.explain(code),
            *dependencies.explain(suite),
        ]
        found.append(ChangedSuite(suite=suite, reasons=tuple(reasons)))
    return tuple(found)


def _find_unseen(
    suites: Sequence[Suite], repository: Repository, changed: ChangedFiles
) -> dict[Path, tuple[str, ...]]:
    """Return why git cannot tell what changed of a suite, for those of which it cannot."""
    real = {suite.file: os.path.realpath(suite.file) for suite in suites}
    inside = {file: path for file, path in real.items() if changed.is_inside(path)}
    tracked = repository.find_tracked(inside.values())
    unseen: dict[Path, tuple[str, ...]] = {}
    for file, path in real.items():
        if file not in inside:
            unseen[file] = (f"outside of the git repository {repository.top}: what changed is not known",)
        elif path not in tracked and changed.find(path) is None:
            unseen[file] = ("the suite file is ignored by git: what changed is not known",)
    return unseen
