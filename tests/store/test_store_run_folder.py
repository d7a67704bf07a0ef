"""Run folders: where they are, and that only old unused ones go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import RunFolderError
from pytest_modelreg.store import RunFolder
from pytest_modelreg.store import run_folder as run_folder_module
from pytest_modelreg.store.case_folder import keep_case_folder


def _runs(base: Path) -> list[str]:
    return sorted(os.listdir(base / "runs"))


def _make(base: Path, *names: str) -> None:
    for name in names:
        (base / "runs" / name / "case").mkdir(parents=True)
        (base / "runs" / name / "case" / "outputs.npy").write_bytes(b"x")


def test_places(tmp_path: Path) -> None:
    """A case's files lie under its run and its id; git ignores the whole folder."""
    base = tmp_path / ".modelreg"
    with RunFolder.create(base, "20260131T120000-000000Z") as run:
        assert run.folder == base / "runs" / "20260131T120000-000000Z"
        folder = run.case_folder("photos[fast-onnx]")
        assert folder.is_dir()
        assert keep_case_folder(folder) == run.folder / "photos[fast-onnx]"
    assert (base / ".gitignore").read_text() == "*\n"


def test_case_id_stays_inside(tmp_path: Path) -> None:
    """A case id with separators is one folder below the run."""
    with RunFolder.create(tmp_path, "20260131T120000-000000Z") as run:
        assert keep_case_folder(run.case_folder("../../x[y]")).parent == run.folder


def test_last_ten_runs_are_kept(tmp_path: Path) -> None:
    """The eleventh run deletes the first."""
    names = [f"202601{day:02d}T000000-000000Z" for day in range(1, 13)]
    _make(tmp_path, *names[:11])
    with RunFolder.create(tmp_path, names[11]):
        assert _runs(tmp_path) == names[2:]


def test_ten_runs_are_not_too_many(tmp_path: Path) -> None:
    """Just inside: the tenth run deletes nothing."""
    names = [f"202601{day:02d}T000000-000000Z" for day in range(1, 11)]
    _make(tmp_path, *names[:9])
    with RunFolder.create(tmp_path, names[9]):
        assert _runs(tmp_path) == names


def test_younger_runs_are_never_deleted(tmp_path: Path) -> None:
    """A run that started later, or under another clock, is not this one's to delete."""
    younger = [f"202602{day:02d}T000000-000000Z" for day in range(1, 13)]
    _make(tmp_path, "20260101T000000-000000Z", *younger)
    with RunFolder.create(tmp_path, "20260102T000000-000000Z"):
        assert _runs(tmp_path) == ["20260102T000000-000000Z", *younger]


