"""Every fault at every step of a regeneration, counted: ``python -m tests.store.fault_table``.

A mixture of two goldens, or a next run that does not clean up, ends it with the assertion that
failed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.store.write_faults import FAULTS, Tally, kill_at_every_point, kill_at_random, try_every_point

N_KILLS = 50


def build_table(root: Path) -> list[str]:
    """Try everything below a folder and return the lines of the table."""
    lines = [f"{'fault':36} {'points':>6} {'left old':>9} {'left new':>9}"]
    n_points = 0
    for what, replacing in (("first golden", False), ("replacing", True)):
        for fault, (fail, lasting) in FAULTS.items():
            name = f"{fault}, {what}"
            tally = try_every_point(root / name, fail, lasting=lasting, replacing=replacing)
            n_points += tally.n_points
            lines.append(_row(name, tally))
        steps = ", ".join(f"{count} {step}" for step, count in tally.steps.items())
        lines.append(f"  steps, {what}: {steps}")
    killed = kill_at_every_point(root / "kills")
    lines.append(_row("SIGKILL at each step", killed))
    n_points += killed.n_points
    left = kill_at_random(root / "random", N_KILLS)
    lines.append(f"SIGKILL at random: {N_KILLS} kills, {len(left)} different goldens left")
    lines.append(f"in all {n_points + N_KILLS}: each left one golden, whole, and the next run cleaned up")
    return lines


def _row(name: str, tally: Tally) -> str:
    return f"{name:36} {tally.n_points:6} {tally.n_old:9} {tally.n_new:9}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write("\n".join(build_table(Path(folder))) + "\n")
