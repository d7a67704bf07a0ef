"""``modelreg regen``: run the cases, show what would change, ask, then replace whole goldens."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.question import ask
from pytest_modelreg.domain.verdict import Verdict

if TYPE_CHECKING:
    from pytest_modelreg.engine.regeneration import Regeneration
    from pytest_modelreg.engine.session import Outcome, Session


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
        "or is stale; all: everything",
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
    from pytest_modelreg.engine.regeneration import plan_regeneration
    from pytest_modelreg.engine.selection import select_cases
    from pytest_modelreg.engine.session import Session, new_run_id, open_run_folder

    regeneration = plan_regeneration(
        arguments.mode, reason=arguments.reason, allow_ci=arguments.allow_ci, environ=os.environ
    )
    base = Path.cwd()
    cases = select_cases(arguments.targets, base)
    session = Session(run_folder=open_run_folder(base, new_run_id()))
    outcomes = []
    for suite, case in cases:
        print(f"{case.id}: running", flush=True)
        outcomes.append(session.run_case(suite, case, keep=True))
    try:
        return _settle(session, outcomes, regeneration, yes=arguments.yes)
    finally:
        session.discard_matches(outcomes)


def record_outcomes(session: Session, outcomes: list[Outcome], regeneration: Regeneration) -> list[Outcome]:
    """Record the outcomes one by one, printing what became of each."""
    accepted = []
    for outcome in outcomes:
        accepted.append(session.accept(outcome, regeneration))
        print(f"{outcome.result.id}: {accepted[-1].result.message}")
    return accepted


def _settle(session: Session, outcomes: list[Outcome], regeneration: Regeneration, *, yes: bool) -> int:
    """Show what would change, ask where something is replaced, and record."""
    from pytest_modelreg.report import render_case

    wanted = [outcome for outcome in outcomes if regeneration.accepts(outcome.result.verdict)]
    replacing = [outcome for outcome in wanted if outcome.result.verdict is not Verdict.MISSING]
    for outcome in outcomes:
        if outcome in wanted and outcome.result.verdict is Verdict.MISSING:
            print(f"{outcome.result.id}: no golden yet, will be recorded")
        elif outcome.result.verdict is Verdict.MATCH and outcome not in wanted:
            print(f"{outcome.result.id}: match: {outcome.result.message}; golden left as it is")
        else:
            print(f"{outcome.result.id}: {render_case(outcome.result)}")
    for outcome in replacing:
        regeneration.require_reason(outcome.result.id)
    refused = bool(replacing) and not yes and not _confirmed(len(replacing))
    record_outcomes(
        session, [outcome for outcome in wanted if not (refused and outcome in replacing)], regeneration
    )
    if any(outcome.result.verdict is Verdict.ERROR for outcome in outcomes):
        return Exit.COULD_NOT_RUN
    left = [
        outcome
        for outcome in outcomes
        if outcome.result.verdict in (Verdict.DRIFT, Verdict.STALE) and (refused or outcome not in wanted)
    ]
    return Exit.DIFFERS if left or refused else Exit.OK


def _confirmed(n_replaced: int) -> bool:
    what = f"{n_replaced} golden{'s' if n_replaced != 1 else ''}"
    if not sys.stdin.isatty():
        print(f"{what} would be replaced; nothing was: not on a terminal, add --yes")
        return False
    if ask(f"Replace {what}?"):
        return True
    print("nothing was replaced")
    return False
