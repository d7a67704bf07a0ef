"""``modelreg pin``: write ``samples.csv`` once, verify it ever after."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import UsageFault


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, help="folder of the sample set")
    parser.add_argument("--check", action="store_true", help="only verify; for CI and pre-commit")
    parser.add_argument(
        "--update", action="store_true", help="accept added, removed and changed files into samples.csv"
    )


def run(arguments: argparse.Namespace) -> int:
    """Pin or verify, and say what was done.

    Raises
    ------
    SampleSetError
        Listing every fault of the set.
    """
    from pytest_modelreg.store import pin

    if arguments.check and arguments.update:
        raise UsageFault("--check verifies and --update writes: give one of them")
    if not arguments.folder.is_dir():
        raise UsageFault(f"{arguments.folder}: expected a folder with samples, found none")
    report = pin(arguments.folder, check=arguments.check, update=arguments.update)
    changes = [
        f"{len(ids)} {what}"
        for what, ids in (("added", report.added), ("removed", report.removed), ("changed", report.changed))
        if ids
    ]
    state = ", ".join(changes) if changes else "verified, nothing to change"
    print(f"{arguments.folder / 'samples.csv'}: {report.n_samples} samples; {state}")
    return Exit.OK
