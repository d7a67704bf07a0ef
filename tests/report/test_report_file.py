"""Writing a report: what is at its path already decides how."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.report import write_report


def test_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    """A report in a folder of links, as CI lays them out, must not cut the link."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "report.json"
    link.symlink_to(tmp_path / "real" / "report.json")
    for text in ("one", "two"):  # also before the target is there
        write_report(text, link)
        assert link.is_symlink()
        assert (tmp_path / "real" / "report.json").read_text(encoding="utf-8") == text
    assert os.listdir(tmp_path / "real") == ["report.json"]


def test_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    """What reads a pipe gets the report; a device would be lost to the whole machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    text = "x" * 300_000  # more than a pipe holds
    for _ in range(500):
        try:
            write_report(text, pipe)
            break
        except UsageFault:  # the reader has not opened it yet
            threading.Event().wait(0.01)
    reader.join(timeout=10)
    assert read == [text]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_link_to_a_pipe_is_followed(tmp_path: Path) -> None:
    """Neither the link nor the pipe is replaced; without a reader there is an error, no waiting."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with pytest.raises(UsageFault, match="nobody reads this pipe"):
        write_report("x", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_folder_is_refused(tmp_path: Path) -> None:
    """A folder is no file, and keeps what it holds."""
    with pytest.raises(UsageFault, match="cannot be written here"):
        write_report("x", tmp_path)
    assert not os.listdir(tmp_path)