def test_run_in_use_is_not_deleted(tmp_path: Path) -> None:
    """A run whose process lives keeps its folder, and loses it once the process is gone."""
    script = (
        "import sys, time; from pathlib import Path; from pytest_modelreg.store import RunFolder\n"
        "run = RunFolder.create(Path(sys.argv[1]), '20260101T000000-000000Z'); print('up', flush=True)\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    _make(tmp_path, *(f"202601{day:02d}T000000-000000Z" for day in range(2, 13)))
    try:
        RunFolder.create(tmp_path, "20260201T000000-000000Z").close()
        assert "20260101T000000-000000Z" in _runs(tmp_path)
    finally:
        process.kill()
        process.communicate()
    RunFolder.create(tmp_path, "20260202T000000-000000Z").close()
    assert "20260101T000000-000000Z" not in _runs(tmp_path)


def test_workers_share_a_run(tmp_path: Path) -> None:
    """Several processes of one run hold its folder at once."""
    with (
        RunFolder.create(tmp_path, "20260131T120000-000000Z") as one,
        RunFolder.create(tmp_path, "20260131T120000-000000Z") as two,
    ):
        assert one.folder == two.folder


def test_what_is_not_a_run_stays(tmp_path: Path) -> None:
    """A downloaded folder under another name, one that only begins like a run, and a link are left alone."""
    others = {"from-ci", "20260101-before-the-migration", "2026-01-01T000000Z", "20260101T000000Z"}
    _make(tmp_path, *others, *(f"202601{day:02d}T000000-000000Z" for day in range(1, 13)))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs" / "20250101T000000-000000Z").symlink_to(tmp_path / "elsewhere")
    with RunFolder.create(tmp_path, "20260201T000000-000000Z"):
        assert {*others, "20250101T000000-000000Z"} <= set(_runs(tmp_path))
        assert "20260101T000000-000000Z" not in _runs(tmp_path)


def test_entry_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run that deletes the same old folders at the same time is no fault."""
    _make(tmp_path, *(f"202601{day:02d}T000000-000000Z" for day in range(1, 13)))
    real = run_folder_module._delete_unused

    def vanish_first(folder: Path) -> None:
        real(folder)
        real(folder)

    monkeypatch.setattr(run_folder_module, "_delete_unused", vanish_first)
    with RunFolder.create(tmp_path, "20260201T000000-000000Z"):
        assert len(_runs(tmp_path)) == 10


def test_chosen_folder_has_no_retention(tmp_path: Path) -> None:
    """--modelreg-run-dir uses a folder of the user's and touches nothing beside it."""
    _make(tmp_path, *(f"202601{day:02d}T000000-000000Z" for day in range(1, 13)))
    with RunFolder.at(tmp_path / "runs" / "mine") as run:
        assert run.case_folder("a[b]").is_dir()
    assert len(_runs(tmp_path)) == 13
    assert not (tmp_path / ".gitignore").exists()


def test_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without access the folder is named; which flag chooses another place is the command's to say."""

    def refuse(self: Path, *args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        with pytest.raises(RunFolderError, match=r"x: the run folder cannot be made: Permission.*access$"):
            RunFolder.at(tmp_path / "x")


@pytest.mark.parametrize("place", [".modelreg", ".modelreg/runs", ".modelreg/runs/20260131T120000-000000Z"])
def test_file_where_the_run_folder_should_be(tmp_path: Path, place: str) -> None:
    """One line names the file in the way and says what to do, at whichever level it is."""
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")
    with pytest.raises(RunFolderError) as caught:
        RunFolder.create(tmp_path / ".modelreg", "20260131T120000-000000Z")
    message = str(caught.value)
    assert message.endswith(f"expected a folder at {file}, got a file; move it away")
    assert "\n" not in message


def test_chosen_folder_that_is_a_file(tmp_path: Path) -> None:
    """--modelreg-run-dir that names a file is a fault of the command, with the file."""
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(RunFolderError, match=r"expected a folder at .*x, got a file"):
        RunFolder.at(tmp_path / "x")


def test_case_folder_that_is_a_file(tmp_path: Path) -> None:
    """What stands where a case's folder should be is named too."""
    with RunFolder.at(tmp_path / "run") as run:
        run.work_folder.write_bytes(b"")
        with pytest.raises(RunFolderError, match=r"the folder of the case cannot be made: expected a folder"):
            run.case_folder("a[b]")


def test_asking_whether_a_folder_can_be_made_makes_none(tmp_path: Path) -> None:
    """A controller that runs no case leaves no folder."""
    run_folder_module.require_possible(tmp_path / ".modelreg" / "runs" / "x")
    assert not list(tmp_path.iterdir())
    (tmp_path / ".modelreg").write_bytes(b"")
    with pytest.raises(RunFolderError, match=r"expected a folder at .*\.modelreg, got a file"):
        run_folder_module.require_possible(tmp_path / ".modelreg" / "runs" / "x")


HOLD = """
import sys
from collections.abc import Iterator
from pathlib import Path
from pytest_modelreg.store import RunFolder
run = RunFolder.create(Path(sys.argv[1]), sys.argv[2])
(run.case_folder("toy") / "outputs.npy").write_bytes(b"x")
print(run.work_folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A run that is in the middle of a case: its process and the folder that it works in."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), "20260101T000000-000000Z"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.communicate()


def test_what_a_killed_run_worked_in_is_removed_by_the_next(
    tmp_path: Path, held: tuple[subprocess.Popen[str], Path]
) -> None:
    """What it had kept for people stays, and whoever comes knows that there may be more elsewhere."""
    process, work = held
    (work.parent / "toy[a]").mkdir()
    process.kill()
    process.communicate()
    assert (work / "cases" / "toy" / "outputs.npy").exists()
    with RunFolder.create(tmp_path, "20260102T000000-000000Z") as run:
        assert run.followed_killed
    assert os.listdir(work.parent) == ["toy[a]"]
    with RunFolder.create(tmp_path, "20260103T000000-000000Z") as run:
        assert not run.followed_killed


def test_what_a_living_run_works_in_stays(tmp_path: Path, held: tuple[subprocess.Popen[str], Path]) -> None:
    """Also where another run, or a second process of the same one, starts beside it."""
    _, work = held
    for name in ("20260102T000000-000000Z", "20260101T000000-000000Z"):
        with RunFolder.create(tmp_path, name) as run:
            assert not run.followed_killed
    with RunFolder.at(work.parent) as run:
        assert not run.followed_killed
    assert (work / "cases" / "toy" / "outputs.npy").exists()


def test_a_chosen_folder_is_cleared_of_what_a_killed_run_worked_in(
    tmp_path: Path, held: tuple[subprocess.Popen[str], Path]
) -> None:
    """And of nothing else that begins like it, or lies in a folder that is not a run's."""
    process, work = held
    process.kill()
    process.communicate()
    (work.parent / ".work-of-mine").mkdir()
    (tmp_path / "runs" / "other" / work.name).mkdir(parents=True)
    with RunFolder.at(work.parent) as run:
        assert run.followed_killed
    assert os.listdir(work.parent) == [".work-of-mine"]
    RunFolder.create(tmp_path, "20260103T000000-000000Z").close()
    assert (tmp_path / "runs" / "other" / work.name).exists()
