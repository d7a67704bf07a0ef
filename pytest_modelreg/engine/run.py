"""A run as a whole: its id, its folder and what stays there, the project it runs in."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.store import RunFolder, write_measures, write_observation

PYTEST_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
"""Files that make their folder pytest's root folder by being there."""

PYTEST_SECTIONS = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
"""Files that make their folder pytest's root folder when they hold the section."""


def new_run_id() -> str:
    """Return an id for a run: a UTC timestamp to the microsecond, sortable by name."""
    return datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S-%fZ")


def open_run_folder(base: Path, run_id: str, *, chosen: Path | None = None) -> RunFolder:
    """Make the folder of a run: the chosen one, else ``<base>/.modelreg/runs/<run id>/``."""
    return RunFolder.create(base / ".modelreg", run_id) if chosen is None else RunFolder.at(chosen)


def settle(outcome: Outcome) -> Outcome:
    """Keep in the run folder what somebody may want to look at, remove the arrays of a match.

    A disk that is full now does not change what was found before: it is a note.
    """
    folder, observation, result = outcome.observation_folder, outcome.observation, outcome.result
    if folder is None or observation is None or not folder.is_dir():
        return outcome  # nothing was observed, or this was settled before
    try:
        if result.verdict.passes:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            write_observation(folder, observation)
        if result.measures.ids:
            folder.mkdir(parents=True, exist_ok=True)
            write_measures(folder, result.measures)
    except ModelRegError as error:
        return replace(outcome, result=replace(result, notes=(*result.notes, f"not kept: {error}")))
    return outcome


def find_project_root(start: Path) -> Path:
    """Return the folder that pytest, started in ``start``, would call its root folder.

    Commands find modules and goldens as the plugin does, wherever below the project
    they are typed.
    """
    start = start.absolute()
    candidates = [start, *start.parents]
    for folder in candidates:
        if any((folder / name).is_file() for name in PYTEST_FILES):
            return folder
        if any(_holds(folder / name, section) for name, section in PYTEST_SECTIONS.items()):
            return folder
    for name in ("setup.py", "pyproject.toml"):
        for folder in candidates:
            if (folder / name).is_file():
                return folder
    return start


def _holds(path: Path, section: str) -> bool:
    try:
        return section in path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
