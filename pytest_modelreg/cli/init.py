"""``modelreg init``: from a model and a folder of samples to a first golden."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.domain.verdict import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--model", required=True, metavar="MODULE:FN", help="factory that returns the model")
    parser.add_argument(
        "--preprocess", required=True, metavar="MODULE:FN", help="one loaded sample to the model's input"
    )
    parser.add_argument("--samples", required=True, type=Path, metavar="DIR", help="folder of sample files")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="weights: .safetensors, .pt or .pth")
    parser.add_argument("--name", help="suite name; default: this folder's name")
    parser.add_argument("--allow-ci", action="store_true", help="record although CI or BUILD_NUMBER is set")


def run(arguments: argparse.Namespace) -> int:
    """Write the suite, pin, record, and print the next command.

    Raises
    ------
    UsageFault
        When a suite file already stands here or the samples are no folder.
    """
    from pytest_modelreg.cli.regen import record_outcomes
    from pytest_modelreg.engine.regeneration import plan_regeneration
    from pytest_modelreg.engine.scaffold import write_suite
    from pytest_modelreg.engine.session import Session, new_run_id, open_run_folder
    from pytest_modelreg.engine.suite import load_suite
    from pytest_modelreg.report import render_case
    from pytest_modelreg.store import pin

    regeneration = plan_regeneration("missing", reason=None, allow_ci=arguments.allow_ci, environ=os.environ)
    base = Path.cwd()
    if not arguments.samples.is_dir():
        raise UsageFault(f"--samples {arguments.samples}: expected a folder of sample files, found none")
    path = write_suite(
        base,
        model=arguments.model,
        preprocess=arguments.preprocess,
        samples=arguments.samples,
        checkpoint=arguments.checkpoint,
        name=arguments.name,
    )
    print(f"wrote {path.name}")
    suite = load_suite(path, rootdir=base)
    report = pin(suite.samples_folder)
    print(f"pinned {report.n_samples} samples in {arguments.samples / 'samples.csv'}")
    session = Session(run_folder=open_run_folder(base, new_run_id()))
    outcomes = [session.run_case(suite, case, keep=True) for case in suite.cases]
    failed = [outcome for outcome in outcomes if outcome.result.verdict is Verdict.ERROR]
    for outcome in failed:
        print(f"{outcome.result.id}: {render_case(outcome.result)}")
    record_outcomes(
        session, [outcome for outcome in outcomes if outcome.result.verdict is Verdict.MISSING], regeneration
    )
    if failed:
        print(f"mend it, then: modelreg regen {shlex.quote(suite.name)}")
        return Exit.COULD_NOT_RUN
    print("commit modelreg.yaml, the samples and golden/; then compare at any time with: pytest --modelreg")
    return Exit.OK
