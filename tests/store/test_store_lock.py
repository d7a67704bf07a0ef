"""Locks on folders: exclusive, shared, without leftovers, gone with their process."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store import lock as lock_module
from pytest_modelreg.store.lock import FolderLock, locked

HOLD = """
import sys, time
from pathlib import Path
from pytest_modelreg.store.lock import FolderLock
assert FolderLock.acquire(lock := FolderLock(Path(sys.argv[1]), shared=sys.argv[2] == "shared"), timeout_s=5)
print("held", flush=True)
time.sleep(60)
"""


def _hold(folder: Path, kind: str = "exclusive") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(folder), kind]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_other_process_is_waited_for_and_named(tmp_path: Path) -> None:
    """A folder that stays busy is a clear error with the folder, after the time limit."""
    process = _hold(tmp_path)
    try:
        started = time.monotonic()
        with (
            pytest.raises(GoldenError, match=r"held the folder for 0\.3 s") as caught,
            locked(tmp_path, timeout_s=0.3),
        ):
            pytest.fail("two processes hold one folder")
        assert 0.3 <= time.monotonic() - started < 5
        assert str(tmp_path) in str(caught.value)
    finally:
        process.kill()
        process.communicate()


def test_death_of_the_holder_frees_the_folder(tmp_path: Path) -> None:
    """A killed regeneration does not block the next one."""
    process = _hold(tmp_path)
    process.kill()
    process.communicate()
    with locked(tmp_path, timeout_s=1):
        pass


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """There is no lock file to commit by accident."""
    with locked(tmp_path):
        assert os.listdir(tmp_path) == []
    assert os.listdir(tmp_path) == []


def test_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    """A failing writer frees the folder in its own process too."""
    with pytest.raises(KeyError), locked(tmp_path):
        raise KeyError
    with locked(tmp_path, timeout_s=0):
        pass


def test_shares_exclude_only_the_exclusive(tmp_path: Path) -> None:
    """Workers of one run share its folder; a deleting run gets it only when all are gone."""
    process = _hold(tmp_path, "shared")
    try:
        share = FolderLock(tmp_path, shared=True)
        assert share.acquire(timeout_s=0)
        share.release()
        share.release()
        assert not FolderLock(tmp_path).acquire(timeout_s=0)
    finally:
        process.kill()
        process.communicate()
    exclusive = FolderLock(tmp_path)
    assert exclusive.acquire(timeout_s=1)
    exclusive.release()


def test_absent_folder(tmp_path: Path) -> None:
    """What does not exist cannot be locked."""
    with pytest.raises(FileNotFoundError), locked(tmp_path / "absent"):
        pass


def test_file_system_without_folder_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a directory cannot be locked (some network mounts) a file in the temporary folder stands in."""
    (tmp_path / "tmp").mkdir()
    folder = tmp_path / "golden"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    real = fcntl.flock

    def no_folders(descriptor: int, operation: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(9, "Bad file descriptor")
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", no_folders)
    with locked(folder):
        assert not FolderLock(folder).acquire(timeout_s=0)
    with locked(folder, timeout_s=0):
        assert os.listdir(folder) == []
    assert len(os.listdir(tmp_path / "tmp")) == 1


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> types.ModuleType:
    """The module as Windows loads it, over byte-range locks that behave like msvcrt's."""
    held: dict[int, tuple[tuple[int, int], int, int]] = {}

    def locking(descriptor: int, mode: int, length: int) -> None:
        file = (os.fstat(descriptor).st_dev, os.fstat(descriptor).st_ino)
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        for other, first, size in held.values():
            if other == file and first < start + length and start < first + size:
                raise OSError(13, "Permission denied")
        held[descriptor] = (file, start, length)

    real_close = os.close

    def close(descriptor: int) -> None:
        held.pop(descriptor, None)
        real_close(descriptor)

    msvcrt = types.ModuleType("msvcrt")
    msvcrt.locking = locking  # type: ignore[attr-defined]
    msvcrt.LK_NBLCK = 2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
    monkeypatch.setattr(os, "close", close)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spec = importlib.util.spec_from_file_location("lock_on_windows", lock_module.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "win32")
        spec.loader.exec_module(module)
    return module


def test_windows_shares_and_exclusives(windows: types.ModuleType, tmp_path: Path) -> None:
    """Byte ranges give the same rules: many shares, or one exclusive holder."""
    folder = tmp_path / "run"
    folder.mkdir()
    one, two = (windows.FolderLock(folder, shared=True) for _ in range(2))
    exclusive = windows.FolderLock(folder)
    assert one.acquire(timeout_s=0)
    assert two.acquire(timeout_s=0)
    assert not exclusive.acquire(timeout_s=0)
    one.release()
    assert not exclusive.acquire(timeout_s=0)
    two.release()
    assert exclusive.acquire(timeout_s=0)
    assert not one.acquire(timeout_s=0)
    exclusive.release()
    assert os.listdir(folder) == []
