"""A fault at every step of a regeneration: old or new, whole, and the next run cleans up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.store.small_golden import REPOSITORY, observe_value
from tests.store.write_faults import (
    FAULTS,
    fault_at,
    kill_at_every_point,
    try_every_point,
)

LIMITED = """
import resource, signal, sys
from pathlib import Path
from tests.store.small_golden import observe_value

folder, scratch, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
write = observe_value(scratch, 2, n_rows=50)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
write(folder)
"""

CRAMPED = """
import os, sys
from pathlib import Path
from pytest_modelreg.domain.errors import GoldenError
from tests.store.small_golden import observe_value, read_value

folder, scratch = Path("/mnt/golden/s/reference"), Path(sys.argv[1])
observe_value(scratch, 1, n_rows=50)(folder)
before = sorted(os.listdir(folder))
try:
    observe_value(scratch, 2, n_rows=50)(folder)
except GoldenError as error:
    sys.stdout.write(str(error))
assert read_value(folder) == 1 and sorted(os.listdir(folder)) == before
observe_value(scratch, 3)(folder)
assert read_value(folder) == 3
"""

MIN_POINTS = 20
"""Steps of a regeneration are counted, so that a step that is no longer seen is noticed."""


@pytest.mark.parametrize("replacing", [False, True], ids=["first golden", "replacing"])
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_at_every_step(tmp_path: Path, fault: str, replacing: bool) -> None:
    """Wherever disk or user step in, the golden is the old one or the new one, whole, and heals."""
    fail, lasting = FAULTS[fault]
    tally = try_every_point(tmp_path, fail, lasting=lasting, replacing=replacing)
    assert tally.n_points >= MIN_POINTS
    assert tally.n_old
    assert tally.n_new
    assert {"open", "write", "fsync", "replace"} <= tally.steps.keys()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_at_every_step(tmp_path: Path) -> None:
    """SIGKILL before each step leaves what a fault there leaves."""
    tally = kill_at_every_point(tmp_path)
    assert tally.n_points >= MIN_POINTS
    assert tally.n_old
    assert tally.n_new


def test_every_file_is_synced_before_it_gets_its_name(tmp_path: Path) -> None:
    """No rename can reach the disk before the bytes; the folder is synced before and after the commit."""
    write = observe_value(tmp_path / "scratch", 1)
    with fault_at(0, lambda: None) as steps:
        write(tmp_path / "s" / "reference")
    file = ["open", "write", "fsync", "replace"]
    steps = [step for step in steps if step not in ("mkdir", "unlink")]
    # Arrays, table, attributes; the folder; the commit; the folder; the table's last name; the folder.
    assert steps[:-1] == [*file * 5, "fsync", *file, "fsync", "replace", "fsync"]
    assert steps[-1] == "replace", "the look for a table that a failure left under its content name"


def _run(code: str, *arguments: str, prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    command = [*prefix, sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("limit", [0, 1000, 20_000, 40_000])
def test_files_that_cannot_grow(tmp_path: Path, limit: int) -> None:
    """A real write that stops half-way (a quota): the old golden stays, the message says why."""
    folder, scratch = tmp_path / "s" / "reference", tmp_path / "scratch"
    observe_value(scratch, 1, n_rows=50)(folder)
    observe_value(scratch, 2, n_rows=50)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = _run(LIMITED, str(folder), str(scratch), str(limit))
    assert done.returncode != 0
    assert "the golden cannot be written: File too large" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def _small_disk() -> list[str] | None:
    """Return a command that runs the rest of its words with 256 KiB at /mnt, None without the right to."""
    if shutil.which("unshare") is None:
        return None
    mount = "mount -t tmpfs -o size=256k none /mnt"
    prefix = ["unshare", "-rm", "sh", "-c", mount + ' && exec "$@"', "sh"]
    return (
        prefix
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
        else None
    )


def test_full_disk(tmp_path: Path) -> None:
    """On a disk too small for old and new side by side the old golden stays, whole."""
    prefix = _small_disk()
    if prefix is None:  # no right to mount here: the injected ENOSPC above stands for it
        return
    done = _run(CRAMPED, str(tmp_path), prefix=prefix)
    assert done.returncode == 0, done.stderr
    assert "No space left on device" in done.stdout
    assert "nothing is half written: free space" in done.stdout
