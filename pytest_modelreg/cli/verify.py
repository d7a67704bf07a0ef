"""``modelreg verify``: are goldens and sample sets whole? No model is run, nothing is imported."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.listing import name_some

if TYPE_CHECKING:
    from pytest_modelreg.engine.verification import Verification

_MAX_NAMED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="SUITE|FOLDER",
        help="suite file, suite name, or a folder with suites, goldens or samples; "
        "default: everything in the project",
    )


def run(arguments: argparse.Namespace) -> int:
    """Verify, print a line a fault and one of counts.

    Raises
    ------
    UsageFault, SuiteFileError
        When the command cannot be carried out as given, or there is nothing to verify.
    """
    from pytest_modelreg.engine.verification import verify_goldens

    found = verify_goldens(arguments.targets, Path.cwd())
    for fault in found.faults:
        print(fault)
    if found.unrecorded:
        named = name_some(found.unrecorded, _MAX_NAMED)
        print(f"no golden yet: {named}; record with: modelreg regen --mode missing")
    print(_count(found))
    return Exit.COULD_NOT_RUN if found.faults else Exit.OK


def _count(found: Verification) -> str:
    kinds = [(found.n_goldens, "golden"), (found.n_sample_sets, "sample set"), (found.n_samples, "sample")]
    verified = "verified " + (
        ", ".join(_plural(number, noun) for number, noun in kinds if number) or "nothing"
    )
    if not found.faults:
        return f"{verified}: all whole"
    n_all = found.n_goldens + found.n_sample_sets
    untrusted = f", {found.n_faulty} of {n_all} cannot be trusted" if found.n_faulty else ""
    return f"{verified}: {_plural(len(found.faults), 'fault')}{untrusted}"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
