"""``modelreg prune``: goldens that no case has any more; listed first, removed when told to."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.question import ask
from pytest_modelreg.domain.errors import GoldenError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--yes", action="store_true", help="remove what is listed, without asking")
    parser.add_argument("--dry-run", action="store_true", help="only list")


def run(arguments: argparse.Namespace) -> int:
    """List the orphans of the project and remove them when somebody says so.

    Raises
    ------
    UsageFault, SuiteFileError
        When a suite file is faulty: what it claims is not known then.
    """
    from pytest_modelreg.engine.discovery import find_suites
    from pytest_modelreg.engine.orphans import find_suite_orphans, find_values_orphans, read_last_claims
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.engine.suite_loading import load_suites
    from pytest_modelreg.store import remove_golden

    root = find_project_root(Path.cwd())
    claims = read_last_claims(root)
    files = find_suites([root], ignored=lambda path: False)
    if claims is not None:  # those of the run in hidden folders, which nobody else finds
        seen = {os.path.realpath(path) for path in files}
        named = [root / name for name in sorted(claims[1].suites)]
        files += [path for path in named if path.is_file() and os.path.realpath(path) not in seen]
    orphans = find_suite_orphans(load_suites(files, rootdir=root), root)
    if claims is None:
        print("goldens of Python tests are left out: no whole run is on record; first run: pytest --modelreg")
    else:
        print(f"goldens of Python tests: as claimed by the whole run {claims[0]}")
        orphans += find_values_orphans(root, claims[1])
    if not orphans:
        print("every golden has its case")
        return Exit.OK
    for folder in sorted(orphans):
        print((folder.relative_to(root) if folder.is_relative_to(root) else folder).as_posix())
    what = "1 golden that no case has" if len(orphans) == 1 else f"{len(orphans)} goldens that no case has"
    if arguments.dry_run or not (arguments.yes or _is_confirmed(what)):
        print(f"{what}; nothing was removed (--yes removes)")
        return Exit.DIFFERS
    for folder in orphans:
        try:
            remove_golden(folder)
        except GoldenError:
            if folder.exists():  # else somebody removed it since it was listed
                raise
    print(f"removed {what}; git has them still")
    return Exit.OK


def _is_confirmed(what: str) -> bool:
    return sys.stdin.isatty() and ask(f"Remove {what}?")
