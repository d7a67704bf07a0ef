"""``modelreg pin``: write ``samples.csv``, or the pin of a file with rows, once, and verify it ever after."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import UsageFault


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "place",
        type=Path,
        metavar="FOLDER|FILE",
        help="folder of the sample set, or file with a row a sample",
    )
    parser.add_argument(
        "--id", metavar="COLUMN", help="column with the samples' ids, of a file; default: the rows' numbers"
    )
    parser.add_argument("--check", action="store_true", help="only verify; for CI and pre-commit")
    parser.add_argument(
        "--update", action="store_true", help="accept added, removed and changed files or rows"
    )


def run(arguments: argparse.Namespace) -> int:
    """Pin or verify, and say what was done.

    Raises
    ------
    SampleSetError
        Listing every fault of the set.
    """
    from pytest_modelreg.store import OPENERS, is_row_file, pin, pin_path, pin_rows

    place: Path = arguments.place
    if arguments.check and arguments.update:
        raise UsageFault("--check verifies and --update writes: give one of them")
    if is_row_file(place) and not place.is_dir():
        report = pin_rows(place, id_column=arguments.id, check=arguments.check, update=arguments.update)
        table = pin_path(place)
    elif not place.is_dir():
        known = " ".join(OPENERS)
        raise UsageFault(f"{place}: expected a folder with samples, or a file of {known}, found none")
    elif arguments.id is not None:
        raise UsageFault(
            "--id names a column of a file with rows; the ids of a folder are in its samples.csv"
        )
    else:
        report = pin(place, check=arguments.check, update=arguments.update)
        table = place / "samples.csv"
    changes = [
        f"{len(ids)} {what}"
        for what, ids in (("added", report.added), ("removed", report.removed), ("changed", report.changed))
        if ids
    ]
    state = ", ".join(changes) if changes else "verified, nothing to change"
    print(f"{table}: {report.n_samples} samples; {state}")
    return Exit.OK
