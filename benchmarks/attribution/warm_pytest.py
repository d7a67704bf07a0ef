"""Runs of pytest forked from a process that has imported the frameworks, which is most of a start.

What belongs here: the process that imports and forks (``python -m benchmarks.attribution.warm_pytest``
reads one request a line from its standard input), and :class:`WarmPytest`, which talks to it. A run
sees what ``python -m pytest`` in a folder sees, but for modules of others that are there already:
nothing of the tool and nothing of a project is imported before the fork.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMPORTED = (
    "pytest",
    "torch",
    "torchvision.transforms.v2",
    "safetensors.torch",
    "PIL.Image",
    "yaml",
    "pydantic",
)
TIME_LIMIT_S = 300
"""After which a run counts as hanging."""


class WarmPytest:
    """A process that runs pytest, one run at a time, each in a fork of its own."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.attribution.warm_pytest"],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, output: Path, arguments: Sequence[str]) -> int:
        """Run pytest in a folder, its output into a file; return its exit code."""
        request = {"folder": str(folder), "output": str(output), "arguments": list(arguments)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main() -> None:
    """Answer every request with pytest's exit code until the input ends."""
    for name in IMPORTED:
        with suppress(ImportError):
            __import__(name)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _run_and_exit(**request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _run_and_exit(folder: str, output: str, arguments: list[str]) -> None:
    code = 70
    try:
        os.chdir(folder)
        sys.path[0] = folder  # in place of the root of the repository
        with open(output, "wb", buffering=0) as file, open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        import pytest

        signal.alarm(TIME_LIMIT_S)  # ends this process: a run that hangs must not stop the others
        code = int(pytest.main(arguments))
        atexit._run_exitfuncs()
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # or the loop of the parent would go on here


if __name__ == "__main__":
    main()
