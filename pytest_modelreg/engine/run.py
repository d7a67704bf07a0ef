"""A run as a whole: its id, its folder and what stays there, the project it runs in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.engine.kept_case import write_kept_case
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.store import RunFolder, write_measures, write_observation
from pytest_modelreg.store.case_folder import drop_case_folder, is_in_progress, keep_case_folder
from pytest_modelreg.store.run_folder import require_possible

PYTEST_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
"""Files that make their folder pytest's root folder by being there."""

PYTEST_SECTIONS = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
"""Files that make their folder pytest's root folder when they hold the section."""


PROJECT_MARKS = (".git", "golden", "modelreg.yaml", "setup.py")
"""What a project's folder holds; asked where no configuration file of pytest says which folder it is."""


def new_run_id() -> str:
    """Return an id for a run: a UTC timestamp to the microsecond, sortable by name."""
    return datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S-%fZ")


def open_run_folder(base: Path, run_id: str, *, chosen: Path | None = None) -> RunFolder:
    """Make the folder of a run: the chosen one, else ``<base>/.modelreg/runs/<run id>/``.

    Where a run before it was killed, what that one could not remove is removed now.
    """
    run = RunFolder.create(base / ".modelreg", run_id) if chosen is None else RunFolder.at(chosen)
    if run.followed_killed:
        from pytest_modelreg.engine.environments import remove_abandoned

        remove_abandoned(base)
    return run


def require_run_folder(base: Path, run_id: str, *, chosen: Path | None = None) -> None:
    """Say without making it whether :func:`open_run_folder` can.

    Raises
    ------
    RunFolderError
        When it cannot, naming the place.
    """
    require_possible(base / ".modelreg" / "runs" / run_id if chosen is None else chosen)


def settle(outcome: Outcome, *, keeps_outputs: bool = False) -> Outcome:
    """Keep in the run folder what somebody may want to look at, remove the arrays of a match.

    Until then its files are in a folder of this process alone.

    A disk that is full now does not change what was found before: it is a note.

    Parameters
    ----------
    keeps_outputs : bool
        Whether the arrays of a match are kept too.
    """
    folder, observation, result = outcome.observation_folder, outcome.observation, outcome.result
    if folder is None or observation is None or not is_in_progress(folder):
        return outcome  # nothing was observed, or this was settled before
    try:
        if result.verdict.passes and not keeps_outputs:
            drop_case_folder(folder)
        else:
            write_observation(folder, observation)
            write_kept_case(folder, outcome)
        if result.measures.ids:
            folder.mkdir(parents=True, exist_ok=True)
            write_measures(folder, result.measures)
        kept = keep_case_folder(folder) if folder.is_dir() else None
    except ModelRegError as error:
        return replace(outcome, result=replace(result, notes=(*result.notes, f"not kept: {error}")))
    return replace(outcome, observation_folder=kept)


def find_project_root(start: Path) -> Path:
    """Return the folder that a run, started in ``start``, would take for its project.

    Commands find modules and goldens as the plugin does, wherever below the project
    they are typed: pytest's root folder where a configuration file says which that is,
    else as :func:`find_marked_folder`.
    """
    start = start.absolute()
    candidates = [start, *start.parents]
    for folder in candidates:
        if any((folder / name).is_file() for name in PYTEST_FILES):
            return folder
        if any(_holds(folder / name, section) for name, section in PYTEST_SECTIONS.items()):
            return folder
    for folder in candidates:
        if (folder / "pyproject.toml").is_file():
            return folder
    return find_marked_folder(start) or start


def find_marked_folder(start: Path) -> Path | None:
    """Return the nearest folder, from ``start`` upwards, that holds one of :data:`PROJECT_MARKS`."""
    return next(
        (
            folder
            for folder in (start, *start.parents)
            if any((folder / mark).exists() for mark in PROJECT_MARKS)
        ),
        None,
    )


def _holds(path: Path, section: str) -> bool:
    try:
        return section in path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
