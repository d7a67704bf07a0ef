"""The temporary folder of a search: gone at its end, and what a killed one left goes with the next."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from pytest_modelreg.engine.bisection.scratch import PREFIX, scratch_folder
from pytest_modelreg.store import RunFolder


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A temporary folder of its own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def make(temporary: Path, name: str, *, age_s: float) -> Path:
    """Make what a killed search leaves."""
    folder = temporary / name
    (folder / "run" / "case").mkdir(parents=True)
    then = time.time() - age_s
    os.utime(folder, (then, then))
    return folder


def test_nothing_is_left_at_the_end(temporary):
    """Whatever was kept in it."""
    with scratch_folder() as folder, RunFolder.at(folder) as run:
        run.case_folder("a")
        assert len(os.listdir(temporary)) == 1
    assert os.listdir(temporary) == []


def test_what_a_killed_search_left_is_removed_by_the_next(temporary):
    """Also where it was killed before it began; what only begins alike stays."""
    make(temporary, f"{PREFIX}a", age_s=3600)
    (temporary / f"{PREFIX}b").mkdir()
    os.utime(temporary / f"{PREFIX}b", (0, 0))
    make(temporary, "modelreg-other", age_s=3600)
    with scratch_folder():
        pass
    assert os.listdir(temporary) == ["modelreg-other"]


def test_what_another_search_works_in_stays(temporary):
    """It holds its run folder; one that was made just now does not hold it yet."""
    held = make(temporary, f"{PREFIX}a", age_s=3600)
    young = make(temporary, f"{PREFIX}b", age_s=0)
    with RunFolder.at(held / "run"), scratch_folder():
        assert (held / "run" / "case").exists()
        assert young.exists()
