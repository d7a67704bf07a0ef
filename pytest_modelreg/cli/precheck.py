"""``modelreg precheck``: are the pinned samples fed to the model as they were? In seconds, without a model.

What belongs here: words, exit code and files. What is compared is ``engine.precheck``'s.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.progress import make_progress
from pytest_modelreg.domain.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_modelreg.domain.precheck import PrecheckResult
    from pytest_modelreg.engine.outcome import Outcome
    from pytest_modelreg.engine.session import Session
    from pytest_modelreg.engine.suite import CasePlan, Suite


_INPUT_REASONS = ("preprocess code", "loader code", "sample")
"""How the reasons begin that concern preprocessed samples and nothing else."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="SUITE|ID",
        help="suite file, suite name or case id; default: every suite below this folder",
    )
    parser.add_argument(
        "--base",
        metavar="REV",
        help="only suites of which code, samples or configuration changed since this revision, "
        "such as origin/main",
    )
    parser.add_argument("--markdown", metavar="PATH", type=Path, help="also write the result as Markdown")
    parser.add_argument("-v", "--verbose", action="store_true", help="list every sample that differs")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command.

    Raises
    ------
    UsageFault, SuiteFileError
        When the command cannot be carried out as given.
    """
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.report.report_file import require_writable

    if arguments.markdown is not None:
        require_writable(arguments.markdown)
    here = Path.cwd()
    root = find_project_root(here)
    chosen, left_out = _choose(arguments, here, root)
    results: list[PrecheckResult] = []
    with tempfile.TemporaryDirectory(prefix="modelreg-precheck-") as name, ExitStack() as stack:
        models = _ModelRunner(root, Path(name), stack)
        for number, (suite, cases, reasons) in enumerate(chosen):
            results += _precheck(suite, cases, reasons, Path(name, str(number)), models, arguments.verbose)
    for line in left_out:
        print(line)
    _conclude(arguments, results, left_out)
    return _exit_code(results)


_Choice = tuple["Suite", "list[CasePlan]", "tuple[str, ...]"]


def _choose(arguments: argparse.Namespace, here: Path, root: Path) -> tuple[list[_Choice], list[str]]:
    """Return suites with the cases that were named and why, and a line on each suite that is left out."""
    from pytest_modelreg.domain.errors import UsageFault
    from pytest_modelreg.engine.pipelines import list_prechecked
    from pytest_modelreg.engine.selection import select_cases

    by_file: dict[Path, tuple[Suite, list[CasePlan]]] = {}
    for suite, case in select_cases(arguments.targets, here):
        if case.id in arguments.targets and not list_prechecked([case]):
            raise UsageFault(
                f"{case.id}: expected a case whose inputs are prepared here, got one that another "
                "environment prepares, with packages of its own; compare with pytest --modelreg"
            )
        by_file.setdefault(suite.file, (suite, []))[1].append(case)
    if arguments.base is None:
        return [(suite, cases, ()) for suite, cases in by_file.values()], []
    from pytest_modelreg.engine.change import select_changed

    chosen: list[_Choice] = []
    left_out = []
    for found in select_changed([suite for suite, _ in by_file.values()], base=arguments.base, root=root):
        if found.reasons:
            chosen.append((found.suite, by_file[found.suite.file][1], found.reasons))
        else:
            left_out.append(f"{found.suite.name}: nothing of it changed since {arguments.base}")
    return chosen, left_out


def _precheck(
    suite: Suite,
    cases: list[CasePlan],
    reasons: Sequence[str],
    folder: Path,
    models: _ModelRunner,
    verbose: bool,
) -> list[PrecheckResult]:
    from pytest_modelreg.engine.precheck import Precheck
    from pytest_modelreg.report import render_precheck
    from pytest_modelreg.report.table import printable

    started = time.perf_counter()
    for reason in reasons:
        print(printable(f"{suite.name}: {reason}"))
    precheck = Precheck(suite, folder=folder, run_model=models.run, progress=make_progress())
    results = precheck.run(cases)
    for result in results:
        print(render_precheck(result, verbose=verbose), flush=True)
    if any(not reason.startswith(_INPUT_REASONS) for reason in reasons):
        print(
            f"{suite.name}: a precheck looks at preprocessed samples alone; what else changed (collate, "
            "forward, model, weights, packages) shows in: pytest --modelreg"
        )
    n_run = sum(result.behaviour is not None for result in results)
    built = "no model built" if not n_run else f"{n_run} model run{'s' if n_run > 1 else ''}"
    print(f"{suite.name}: {built}, {time.perf_counter() - started:.1f} s")
    return results


def _conclude(
    arguments: argparse.Namespace, results: Sequence[PrecheckResult], left_out: Sequence[str]
) -> None:
    from pytest_modelreg.report import render_precheck_markdown, write_report
    from pytest_modelreg.report.github import append_step_summary

    text = render_precheck_markdown(results, left_out)
    if arguments.markdown is not None:
        write_report(text, arguments.markdown)
    warning = append_step_summary(text, os.environ)
    if warning is not None:
        print(f"warning: {warning}", file=sys.stderr)


def _exit_code(results: Sequence[PrecheckResult]) -> int:
    verdicts = {result.verdict for result in results}
    if Verdict.ERROR in verdicts:
        return Exit.COULD_NOT_RUN
    return Exit.OK if verdicts <= {Verdict.MATCH} else Exit.DIFFERS


class _ModelRunner:
    """Runs models, once one has to be: until then no session is opened and the project not asked."""

    def __init__(self, root: Path, folder: Path, stack: ExitStack) -> None:
        self._root = root
        self._folder = folder
        self._stack = stack
        self._session: Session | None = None

    def run(self, suite: Suite, case: CasePlan, only: frozenset[str] | None) -> Outcome:
        """Run a case on some samples, or on all; what it leaves goes with the command's own folder."""
        from pytest_modelreg.cli.session import open_session

        if self._session is None:
            print("inputs differ: running the model", file=sys.stderr, flush=True)
            # Not a run folder that somebody reviews: a golden made of some samples would be a part of one.
            self._session = self._stack.enter_context(
                open_session(self._root, [], regeneration=None, folder=self._folder / "run")
            )
        return self._session.run_case(suite, case, only=only)
