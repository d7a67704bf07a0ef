"""What the plugin costs a pytest run that does not use it.

Measured in two ways: whole starts of pytest with the plugin and with ``-p no:modelreg``,
in turn, and the import of the plugin alone as ``-X importtime`` counts it.

Run with ``python -m benchmarks.startup``.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUDGET_MS = 10.0
PLUGIN = "pytest_modelreg.plugin"
_Cost = tuple[float, float]  # wall-clock and processor time of one start, milliseconds
HEAVY = ("torch", "numpy", "yaml", "pydantic")


def main() -> int:
    """Print the numbers; return 0 within the budget, else 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=40, help="starts of each side (default: 40)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
        bare, with_plugin = _measure_starts(folder, rounds)
        wall, cpu = ([(b[i], w[i]) for b, w in zip(bare, with_plugin, strict=True)] for i in range(2))
        import_ms, heavy = _measure_import(folder)
    alone, paired = (statistics.median(side) for side in zip(*wall, strict=True))
    more, cpu_more = (statistics.median(w - b for b, w in pairs) for pairs in (wall, cpu))
    print(f"pytest start without the plugin   {alone:8.1f} ms (median of {rounds})")
    print(f"pytest start with it, unused      {paired:8.1f} ms, ratio {paired / alone:.3f}")
    print(f"more, median of paired rounds     {more:8.1f} ms (budget {BUDGET_MS:.0f} ms)")
    print(f"more processor time               {cpu_more:8.1f} ms (which other processes disturb less)")
    print(f"import of {PLUGIN}   {import_ms:5.1f} ms after pytest's own imports (-X importtime, median of 5)")
    print(f"heavy packages imported           {', '.join(heavy) or 'none':>8}")
    passes = more <= BUDGET_MS and import_ms <= BUDGET_MS and not heavy
    print("PASS" if passes else "FAIL")
    return 0 if passes else 1


def _measure_starts(folder: Path, rounds: int) -> tuple[list[_Cost], list[_Cost]]:
    """Return the cost of each start: without and with the plugin, pairs in turn."""
    bare: list[_Cost] = []
    with_plugin: list[_Cost] = []
    sides = [(bare, ("-p", "no:modelreg")), (with_plugin, ())]
    for _, flags in sides:
        _start(folder, *flags)  # fills the caches of bytecode and of the file system
    for number in range(rounds):
        for costs, flags in sides if number % 2 else reversed(sides):
            costs.append(_start(folder, *flags))
    return bare, with_plugin


def _start(folder: Path, *flags: str) -> _Cost:
    started, cpu_started = time.perf_counter(), _read_child_cpu_s()
    # --help would not collect, a single passing test is the least that a real run does.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *flags, "test_nothing.py"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=_environ())
    return 1000 * (time.perf_counter() - started), 1000 * (_read_child_cpu_s() - cpu_started)


def _read_child_cpu_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)  # os.times() counts in steps of 10 ms
    return spent.ru_utime + spent.ru_stime


def _measure_import(folder: Path) -> tuple[float, list[str]]:
    """Return the milliseconds that importing the plugin adds to pytest, and heavy packages it loads."""
    code = (
        f"import pytest, sys; before = set(sys.modules); import {PLUGIN}; "
        f"print([name for name in {HEAVY} if name in set(sys.modules) - before])"
    )
    costs: list[float] = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", code],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            env=_environ(),
        )
        # self [us] | cumulative | name: a package's cumulative time holds what it imports.
        lines = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()]
        cumulative = [int(parts[1]) for parts in lines if len(parts) == 3 and parts[2].strip() == PLUGIN]
        parents = [int(p[0]) for p in lines if len(p) == 3 and p[2].strip() == "pytest_modelreg"]
        costs.append((cumulative[-1] + sum(parents)) / 1000)
    heavy = done.stdout.strip().strip("[]")
    return statistics.median(costs), [name.strip(" '") for name in heavy.split(",") if name]


def _environ() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}


if __name__ == "__main__":
    sys.exit(main())
