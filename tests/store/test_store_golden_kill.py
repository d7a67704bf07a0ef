"""Real kills and real concurrency: old or new, whole."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.store import open_output, read_golden, verify_files

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.golden import Acceptance, Golden, OutputProfile
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.store import OutputWriter, write_golden

folder, scratch, first, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
scratch.mkdir(parents=True, exist_ok=True)
print("ready", flush=True)
for value in range(first, first + count):
    outputs = {}
    for path in ("a", "b", "c"):
        writer = OutputWriter(scratch, path, per="sample", n_rows=50)
        writer.append(np.full((50, 200), value, np.float32), dtype="float32")
        outputs[path] = writer.close()
    observation = Observation(
        suite="s", variant="reference", axes={}, batch_size=8, outputs=outputs, weights_digest=None,
        samples=tuple(ObservedSample(id=str(i), sha256="0" * 64, input_digest="") for i in range(50)),
        fingerprint=Fingerprint(facts={}),
    )
    golden = Golden(
        observation=observation,
        accepted=Acceptance(date="", reason=str(value)),
        profiles={path: OutputProfile(rms_row_norm=1.0, n_nan=0, n_inf=0) for path in outputs},
    )
    write_golden(folder, golden, scratch, [["value"], [str(value)]])
"""


def _start(folder: Path, scratch: Path, first: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(folder), str(scratch), str(first), str(count)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _whole_value(folder: Path) -> int | None:
    golden = read_golden(folder)
    if golden is None:
        return None
    verify_files(folder, golden)
    value = int(golden.accepted.reason)
    for record in golden.observation.outputs.values():
        assert np.unique(open_output(folder, record).rows(0, 50)).tolist() == [value]
    return value


def _kill_at_random(tmp_path: Path, times: int) -> set[int | None]:
    folder = tmp_path / "golden"
    choose = random.Random(7)
    seen: set[int | None] = set()
    for attempt in range(times):
        process = _start(folder, tmp_path / "scratch", 1000 * attempt, 900)
        time.sleep(choose.uniform(0.0, 0.25))
        process.kill()
        process.communicate()
        seen.add(_whole_value(folder))
    process = _start(folder, tmp_path / "scratch", 10**6, 1)
    process.communicate()
    assert process.returncode == 0
    assert _whole_value(folder) == 10**6
    assert len(list(folder.iterdir())) == 6, "the next run cleans up"
    return seen


def test_killed_writers_leave_a_whole_golden(tmp_path: Path) -> None:
    """SIGKILL at random moments never leaves a mixture of two goldens."""
    assert len(_kill_at_random(tmp_path, 6)) > 1


@pytest.mark.full
def test_fifty_kills(tmp_path: Path) -> None:
    """The same, often."""
    assert len(_kill_at_random(tmp_path, 50)) > 10


def test_two_writers_at_once(tmp_path: Path) -> None:
    """Concurrent regenerations wait for each other; the last one stands, whole."""
    folder = tmp_path / "golden"
    processes = [_start(folder, tmp_path / f"scratch{first}", first, 25) for first in (100, 200, 300)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert _whole_value(folder) in (124, 224, 324)
    assert len(list(folder.iterdir())) == 6
