"""``modelreg log``: when and why goldens were accepted, the newest first."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit

if TYPE_CHECKING:
    from pytest_modelreg.engine.history import HistoryEntry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="SUITE|ID",
        help="suite file, suite name or case id; default: every suite below this folder",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the acceptances of every golden that is meant.

    Raises
    ------
    UsageFault, SuiteFileError
        When a word names no case.
    """
    from pytest_modelreg.engine.history import read_history
    from pytest_modelreg.engine.outcome import place_of
    from pytest_modelreg.engine.selection import select_recordable
    from pytest_modelreg.report.table import printable

    cases, _ = select_recordable(arguments.targets, Path.cwd())
    for number, (suite, case) in enumerate(cases):
        place = place_of(suite, case)
        entries = read_history(place.golden)
        print(f"{'' if number == 0 else chr(10)}{case.id}: {place.shown}")
        if not entries:
            print("  no golden yet")
        for entry in entries:
            print("\n".join(f"  {printable(line)}" for line in _describe(entry)))
    return Exit.OK


def _describe(entry: HistoryEntry) -> list[str]:
    accepted = entry.accepted
    code = "unknown code" if accepted.git_commit is None else f"code {accepted.git_commit[:12]}"
    dirty = " (dirty)" if accepted.git_dirty else ""
    facts = [f"{entry.n_samples} samples", f"{code}{dirty}"]
    if accepted.ci is not None:
        facts.append(f"recorded in CI ({accepted.ci})")
    facts.append("not committed" if entry.commit is None else f"commit {entry.commit[:12]}")
    facts.append(f"golden.json {entry.sha256[:12]}")
    lines = [f"{accepted.date}  {accepted.reason}", f"    {', '.join(facts)}"]
    if entry.noise_floor:
        floors = ", ".join(f"{path} {value:g}" for path, value in entry.noise_floor.items())
        calibration = entry.calibration
        when = (
            "" if calibration is None else f", measured {calibration.date} on {calibration.n_samples} samples"
        )
        lines.append(f"    noise floor {floors}{when}")
    if not entry.is_linked:
        lines.insert(0, "... (what came between is not in this repository's history)")
    return lines
