"""What killed sessions left: found by whoever comes next, and nothing that is in use."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_modelreg.engine.environments.abandoned import remove_abandoned, sweep_abandoned_builds
from pytest_modelreg.engine.run import open_run_folder
from pytest_modelreg.store import locked

from .conftest import hold, kill


def make_builds(cache: Path, digest: str, *names: str, record: object = None) -> Path:
    """Make builds of an environment, and the record of one that is complete."""
    folder = cache / "environments" / digest
    for name in names:
        (folder / name / "lib").mkdir(parents=True)
    if record is not None:
        (folder / "complete.json").write_text(json.dumps(record))
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The user's cache."""
    monkeypatch.setenv("MODELREG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_half_built_environments_are_removed(cache) -> None:
    """With what was unpacked for them; the folder stays, for its lock may be waited for."""
    folder = make_builds(cache, "aa", "0123abcd", "0123abcd.tmp")
    sweep_abandoned_builds(cache)
    assert os.listdir(folder) == []


def test_a_complete_environment_stays_and_what_is_beside_it_goes(cache) -> None:
    """A kill between the record and the removal of what was unpacked."""
    folder = make_builds(cache, "aa", "0123abcd", "0123abcd.tmp", record={"build": "0123abcd"})
    sweep_abandoned_builds(cache)
    assert sorted(os.listdir(folder)) == ["0123abcd", "complete.json"]


@pytest.mark.parametrize("record", ["", [], {"format": 2}])
def test_beside_a_record_that_says_something_else_all_stays(cache, record) -> None:
    """Another version of this package may keep its environments here too."""
    folder = make_builds(cache, "aa", "0123abcd", record=record)
    sweep_abandoned_builds(cache)
    assert (folder / "0123abcd").exists()


def test_what_somebody_builds_stays(cache) -> None:
    """He holds the folder; the user's own things are not looked at."""
    folder = make_builds(cache, "aa", "0123abcd", "mine")
    with locked(folder):
        sweep_abandoned_builds(cache)
        assert (folder / "0123abcd").exists()
    sweep_abandoned_builds(cache)
    assert os.listdir(folder) == ["mine"]


def test_where_nothing_was_built_nothing_happens(cache, tmp_path) -> None:
    """No cache, and no repository."""
    remove_abandoned(tmp_path)
    assert not cache.exists()


def test_the_run_after_a_killed_one_removes_what_is_elsewhere(repository, cache) -> None:
    """Whatever that run is about: a worktree of its repository, a half-built environment."""
    process, left = hold(repository)
    folder = make_builds(cache, "aa", "0123abcd")
    work = repository.path / ".modelreg/runs/20260101T000000-000000Z/.work-1-0123abcd"
    work.mkdir(parents=True)
    open_run_folder(repository.path, "20260102T000000-000000Z").close()
    assert left.exists(), "it is in use"
    assert os.listdir(folder) == []
    kill(process)
    work.mkdir(parents=True)
    open_run_folder(repository.path, "20260103T000000-000000Z").close()
    assert not left.parent.exists()
    assert repository.left() == []


def test_a_run_after_one_that_ended_looks_nowhere(repository, cache) -> None:
    """Git and the cache are asked only where there is reason to."""
    folder = make_builds(cache, "aa", "0123abcd")
    open_run_folder(repository.path, "20260102T000000-000000Z").close()
    open_run_folder(repository.path, "20260103T000000-000000Z").close()
    assert os.listdir(folder) == ["0123abcd"]
