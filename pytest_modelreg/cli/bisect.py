"""``modelreg bisect``: the first commit, or the first version of a package, with which a case drifts.

What belongs here: words and exit code. The search is ``engine.bisection``'s; every candidate is the
case in another environment, so that nothing of the checkout is touched and nothing recorded.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_modelreg.engine.bisection import Commits, SearchResult, Trial, Trials
    from pytest_modelreg.engine.bisection.search import Candidates
    from pytest_modelreg.engine.suite import CasePlan, Suite

_SHORT = 12
_MAX_FILES = 20
_MAX_DETAILS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "target", metavar="SUITE|ID", help="suite file or name (its reference), or the id of a case"
    )
    parser.add_argument("--good", metavar="REV", help="a revision that matches the golden")
    parser.add_argument("--bad", metavar="REV", help="a later revision that drifts from it")
    parser.add_argument("--package", metavar="NAME", help="search versions of this package instead")
    parser.add_argument(
        "--versions", metavar="A,B,...", help="its versions, oldest first: the first matches, the last drifts"
    )
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="package beside it, as pip reads it; may be given several times; default: what the golden "
        "was recorded with, or the requirements of the case's own environment",
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command.

    Raises
    ------
    UsageFault, SuiteFileError
        When the command cannot be carried out as given, or an end is not what it is said to be.
    """
    from pytest_modelreg.cli.session import open_session
    from pytest_modelreg.engine.bisection import Trials, scratch_folder, search
    from pytest_modelreg.engine.run import find_project_root

    _check(arguments)
    here = Path.cwd()
    suite, case = _choose(arguments.target, here)
    candidates, good, bad, place, describe = _plan(arguments, suite, case)
    with (
        scratch_folder() as folder,
        open_session(find_project_root(here), [], regeneration=None, folder=folder) as session,
    ):
        trials = Trials(
            case,
            place=place,
            run=lambda placed: session.run_case(suite, placed),
            report=lambda trial, n_left: _report(trial, n_left, describe),
        )
        result = search(candidates, good=good, bad=bad, attempt=trials.attempt)
        _conclude(result, trials, candidates, describe)
    return Exit.DIFFERS


_Plan = tuple["Candidates", str, str, "Callable[[CasePlan, str], CasePlan]", "Callable[[str], str]"]


def _check(arguments: argparse.Namespace) -> None:
    by_commit = [arguments.good, arguments.bad]
    by_version = [arguments.package, arguments.versions]
    if any(by_commit) == any(by_version) or not (all(by_commit) or all(by_version)):
        raise UsageFault("expected --good REV --bad REV, or --package NAME --versions A,B,...")
    if arguments.others and not arguments.package:
        raise UsageFault("--with: expected --package beside it")


def _choose(target: str, here: Path) -> tuple[Suite, CasePlan]:
    """Return the case that is meant: by its id, else the reference of the suite."""
    from pytest_modelreg.domain.case import REFERENCE
    from pytest_modelreg.engine.selection import select_cases

    found = select_cases([target], here)
    named = [(suite, case) for suite, case in found if target in (case.id,)]
    references = named or [(suite, case) for suite, case in found if case.variant == REFERENCE]
    if len(references) != 1:
        ids = ", ".join(case.id for _, case in references)
        raise UsageFault(f"{target}: expected one suite or case, got several; name one of {ids}")
    return references[0]


def _plan(arguments: argparse.Namespace, suite: Suite, case: CasePlan) -> _Plan:
    from pytest_modelreg.engine.bisection import (
        Commits,
        Versions,
        list_packages,
        place_in_revision,
        place_in_version,
    )
    from pytest_modelreg.engine.change import find_commit, open_repository
    from pytest_modelreg.engine.golden_reading import read_trusted_golden
    from pytest_modelreg.engine.outcome import place_of

    golden, _ = read_trusted_golden(place_of(suite, case))
    if golden is None:
        raise UsageFault(
            f"{case.id}: expected a golden to compare with, found none; record it: modelreg regen"
        )
    if arguments.package:
        versions = [part.strip() for part in arguments.versions.split(",") if part.strip()]
        declared = case.template.environment is not None and case.template.environment.requirements
        # What the suite declares is the whole of it; else all is as it was when the golden was recorded.
        beside = [] if declared else list_packages(golden, arguments.package)
        others = [*beside, *arguments.others]

        def place(case: CasePlan, version: str) -> CasePlan:
            return place_in_version(case, arguments.package, version, others=others)

        listed = Versions(versions)
        return listed, versions[0], versions[-1], place, lambda version: f"{arguments.package} {version}"
    repository = open_repository(suite.root)
    good, bad = (
        find_commit(repository, revision, option=option)
        for option, revision in (("--good", arguments.good), ("--bad", arguments.bad))
    )
    commits = Commits(repository, good=good, bad=bad)
    return commits, good, bad, place_in_revision, commits.describe


def _report(trial: Trial, n_left: int, describe: Callable[[str], str]) -> None:
    steps = f" ({n_left} left to decide)" if n_left else ""
    print(f"{describe(trial.candidate)}: {trial.finding.value}{steps}: {trial.message}", flush=True)
    for line in trial.details.splitlines()[-_MAX_DETAILS:]:
        print(f"  {line.strip()}", flush=True)


def _conclude(
    result: SearchResult, trials: Trials, candidates: Candidates, describe: Callable[[str], str]
) -> None:
    from pytest_modelreg.engine.bisection import Commits
    from pytest_modelreg.report import render_case

    print(f"\nfirst that drifts: {describe(result.first_bad)}")
    for suspect in result.suspects:
        print(f"  or, as it could not run: {describe(suspect)}")
    if isinstance(candidates, Commits):
        _print_files(candidates, result.first_bad)
    print(render_case(trials.outcomes[result.first_bad].result))
    n_unknown = sum(trial.finding.value == "could not run" for trial in result.trials)
    skipped = f", {n_unknown} could not run" if n_unknown else ""
    print(f"{len(result.trials)} tried{skipped}", file=sys.stderr)


def _print_files(commits: Commits, commit: str) -> None:
    files = commits.list_files(commit)
    for name in files[:_MAX_FILES]:
        print(f"  changes {name}")
    if len(files) > _MAX_FILES:
        print(f"  and {len(files) - _MAX_FILES} more files")
