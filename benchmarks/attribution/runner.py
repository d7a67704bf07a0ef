"""How pytest is run in a project: outside CI, on one thread, anew or forked.

What belongs here: the environment and the command line of a run, and what its end means.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchmarks.attribution.warm_pytest import TIME_LIMIT_S, WarmPytest

UNSET = ("CI", "BUILD_NUMBER", "ATEN_CPU_CAPABILITY", "PYTHONHASHSEED")


def make_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment outside CI, on one thread, with ``variables`` set."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_") and k not in UNSET}
    return {**kept, "OMP_NUM_THREADS": "1", **variables}


class Runner:
    """Runs pytest in project folders.

    Parameters
    ----------
    is_fresh : bool
        Start every run anew, instead of forking those that no variable is set for.
    """

    def __init__(self, *, is_fresh: bool) -> None:
        self._is_fresh = is_fresh
        self._idle: queue.SimpleQueue[WarmPytest] = queue.SimpleQueue()

    def record(self, folder: Path, *, variables: Mapping[str, str]) -> None:
        """Record the goldens that there are not.

        Raises
        ------
        RuntimeError
            Not all could be recorded.
        """
        self._run(folder, "recorded.txt", "--modelreg-regen=missing", variables=variables, expected=(0,))

    def judge(self, folder: Path, *arguments: str, variables: Mapping[str, str]) -> None:
        """Judge; what is printed is kept in ``printed.txt``.

        Raises
        ------
        RuntimeError
            It ended in another way than by cases that pass or do not.
        """
        self._run(folder, "printed.txt", *arguments, variables=variables, expected=(0, 1))

    def _run(
        self,
        folder: Path,
        output: str,
        *arguments: str,
        variables: Mapping[str, str],
        expected: tuple[int, ...],
    ) -> None:
        path = folder / output
        options = ("--modelreg", "-p", "no:cacheprovider", "modelreg.yaml", *arguments)
        if self._is_fresh or variables:
            code = _run_anew(folder, path, options, variables)
        else:
            code = self._fork(folder, path, options)
        if code not in expected:
            text = path.read_text(encoding="utf-8")
            raise RuntimeError(f"{folder.name}: pytest exited with {code}: {text[-3000:]}")

    def _fork(self, folder: Path, output: Path, options: tuple[str, ...]) -> int:
        try:
            warm = self._idle.get_nowait()
        except queue.Empty:
            warm = WarmPytest(make_environment({}))
        try:
            return warm.run(folder, output, options)
        finally:
            self._idle.put(warm)

    def close(self) -> None:
        """End the processes that are forked from."""
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()


def _run_anew(folder: Path, output: Path, options: tuple[str, ...], variables: Mapping[str, str]) -> int:
    command = [sys.executable, "-m", "pytest", *options]
    with output.open("w", encoding="utf-8") as file:
        try:
            return subprocess.run(
                command,
                cwd=folder,
                env=make_environment(variables),
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=TIME_LIMIT_S,
            ).returncode
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"{folder.name}: pytest hangs for {TIME_LIMIT_S} s") from error
