"""``modelreg prune``: goldens that no case has any more; listed first, removed when told to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.question import ask

if TYPE_CHECKING:
    from pytest_modelreg.engine.leftovers import Leftovers

_MAX_LISTED = 100
_MAX_REASONS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--yes", action="store_true", help="remove what is listed, without asking")
    parser.add_argument("--dry-run", action="store_true", help="only list")
    parser.add_argument(
        "--untracked",
        action="store_true",
        help="with --yes: also remove goldens that no commit has as they are, which nothing brings back",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list every one, however many there are")


def run(arguments: argparse.Namespace) -> int:
    """List the orphans of the project and remove them when somebody says so.

    Raises
    ------
    UsageFault, SuiteFileError
        When the command cannot be carried out as given, or a suite file is faulty: what it claims is
        not known then.
    GoldenError
        When the record of the last whole run is damaged, or a golden cannot be removed.
    """
    from pytest_modelreg.domain.errors import UsageFault
    from pytest_modelreg.engine.leftovers import find_leftovers
    from pytest_modelreg.engine.orphans import list_places
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.engine.tracked_files import find_unheld

    if arguments.untracked and not arguments.yes:
        raise UsageFault("--untracked: expected --yes beside it; without it every golden is asked about")
    root = find_project_root(Path.cwd())
    found = find_leftovers(root)
    n_listed = None if arguments.verbose else _MAX_LISTED
    if found.run is not None:
        print(f"goldens of Python tests: as claimed by the whole run {found.run}")
    for line in list_places(found.orphans, root, n_listed=n_listed):
        print(line)
    unheld = find_unheld(found.orphans, root) if found.orphans else []
    if unheld:
        print(f"{_count(unheld)}: in no commit as on disk, so that nothing brings back what is removed:")
        print("\n".join(f"  {line}" for line in list_places(unheld, root, n_listed=n_listed)))
    _print_unknown(found)
    if not found.orphans:
        others = "every other golden has" if found.n_unknown else "every golden has"
        print(f"{others} its case")
        return Exit.OK
    held = sorted(set(found.orphans) - set(unheld))
    chosen = [] if arguments.dry_run else _choose(held, unheld, arguments)
    left = set(found.orphans) - set(chosen)
    if arguments.dry_run or not (chosen or arguments.yes):
        print(
            f"{_count(left)}; nothing was removed ({'--dry-run' if arguments.dry_run else '--yes removes'})"
        )
    return _remove(chosen, left, set(unheld))


def _choose(held: list[Path], unheld: list[Path], arguments: argparse.Namespace) -> list[Path]:
    """Return what is to be removed; what no commit has takes a word of its own."""
    if arguments.yes:
        return [*held, *unheld] if arguments.untracked else held
    if not sys.stdin.isatty():
        return []
    chosen = held if held and ask(f"Remove {_count(held)}?") else []
    if unheld and ask(f"Remove {_count(unheld)} that nothing brings back?"):
        chosen = [*chosen, *unheld]
    return chosen


def _remove(chosen: list[Path], left: Collection[Path], unheld: Collection[Path]) -> int:
    from pytest_modelreg.domain.errors import GoldenError
    from pytest_modelreg.store import remove_golden

    for folder in chosen:
        try:
            remove_golden(folder)
        except GoldenError:
            if folder.exists():  # else somebody removed it since it was listed
                raise
    lost = [folder for folder in chosen if folder in unheld]
    kept = [folder for folder in chosen if folder not in unheld]
    if kept:
        print(f"removed {_count(kept)}; git has {'it' if len(kept) == 1 else 'them'} still")
    if lost:
        print(f"removed {_count(lost)} for good")
    if not left:
        return Exit.OK
    stays = [folder for folder in left if folder in unheld]
    if stays:
        print(
            f"{_count(stays)} kept: commit {'it' if len(stays) == 1 else 'them'} first, so that git has what "
            "is removed, or add --untracked beside --yes"
        )
    return Exit.DIFFERS


def _print_unknown(found: Leftovers) -> None:
    from pytest_modelreg.engine.claims import WHOLE_RUN

    if not found.n_unknown:
        return
    what = (
        "1 golden of a Python test" if found.n_unknown == 1 else f"{found.n_unknown} goldens of Python tests"
    )
    print(f"{what} kept: whether there is a test for it is not known; to know, run: {WHOLE_RUN}")
    for reason, number in list(found.unknown.items())[:_MAX_REASONS]:
        print(f"  {number}: {reason}")
    if len(found.unknown) > _MAX_REASONS:
        print(f"  and {len(found.unknown) - _MAX_REASONS} more reasons")


def _count(folders: Collection[Path]) -> str:
    return "1 golden that no case has" if len(folders) == 1 else f"{len(folders)} goldens that no case has"
