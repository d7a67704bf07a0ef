"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pytest_modelreg.store.durable_file import copy_synced, replace_atomically, sync_folder
from pytest_modelreg.store.file_digest import file_digest


def test_failed_replacement_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves the old bytes and no temporary file."""
    path = tmp_path / "samples.csv"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["samples.csv"]


def test_copy_returns_the_digest_of_what_was_written(tmp_path: Path) -> None:
    """A copy over several chunks is verified while it is made."""
    (tmp_path / "a").write_bytes(os.urandom(3 << 20))
    assert copy_synced(tmp_path / "a", tmp_path / "b") == file_digest(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").stat().st_ino != (tmp_path / "b").stat().st_ino


@pytest.mark.parametrize(("code", "raises"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_folder_that_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, raises: bool
) -> None:
    """A file system that does not sync folders is no fault; a broken disk is."""

    def refuse(descriptor: int) -> None:
        raise OSError(code, "refused")

    monkeypatch.setattr(os, "fsync", refuse)
    if raises:
        with pytest.raises(OSError, match="refused"):
            sync_folder(tmp_path)
    else:
        sync_folder(tmp_path)
