"""What looking for goldens that no case has costs a whole run of many Python tests.

Every test makes one real check against its own golden. Whether a golden has a test is known only
from what was collected, what every test checked, and what is on disk, so that the look costs at
collection, after every test and at the end. All three are timed inside of the run, because the checks
themselves take minutes and vary by more than the look takes: the hooks that gather, and the end.

Run with ``python -m benchmarks.orphans`` from the root of the repository. 10,000 goldens are recorded
first: some five minutes in all.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUDGET_S = 1.0
"""Of the whole look, with 10,000 goldens and as many tests."""

GATHERING = ("modelreg-claims", "modelreg-claimed", "modelreg-completeness")
"""Plugins that are there for the look alone; all of their hooks are timed."""

TIMES = "HOOK_TIMES"
"""The variable that names the file to write the times to."""

TESTS = """
import numpy as np
import pytest


@pytest.mark.parametrize("value", range({n_tests}))
def test_value(modelreg, value):
    modelreg.check(np.array([value], dtype="float32"), name="value", sample_ids=["one"])
"""


def main() -> int:
    """Print the numbers; return 0 within the budget, else 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=10_000, help="tests and goldens (default: 10000)")
    parser.add_argument("--rounds", type=int, default=1, help="runs, of which the median counts (default: 1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (folder / "test_many.py").write_text(TESTS.format(n_tests=options.tests), encoding="utf-8")
        _run(folder, "--modelreg-regen=missing")
        rounds = [_run(folder) for _ in range(options.rounds)]
    times = sorted(rounds, key=lambda found: sum(found["hooks"].values()))[len(rounds) // 2]
    look_s, run_s = sum(times["hooks"].values()), times["run_s"]
    for hook, spent_s in sorted(times["hooks"].items(), key=lambda pair: -pair[1]):
        print(f"{1000 * spent_s:8.0f} ms  {hook}")
    print(f"{1000 * look_s:8.0f} ms  for {options.tests} tests and goldens (budget {1000 * BUDGET_S:.0f} ms)")
    print(f"{1000 * times['cpu_s']:8.0f} ms  of processor time, which other processes disturb less")
    print(f"{1000 * run_s:8.0f} ms  the whole run, of which the look is {look_s / run_s:.2%}")
    passes = look_s <= BUDGET_S
    print("PASS" if passes else "FAIL")
    return 0 if passes else 1


def _run(folder: Path, *flags: str) -> dict[str, Any]:
    """Return the seconds that a run spent in every hook of the look, and altogether."""
    times = folder / "times.json"
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    environment |= {TIMES: str(times), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "benchmarks.orphans"]
    started = time.perf_counter()
    subprocess.run(
        [*command, "--modelreg", *flags], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    run_s = time.perf_counter() - started
    return {"run_s": run_s, **json.loads(times.read_text(encoding="utf-8"))}


class HookTimes:
    """Adds up the seconds spent in hooks and functions, by name."""

    def __init__(self) -> None:
        self.spent_s: dict[str, float] = {}
        self.cpu_s = 0.0

    def time_plugin(self, manager: pytest.PytestPluginManager, plugin: object, *, only: str = "") -> None:
        """Time every hook of a plugin that is registered, or one of them."""
        for caller in manager.get_hookcallers(plugin) or ():
            if only not in ("", caller.name):
                continue
            for hook in caller.get_hookimpls():
                if hook.plugin is plugin:
                    timed = self.time_wrapper if hook.wrapper else self.time_function
                    replaced: Any = hook  # pluggy declares it final, and knows the arguments' names by now
                    replaced.function = timed(hook.function, f"{hook.plugin_name} {caller.name}")

    def time_function(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Return a function that takes as long, and says so."""

        def timed(*arguments: Any) -> Any:
            started = _read_clocks()
            try:
                return function(*arguments)
            finally:
                self._add(name, started)

        return timed

    def time_wrapper(
        self, function: Callable[..., Any], name: str
    ) -> Callable[..., Generator[None, Any, Any]]:
        """Return the same for a hook around others, whose own time is before and after them."""

        def timed(*arguments: Any) -> Generator[None, Any, Any]:
            started = _read_clocks()
            steps = function(*arguments)
            next(steps)
            self._add(name, started)
            result = yield
            started = _read_clocks()
            try:
                steps.send(result)
            except StopIteration as stop:
                return stop.value
            finally:
                self._add(name, started)

        return timed

    def _add(self, name: str, started: tuple[float, float]) -> None:
        wall_s, cpu_s = (now - then for now, then in zip(_read_clocks(), started, strict=True))
        self.spent_s[name] = self.spent_s.get(name, 0.0) + wall_s
        self.cpu_s += cpu_s


def _read_clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Time the hooks of the look, where this file is loaded as a plugin of a run."""
    manager, times = config.pluginmanager, HookTimes()
    for name in GATHERING:
        times.time_plugin(manager, manager.get_plugin(name))
    times.time_plugin(manager, manager.get_plugin("modelreg-values"), only="pytest_collection_modifyitems")
    claimed: Any = manager.get_plugin("modelreg-claimed")
    claimed.list_orphans = times.time_function(claimed.list_orphans, "at the end")
    target = Path(os.environ[TIMES])

    def write_times() -> None:
        found = {"hooks": times.spent_s, "cpu_s": times.cpu_s}
        target.write_text(json.dumps(found), encoding="utf-8")

    config.add_cleanup(write_times)


if __name__ == "__main__":
    sys.exit(main())
