"""``modelreg env``: what is recorded of the environment, and how two records differ."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.environment_source import NOW, read_recorded, take_present
from pytest_modelreg.domain.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_modelreg.domain.environment import Fingerprint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--diff",
        nargs="+",
        metavar=("A", "B"),
        help="print what differs between two environments: a golden folder or golden.json, a run folder or "
        "its report.json, an observation.json, or 'now' (default for B, also for A); exit 1 when a fact "
        "that can move a number differs",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments: argparse.Namespace) -> int:
    """Print the present environment, or what two environments differ in.

    Raises
    ------
    UsageFault
        When a word names no environment.
    """
    from pytest_modelreg.report import fingerprint_record, render_fingerprint
    from pytest_modelreg.report.strict_json import finite

    if arguments.diff is not None:
        return _compare(arguments.diff, as_json=arguments.json)
    (present,) = _take([NOW])
    if arguments.json:
        print(json.dumps(finite(fingerprint_record(present)), indent=1, allow_nan=False))
    else:
        print("\n".join(render_fingerprint(present)))
    return Exit.OK


def _compare(words: Sequence[str], *, as_json: bool) -> int:
    from pytest_modelreg.report import compare_fingerprints, difference_record, render_difference

    if len(words) > 2:
        raise UsageFault(f"--diff: expected one environment or two, got {len(words)}: {' '.join(words)}")
    names = (words[0], words[1] if len(words) == 2 else NOW)
    expected, actual = _take(names)
    difference = compare_fingerprints(expected, actual)
    if as_json:
        print(json.dumps(difference_record(difference), indent=1, allow_nan=False))
    else:
        print("\n".join(render_difference(difference, expected, actual, names)))
    return Exit.DIFFERS if difference.moving else Exit.OK


def _take(words: Sequence[str]) -> list[Fingerprint]:
    """Return the fingerprints that the words name, each read once.

    The present is taken with the packages loaded that the other side had, so that the
    same facts are known and count; alone, with torch where it is installed.
    """
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.fingerprint import is_installed, packages_behind

    found = {word: read_recorded(word) for word in words if word != NOW}
    if NOW in words:
        behind = sorted({name for recorded in found.values() for name in packages_behind(recorded)})
        alone = ["torch"] if not found and is_installed("torch") else []
        from pytest_modelreg.cli.project import ask_project

        found[NOW] = take_present(behind or alone, ask_project(find_project_root(Path.cwd())))
    return [found[word] for word in words]
