"""``modelreg rejudge``: what a run observed, judged again with other limits; no model is run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import UsageFault

if TYPE_CHECKING:
    from pytest_modelreg.engine.kept_run import KeptRun
    from pytest_modelreg.engine.rejudging import Rejudgement


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="folder of a run (also one downloaded from CI), or the id of one; default: the last run here",
    )
    parser.add_argument("cases", nargs="*", metavar="CASE_ID", help="cases to judge; default: all of the run")
    parser.add_argument(
        "--checks",
        action="append",
        default=[],
        metavar="[OUTPUT.]CHECK=LIMIT",
        help="a limit in the place of the suite file's, as it would stand there: rel_l2=1e-3, "
        "logits.top1_agreement=off, 'rel_l2={max: 1e-3, tags: {critical: 1e-5}}'; may be repeated",
    )
    parser.add_argument("--json", metavar="PATH", help="write the report as JSON, a record a case")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show a case that differs with its samples and numbers"
    )


def run(arguments: argparse.Namespace) -> int:
    """Judge again, print a line a case and one of counts.

    Raises
    ------
    UsageFault, SuiteFileError
        When the command cannot be carried out as given.
    """
    from pytest_modelreg.engine.kept_run import read_run
    from pytest_modelreg.engine.planned_case import PlannedCases
    from pytest_modelreg.engine.rejudging import choose_run_cases, list_golden_roots, rejudge
    from pytest_modelreg.engine.review import find_run
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.engine.suite_file.override import read_overrides

    here = Path.cwd()
    root = find_project_root(here)
    kept = read_run(find_run(arguments.run, here, root))
    cases = choose_run_cases(kept, arguments.cases)
    overrides = read_overrides(arguments.checks, flag="--checks")
    planned = PlannedCases(here)
    golden_roots = list_golden_roots(cases, planned, root)
    target = None if arguments.json is None else here / arguments.json
    if target is not None:
        _require_own_place(target, kept, golden_roots)
    found = []
    for each in rejudge(cases, overrides, planned=planned, root=root, is_chosen=bool(arguments.cases)):
        found.append(each)
        _show(each, is_verbose=arguments.verbose)
    print(_count(found))
    if target is not None:
        _write_report(found, kept, target)
    return _choose_exit(found)


def _show(each: Rejudgement, *, is_verbose: bool) -> None:
    from pytest_modelreg.domain.verdict import Verdict
    from pytest_modelreg.report import render_case, render_rejudged
    from pytest_modelreg.report.table import printable

    result = each.result
    if is_verbose and each.is_judged and result.verdict is not Verdict.MATCH:
        print(printable(f"{result.id}: {each.before.value} ->"), f"{render_case(result)}\n", flush=True)
        return
    print(render_rejudged(each.before, result), flush=True)
    for line in result.details.splitlines():
        print(f"  {printable(line)}")


def _count(found: Sequence[Rejudgement]) -> str:
    from pytest_modelreg.report.text import summary_counts

    verdicts = [each.result.verdict for each in found if each.is_judged]
    n_changed = sum(each.is_judged and each.result.verdict is not each.before for each in found)
    n_refused = sum(each.is_refused for each in found)
    parts = [f"{len(verdicts)} judged again: {summary_counts(verdicts)}" if verdicts else "none judged again"]
    parts += [f"{n_changed} with another verdict"] if n_changed else []
    parts += [f"{n_refused} could not be judged"] if n_refused else []
    return "; ".join(parts)


def _choose_exit(found: Sequence[Rejudgement]) -> int:
    verdicts = [each.result.verdict for each in found if each.is_judged]
    if any(each.is_refused for each in found) or not verdicts:
        return Exit.COULD_NOT_RUN  # where nothing was judged, nothing is known
    return Exit.OK if all(verdict.passes for verdict in verdicts) else Exit.DIFFERS


def _require_own_place(target: Path, kept: KeptRun, golden_roots: Sequence[Path]) -> None:
    """Refuse to write the report where only a run or a regeneration writes."""
    taken = [("the run folder", kept.folder), *(("the goldens", root) for root in golden_roots)]
    for what, folder in taken:
        if target.resolve().is_relative_to(folder.resolve()):
            raise UsageFault(
                f"--json {target}: expected a place outside of {what} ({folder}); choose another"
            )


def _write_report(found: Sequence[Rejudgement], kept: KeptRun, target: Path) -> None:
    from pytest_modelreg.report import dump_json, rejudged_document

    document = rejudged_document(
        [each.result for each in found],
        kept.report,
        run_id=kept.folder.name,
        fingerprint=next((each.fingerprint for each in found if each.fingerprint is not None), None),
        is_partial=len(found) < len(kept.cases),
    )
    dump_json(document, target)
