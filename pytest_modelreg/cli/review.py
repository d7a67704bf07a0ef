"""``modelreg review``: what a run observed and differs from its goldens, decided case by case."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.question import ask_text
from pytest_modelreg.domain.errors import ModelRegError, UsageFault

if TYPE_CHECKING:
    from pytest_modelreg.engine.kept_case import KeptCase
    from pytest_modelreg.engine.outcome import Outcome
    from pytest_modelreg.engine.regeneration import Regeneration

_CHOICES = {"a": "accept", "r": "reject", "s": "skip"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="folder of a run (also one downloaded from CI), or the id of one; default: the last run here",
    )
    parser.add_argument(
        "--accept", nargs="+", default=[], metavar="ID", help="case ids whose observations become goldens"
    )
    parser.add_argument("--accept-all", action="store_true", help="accept every case that waits")
    parser.add_argument(
        "--reject", nargs="+", default=[], metavar="ID", help="case ids that are not asked about again"
    )
    parser.add_argument("--reason", help="why behaviour changes; kept in golden.json, needed to replace")
    parser.add_argument("--allow-ci", action="store_true", help="accept although CI or BUILD_NUMBER is set")


def run(arguments: argparse.Namespace) -> int:
    """Show what waits and carry out what is decided.

    Raises
    ------
    UsageFault, SuiteFileError, RegenerationRefused
        When the command cannot be carried out as given.
    """
    from pytest_modelreg.engine.kept_run import choose_cases, list_kept_cases
    from pytest_modelreg.engine.regeneration import plan_regeneration
    from pytest_modelreg.engine.review import WAITING, find_run
    from pytest_modelreg.engine.run import find_project_root

    here = Path.cwd()
    root = find_project_root(here)
    folder = find_run(arguments.run, here, root)
    kept = list_kept_cases(folder)
    waiting = [case for case in kept.cases if case.verdict in WAITING and not case.decision]
    lost = kept.take_damaged([*arguments.accept, *arguments.reject])
    accepted = choose_cases(waiting, [name for name in arguments.accept if name not in lost])
    rejected = choose_cases(waiting, [name for name in arguments.reject if name not in lost])
    shared = [case.id for case in accepted if not case.keeps_golden]
    if shared:
        raise UsageFault(
            f"{shared[0]}: is judged against its reference's golden, which what it observed cannot become; "
            "give it limits of its own, or write `golden: own` for it in the suite file and run it again"
        )
    both = [case.id for case in accepted if case in rejected]
    if both:
        raise UsageFault(f"{both[0]}: expected it accepted or rejected, got both")
    if arguments.accept_all:
        accepted = [case for case in waiting if case not in rejected and case.keeps_golden]
    for fault in kept.damaged.values():
        print(fault)
    if not kept.has_report:
        print(
            f"{folder.name}: no report: the run was cut off, or this is a part of it; others may wait there"
        )
    if not waiting:
        what = f"nothing {'else ' if kept.damaged else ''}waits for review"
        print(f"{folder.name}: {what} ({len(kept.cases)} observations kept)")
        return Exit.COULD_NOT_RUN if kept.damaged else Exit.OK
    is_asking = not (accepted or rejected or lost) and sys.stdin.isatty()
    regeneration = None
    if accepted or is_asking:
        regeneration = plan_regeneration(
            "changed", reason=arguments.reason, allow_ci=arguments.allow_ci, environ=os.environ
        )
    decisions = {case.id: "accept" for case in accepted} | {case.id: "reject" for case in rejected}
    code = _Review(here, root, regeneration).go_through(waiting, decisions, is_asking=is_asking)
    return Exit.COULD_NOT_RUN if kept.damaged else code


class _Review:
    """One pass over the cases of a run that wait."""

    def __init__(self, here: Path, root: Path, regeneration: Regeneration | None) -> None:
        from pytest_modelreg.engine.planned_case import PlannedCases

        self._planned = PlannedCases(here)
        self._root = root
        self._regeneration = regeneration

    def go_through(self, waiting: list[KeptCase], decisions: dict[str, str], *, is_asking: bool) -> int:
        """Show every case, decide it, and return the exit code."""
        failed, left = [], []
        for case in waiting:
            decision = decisions.get(case.id, "skip")
            try:
                outcome = self._show(case)
                if outcome is not None:
                    decision = self._ask(case) if is_asking else decision
                    decision = self._carry_out(case, outcome, decision)
            except UsageFault:
                raise
            except ModelRegError as error:
                print(f"{case.id}: {error}")
                failed.append(case.id)
                continue
            if outcome is not None and decision != "accept":
                left.append(case.id)
        if failed:
            return Exit.COULD_NOT_RUN
        if left and not is_asking and not decisions:
            print(f"{len(left)} wait; decide with --accept ID, --accept-all or --reject ID, and --reason")
        return Exit.DIFFERS if left else Exit.OK

    def _show(self, case: KeptCase) -> Outcome | None:
        """Judge a case against the golden of now; None where it agrees with it by now."""
        from pytest_modelreg.domain.verdict import Verdict
        from pytest_modelreg.engine.review import judge_again
        from pytest_modelreg.report import render_case

        outcome = judge_again(case, self._planned, self._root)
        if outcome.result.verdict is Verdict.MATCH:
            print(f"{case.id}: match: the golden agrees with it by now")
            return None
        print(f"{case.id}: {render_case(outcome.result)}\n", flush=True)
        return outcome

    def _ask(self, case: KeptCase) -> str:
        choices, question = _CHOICES, "[a]ccept, [r]eject or [s]kip?"
        if not case.keeps_golden:
            choices = {key: choice for key, choice in _CHOICES.items() if choice != "accept"}
            question = "judged against its reference's golden, which it cannot become: [r]eject or [s]kip?"
        while True:
            answer = ask_text(f"{case.id}: {question}")
            if answer is None:
                return "skip"
            if answer[:1].lower() in choices:
                return choices[answer[:1].lower()]

    def _carry_out(self, case: KeptCase, outcome: Outcome, decision: str) -> str:
        """Do what was decided; return what it came to."""
        from dataclasses import replace

        from pytest_modelreg.engine.review import accept_kept, reject_kept

        if decision == "reject":
            reject_kept(case)
            print(f"{case.id}: rejected; its files stay in {case.folder.name}/")
        if decision != "accept" or self._regeneration is None:
            return decision
        regeneration = self._regeneration
        if regeneration.reason is None and outcome.needs_reason and sys.stdin.isatty():
            reason = ask_text("why does it change?")
            if not reason:  # the other cases are still to be decided
                print(f"{case.id}: skipped: it is accepted only with a reason")
                return "skip"
            regeneration = replace(regeneration, reason=reason)
        accepted = accept_kept(case, outcome, regeneration)
        print(f"{case.id}: {accepted.result.message}", flush=True)
        return decision
