"""``modelreg report``: a run that is over as one HTML file; nothing is run."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import ModelRegError, UsageFault

if TYPE_CHECKING:
    from pytest_modelreg.engine.kept_run import KeptRun
    from pytest_modelreg.engine.planned_case import PlannedCases

LAST = "last"
PAGE_FILE = "report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="folder of a run (also one downloaded from CI), its id, or `last`; default: the last run here",
    )
    parser.add_argument(
        "--html", metavar="PATH", help=f"where the page is written (default: {PAGE_FILE} in the run's folder)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page, print where it is.

    Raises
    ------
    UsageFault
        When there is no such run, it has no report, or the page cannot be written.
    """
    from pytest_modelreg.engine.exhibits import gather_exhibits
    from pytest_modelreg.engine.kept_run import REPORT_FILE, read_run
    from pytest_modelreg.engine.planned_case import PlannedCases
    from pytest_modelreg.engine.review import find_run
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.report import write_report
    from pytest_modelreg.report.html import render_html, require_templates
    from pytest_modelreg.report.report_file import require_writable

    here = Path.cwd()
    root = find_project_root(here)
    require_templates()
    name = None if arguments.run == LAST and not (here / LAST).is_dir() else arguments.run
    kept = read_run(find_run(name, here, root))
    if not kept.report:
        raise UsageFault(
            f"{kept.folder}: expected a run with a {REPORT_FILE}, found none: it was cut off, or only a part "
            "of it was downloaded"
        )
    if arguments.html is not None and not arguments.html.strip():
        raise UsageFault("--html: expected a path, got empty text")
    planned = PlannedCases(here)
    target = kept.folder / PAGE_FILE if arguments.html is None else here / arguments.html
    _require_own_place(target, kept, planned, root)
    require_writable(target)
    exhibits = gather_exhibits(kept.report["cases"], kept.folder, planned, root)
    write_report(render_html(kept.report, exhibits), target)
    print(os.path.relpath(target))
    return Exit.OK


def _require_own_place(target: Path, kept: KeptRun, planned: PlannedCases, root: Path) -> None:
    """Refuse a page among goldens, or in the place of what the run kept."""
    from pytest_modelreg.engine.kept_run import REPORT_FILE
    from pytest_modelreg.engine.rejudging import list_golden_roots

    taken = [root / "golden"]
    with suppress(ModelRegError):  # a suite that is faulty now: the page shows what there is without it
        taken = list_golden_roots(kept.cases, planned, root)
    for folder in taken:
        if target.resolve().is_relative_to(folder.resolve()):
            raise UsageFault(
                f"--html {target}: expected a place outside of the goldens ({folder}); choose another"
            )
    if target.resolve() == (kept.folder / REPORT_FILE).resolve():
        raise UsageFault(
            f"--html {target}: expected another file than the run's own report, got the same one"
        )
