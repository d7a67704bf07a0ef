"""``modelreg regen``: run the cases, show what would change, ask, then replace whole goldens."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.question import ask
from pytest_modelreg.domain.verdict import Verdict

if TYPE_CHECKING:
    from pytest_modelreg.engine.outcome import Outcome
    from pytest_modelreg.engine.regeneration import Regeneration
    from pytest_modelreg.engine.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="SUITE|ID",
        help="suite file, suite name or case id such as 'photo[reference]'; "
        "default: every suite below this folder",
    )
    parser.add_argument("--reason", help="why behaviour changes; kept in golden.json, needed to replace")
    parser.add_argument(
        "--mode",
        choices=("missing", "changed", "all"),
        default="changed",
        help="missing: only where there is no golden; changed (default): also where the case drifted "
        "or is stale, from another environment's golden too; all: everything",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="run and show what would change; nothing is written"
    )
    parser.add_argument("--yes", action="store_true", help="answer the question with yes; for scripts")
    parser.add_argument(
        "--allow-ci", action="store_true", help="regenerate although CI or BUILD_NUMBER is set"
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command.

    Raises
    ------
    UsageFault, SuiteFileError, RegenerationRefused
        When the command cannot be carried out as given.
    """
    from pytest_modelreg.cli.session import open_session
    from pytest_modelreg.engine.golden_budget import list_excess
    from pytest_modelreg.engine.regeneration import plan_regeneration
    from pytest_modelreg.engine.run import find_project_root, settle
    from pytest_modelreg.engine.selection import select_recordable

    regeneration = plan_regeneration(
        arguments.mode,
        reason=arguments.reason,
        allow_ci=arguments.allow_ci,
        environ={} if arguments.dry_run else os.environ,  # what writes nothing is not locked
    )
    here = Path.cwd()
    cases, n_others = select_recordable(arguments.targets, here)
    with open_session(find_project_root(here), cases, regeneration=regeneration, diagnose="auto") as session:
        outcomes = []
        for suite, case in cases:
            print(f"{case.id}: running", flush=True)
            outcomes.append(session.run_case(suite, case))
        try:
            if arguments.dry_run:
                code = _preview(outcomes, regeneration)
            else:
                code = _decide(session, outcomes, regeneration, yes=arguments.yes)
        finally:
            for outcome in outcomes:
                settle(outcome)
    for warning in list_excess({suite.file: suite for suite, _ in cases}.values()):
        print(f"warning: {warning}")
    if n_others:
        what = "variant is" if n_others == 1 else "variants are"
        print(f"{n_others} {what} judged against the reference's golden; compare with: pytest --modelreg")
    return code


def record(session: Session, outcomes: list[Outcome]) -> list[Outcome]:
    """Record the outcomes one by one, printing what became of each; return those that could not be."""
    failed = []
    for outcome in outcomes:
        result = session.conclude(outcome).result
        is_error = result.verdict is Verdict.ERROR
        failed += [outcome] if is_error else []
        print(f"{result.id}: {'error: ' if is_error else ''}{result.message}", flush=True)
    return failed


def _choose(outcomes: list[Outcome], regeneration: Regeneration) -> list[Outcome]:
    from pytest_modelreg.engine.acceptance import is_wanted

    return [outcome for outcome in outcomes if is_wanted(outcome, regeneration)]


def _preview(outcomes: list[Outcome], regeneration: Regeneration) -> int:
    """Show what a regeneration would do, and write nothing."""
    wanted = _choose(outcomes, regeneration)
    for outcome in outcomes:
        print(f"{outcome.result.id}: {_describe(outcome, is_wanted=outcome in wanted)}")
    n_replaced = sum(outcome.replaces for outcome in wanted)
    print(
        f"dry run: {len(wanted) - n_replaced} would be recorded, {n_replaced} replaced; nothing was written"
    )
    if any(outcome.result.verdict is Verdict.ERROR for outcome in outcomes):
        return Exit.COULD_NOT_RUN
    return Exit.DIFFERS if wanted or any(outcome.waits for outcome in outcomes) else Exit.OK


def _decide(session: Session, outcomes: list[Outcome], regeneration: Regeneration, *, yes: bool) -> int:
    """Show what would change, ask where something is replaced, and record."""
    wanted = _choose(outcomes, regeneration)
    asking = [outcome for outcome in wanted if outcome.needs_reason]
    for outcome in outcomes:
        print(f"{outcome.result.id}: {_describe(outcome, is_wanted=outcome in wanted)}")
    for outcome in asking:
        regeneration.require_reason(
            outcome.result.id, against="" if outcome.replaces else outcome.place.found.name
        )
    refused = asking if asking and not yes and not _confirmed(asking) else []
    failed = record(session, [outcome for outcome in wanted if outcome not in refused])
    for outcome in outcomes:
        if outcome not in wanted:  # of these only what git needs beside a golden is restored
            kept = session.conclude(outcome).result
            if kept.verdict is Verdict.ERROR and outcome.result.verdict is not Verdict.ERROR:
                print(f"{kept.id}: error: {kept.message}", flush=True)
                failed.append(outcome)
    if failed or any(outcome.result.verdict is Verdict.ERROR for outcome in outcomes):
        return Exit.COULD_NOT_RUN
    left = [outcome for outcome in outcomes if outcome.waits and outcome not in wanted]
    return Exit.DIFFERS if left or refused else Exit.OK


def _describe(outcome: Outcome, *, is_wanted: bool) -> str:
    """Return what a case came to and what is going to happen to its golden."""
    from pytest_modelreg.engine.subject import describe_missing
    from pytest_modelreg.report import render_case

    result = outcome.result
    if result.verdict is Verdict.MISSING:
        fault = outcome.golden_fault
        if fault is None:
            return describe_missing(outcome.place, fate="will be recorded")
        return f"{fault}; will be replaced"
    if result.verdict is Verdict.MATCH:
        fate = "rewritten where it differs" if is_wanted else "left as it is"
        return f"match: {result.message}; golden {fate}"
    return render_case(replace(result, command="") if is_wanted else result)


def _confirmed(asking: list[Outcome]) -> bool:
    """Ask whether goldens are replaced, and drifts recorded for an environment that has none."""
    n_replaced = sum(outcome.replaces for outcome in asking)
    n_new = len(asking) - n_replaced
    if not sys.stdin.isatty():
        each = [_count(n_replaced, "golden", "would be replaced")] if n_replaced else []
        each += [_count(n_new, "drift", "would become this environment's golden")] if n_new else []
        print(f"{', '.join(each)}; nothing was: not on a terminal, add --yes")
        return False
    each = [_count(n_replaced, "golden", "")] if n_replaced else []
    each += [_count(n_new, "drift", "as this environment's own")] if n_new else []
    verb = "Replace" if n_replaced else "Record"
    if ask(f"{verb} {' and record '.join(each)}?"):
        return True
    print("nothing was replaced" if n_replaced else "nothing was recorded")
    return False


def _count(number: int, noun: str, rest: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'} {rest}".rstrip()
