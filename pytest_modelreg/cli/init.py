"""``modelreg init``: from a model and a folder of samples to a first golden."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.verdict import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--model", required=True, metavar="MODULE:FN", help="factory that returns the model")
    parser.add_argument(
        "--preprocess", required=True, metavar="MODULE:FN", help="one loaded sample to the model's input"
    )
    parser.add_argument(
        "--samples",
        required=True,
        type=Path,
        metavar="DIR|FILE",
        help="folder of sample files, or file with a row a sample",
    )
    parser.add_argument("--id", metavar="COLUMN", help="column with the samples' ids, of a file with rows")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="weights: .safetensors, .pt or .pth")
    parser.add_argument("--loader", help="how a sample file is loaded; default: by the files' suffixes")
    parser.add_argument("--name", help="suite name; default: this folder's name")
    parser.add_argument("--allow-ci", action="store_true", help="record although CI or BUILD_NUMBER is set")


def run(arguments: argparse.Namespace) -> int:
    """Write the suite, pin, record, and print the next command.

    Raises
    ------
    UsageFault
        When a suite file already stands here or an argument is faulty.
    """
    from pytest_modelreg.cli.regen import record
    from pytest_modelreg.cli.session import open_session
    from pytest_modelreg.engine.regeneration import plan_regeneration
    from pytest_modelreg.engine.run import find_project_root, settle
    from pytest_modelreg.engine.scaffold import write_suite
    from pytest_modelreg.engine.suite_loading import load_suite
    from pytest_modelreg.report import render_case
    from pytest_modelreg.store import pin, pin_path, pin_rows

    regeneration = plan_regeneration("missing", reason=None, allow_ci=arguments.allow_ci, environ=os.environ)
    here = Path.cwd()
    root = find_project_root(here)
    path = write_suite(
        here,
        model=arguments.model,
        preprocess=arguments.preprocess,
        samples=arguments.samples,
        checkpoint=arguments.checkpoint,
        name=arguments.name,
        loader=arguments.loader,
        id_column=arguments.id,
    )
    print(f"wrote {path.name}")
    suite = load_suite(path, rootdir=root)
    if suite.samples.rows is None:
        report, table = pin(suite.samples.place), arguments.samples / "samples.csv"
    else:
        report = pin_rows(suite.samples.place, id_column=arguments.id)
        table = pin_path(arguments.samples)
    print(f"pinned {report.n_samples} samples in {table}", flush=True)
    cases = [(suite, case) for case in suite.cases]
    with open_session(root, cases, regeneration=regeneration) as session:
        outcomes = [session.run_case(suite, case) for suite, case in cases]
        failed = [outcome for outcome in outcomes if outcome.result.verdict is Verdict.ERROR]
        for outcome in failed:
            print(f"{outcome.result.id}: {render_case(outcome.result)}")
        wanted = [outcome for outcome in outcomes if regeneration.accepts(outcome.result.verdict)]
        failed += record(session, wanted)
        for outcome in outcomes:
            settle(outcome)
    if failed:
        print(f"mend it, then: modelreg regen {shlex.quote(suite.name)}")
        return Exit.COULD_NOT_RUN
    if arguments.checkpoint is None:
        print("note: no --checkpoint, so the golden holds what the factory's own weights answer")
    if any(outcome.observation and not outcome.observation.eval_applied for outcome in outcomes):
        print("note: the factory returned a plain callable, so eval() was left to it")
    print(f"commit {path.name}, the samples and golden/; compare at any time with: pytest --modelreg")
    return Exit.OK
