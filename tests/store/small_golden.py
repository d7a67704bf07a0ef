"""A golden small enough to be written hundreds of times, that cannot hide a mixture of two.

What belongs here: writing one, in this process or in another, and reading it back whole.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.golden import Acceptance, Golden, OutputProfile
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.store import OutputWriter, open_output, read_golden, verify_files, write_golden

REPOSITORY = Path(__file__).parents[2]

N_FILES = 6
"""Of a whole golden: three arrays, the record, the table, the attributes."""


def observe_value(
    scratch: Path, value: int, *, variant: str = "reference", n_rows: int = 2
) -> Callable[[Path], None]:
    """Observe three outputs that hold one value everywhere; return what writes them as a golden."""
    scratch.mkdir(parents=True, exist_ok=True)
    outputs = {}
    for path in ("a", "b", "c"):
        with OutputWriter(scratch, path, per="sample", n_rows=n_rows) as writer:
            writer.append(np.full((n_rows, 200), value, np.float32), dtype="float32")
            outputs[path] = writer.close()
    observation = Observation(
        suite="s",
        variant=variant,
        axes={},
        batch_size=8,
        outputs=outputs,
        weights_digest=None,
        samples=tuple(ObservedSample(id=str(i), sha256="0" * 64, input_digest="") for i in range(n_rows)),
        fingerprint=Fingerprint(facts={}),
    )
    golden = Golden(
        observation=observation,
        accepted=Acceptance(date="", reason=str(value)),
        profiles={path: OutputProfile(rms_row_norm=1.0, n_nan=0, n_inf=0) for path in outputs},
    )
    return lambda folder: write_golden(folder, golden, scratch, [["value"], [str(value)]])


def read_value(folder: Path) -> int | None:
    """Return the one value that a whole golden holds everywhere, None where there is no golden.

    Raises
    ------
    AssertionError, GoldenError
        When it is a mixture of two goldens, or damaged.
    """
    golden = read_golden(folder)
    if golden is None:
        return None
    verify_files(folder, golden)
    value = int(golden.accepted.reason)
    for record in golden.observation.outputs.values():
        found = np.unique(open_output(folder, record).rows(0, record.shape[0])).tolist()
        assert found == [value], f"{folder}: expected {value} everywhere, got {found}"
    return value


def start_writing(
    folder: Path, scratch: Path, first: int, count: int, *, variant: str = "reference"
) -> subprocess.Popen[str]:
    """Start a process that regenerates ``count`` times; it has begun when this returns."""
    command = [
        sys.executable,
        "-m",
        "tests.store.small_golden",
        str(folder),
        str(scratch),
        str(first),
        str(count),
        variant,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _write_repeatedly(folder: Path, scratch: Path, first: int, count: int, variant: str) -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for value in range(first, first + count):
        observe_value(scratch, value, variant=variant, n_rows=50)(folder)


if __name__ == "__main__":
    _write_repeatedly(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
