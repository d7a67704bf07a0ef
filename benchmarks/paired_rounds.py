"""How a case is measured against the bare loop: both run in turn, in rounds, in one process.

What belongs here: running the two sides, and the ratio of their times. A benchmark makes the
sides and calls :func:`judge_ratio`.
"""

from __future__ import annotations

import statistics
import time

from benchmarks.case_sides import Sides

BUDGET = 1.05
"""Time of the case over time of the bare loop, dimensionless."""


def judge_ratio(measured: Sides, *, rounds: int) -> bool:
    """Run both sides, print the numbers, and return whether the case is within the budget."""
    sides = {"bare": measured.bare, "case": measured.case}
    for run in sides.values():
        run()  # imports, file system cache, kernels chosen on first use
    times: dict[str, list[float]] = {name: [] for name in sides}
    cpu_times: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in sides if number % 2 else reversed(sides):
            started, cpu_started = time.perf_counter(), time.process_time()
            sides[name]()
            times[name].append(time.perf_counter() - started)
            cpu_times[name].append(time.process_time() - cpu_started)
    bare, case = (statistics.median(times[name]) for name in ("bare", "case"))
    ratio = statistics.median(c / b for b, c in zip(times["bare"], times["case"], strict=True))
    cpu_ratio = statistics.median(c / b for b, c in zip(cpu_times["bare"], cpu_times["case"], strict=True))
    print(f"bare loop    {1000 * bare:8.0f} ms (median of {rounds}, {measured.n_samples} samples)")
    print(f"green case   {1000 * case:8.0f} ms")
    print(f"ratio        {ratio:8.3f}    (median of paired rounds, budget {BUDGET})")
    print(
        f"CPU ratio    {cpu_ratio:8.3f}    (the same in processor time, which other processes disturb less)"
    )
    passes = ratio <= BUDGET
    print("PASS" if passes else "FAIL")
    return passes
