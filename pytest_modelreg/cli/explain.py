"""``modelreg explain``: everything that a run found out about why a case drifted; nothing is run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.domain.nearest import suggest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="folder of a run (also one downloaded from CI), or the id of one; default: the last run here "
        "that has a report",
    )
    parser.add_argument(
        "cases", nargs="*", metavar="CASE_ID", help="cases to explain; default: all that drifted"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the causes of cases with all their evidence.

    Raises
    ------
    UsageFault
        When there is no such run or case, or the run has no report.
    """
    from pytest_modelreg.engine.kept_run import REPORT_FILE, read_run
    from pytest_modelreg.engine.review import find_run
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.report.explanation import render_explanation

    here = Path.cwd()
    run_name, wanted = arguments.run, list(arguments.cases)
    if run_name is not None and run_name.endswith("]") and not (here / run_name).exists():
        run_name, wanted = None, [run_name, *wanted]  # a case of the last run
    root = find_project_root(here)
    folder = find_run(run_name, here, root, holding=REPORT_FILE)
    newest = find_run(run_name, here, root)
    if newest != folder:
        print(
            f"{newest.name}: ended before it wrote a report; explained is the last run that has one, "
            f"{folder.name}:\n"
        )
    kept = read_run(folder)
    records = {
        str(record["id"]): record
        for record in kept.report.get("cases", [])
        if isinstance(record, Mapping) and "id" in record
    }
    if not records:
        raise UsageFault(
            f"{kept.folder}: expected a run with a {REPORT_FILE}, found none: it was cut off, or only a part "
            "of it was downloaded"
        )
    chosen = _choose(records, wanted)
    for number, record in enumerate(chosen):
        print(f"{chr(10) if number else ''}{render_explanation(record)}", flush=True)
    if not chosen:
        print(f"{kept.folder.name}: no case drifted ({len(records)} ran)")
    return Exit.OK


def _choose(records: Mapping[str, Any], wanted: Sequence[str]) -> list[Any]:
    unknown = [name for name in wanted if name not in records]
    if unknown:
        hint = suggest(unknown[0], records)
        raise UsageFault(f"expected cases of the run ({', '.join(records)}), got {unknown[0]}{hint}")
    if wanted:
        return [records[name] for name in wanted]
    return [record for record in records.values() if record.get("verdict") in ("drift", "stale")]
