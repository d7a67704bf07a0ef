"""The folder of a case: private while in progress, then the run's."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.store import RunFolder
from pytest_modelreg.store.case_folder import drop_case_folder, is_in_progress, keep_case_folder


@pytest.fixture
def two(tmp_path: Path):
    """Two processes' views of one run folder."""
    with RunFolder.at(tmp_path / "run") as one, RunFolder.at(tmp_path / "run") as other:
        yield one, other


def test_cases_of_two_processes_do_not_meet(two) -> None:
    """The same case in two processes of one run has two folders until it is settled."""
    folders = [run.case_folder("a[b]") for run in two]
    assert folders[0] != folders[1]
    for folder, text in zip(folders, "xy", strict=True):
        (folder / f"{text}.npy").write_text(text)
    places = [keep_case_folder(folder) for folder in folders]
    assert places == [two[0].folder / "a[b]"] * 2
    assert [path.name for path in places[0].iterdir()] == ["y.npy"]
    assert not any(map(is_in_progress, folders))


def test_try_of_a_case_starts_empty(two) -> None:
    """What an earlier try left is not taken for this one's."""
    (two[0].case_folder("a[b]") / "old.npy").write_text("")
    assert list(two[0].case_folder("a[b]").iterdir()) == []


def test_dropping_removes_what_an_earlier_try_kept(two) -> None:
    """A case that matches in the end leaves nothing of its drift."""
    run = two[0]
    place = keep_case_folder(run.case_folder("a[b]"))
    assert place.is_dir()
    drop_case_folder(run.case_folder("a[b]"))
    assert not place.exists()


def test_file_in_the_place_of_a_case_makes_way(two) -> None:
    """What stands where a case's folder goes is replaced: the run folder is ours."""
    (two[0].folder / "a[b]").write_bytes(b"")
    assert keep_case_folder(two[0].case_folder("a[b]")).is_dir()


def test_other_folders_are_left_where_they_are(tmp_path: Path) -> None:
    """A folder that somebody else handed over is not moved."""
    assert not is_in_progress(tmp_path)
    assert keep_case_folder(tmp_path) == tmp_path
