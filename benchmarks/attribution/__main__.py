"""How often the first named cause is right: every kind of fault planted in several ways, and benign changes.

The tool is run from outside: a golden is recorded in a project of its own, a copy of the
project is changed, and ``pytest --modelreg`` judges it. A third of the list is held out by a
hash of the names, for scoring what was made with the other two thirds.

Run with ``python -m benchmarks.attribution`` from the root of the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.attribution.base_project import BaseProjects
from benchmarks.attribution.fault import HELD_OUT, TUNING, Fault, digest_list
from benchmarks.attribution.faults import FAULTS
from benchmarks.attribution.runner import Runner
from benchmarks.attribution.score import describe_outcomes, passes, write_table
from benchmarks.attribution.trial import Outcome, run_trial


def main() -> int:
    """Print the table; return 0 where the goal is met, else 1."""
    options = _read_options()
    chosen = _choose(options)
    if not chosen:
        sys.exit("no fault of the list is chosen; --list prints the names")
    print(f"list {digest_list(FAULTS)}: {len(FAULTS)} rows, {len(chosen)} chosen")
    if options.list:
        for fault in chosen:
            print(f"{fault.part:9}{fault.kind:28}{fault.name}: {' or '.join(fault.accepted)} {fault.why}")
        return 0
    if options.folder is not None:
        return _run(options, chosen, options.folder.resolve())
    with tempfile.TemporaryDirectory() as name:
        return _run(options, chosen, Path(name))


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attribution",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=(TUNING, HELD_OUT, "all"), default=TUNING, help="default: tuning")
    parser.add_argument("--only", action="append", metavar="NAME", help="a fault, a project or a kind")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time (default: 1)")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write every outcome there")
    parser.add_argument("--list", action="store_true", help="print the chosen rows and run nothing")
    parser.add_argument("--folder", type=Path, help="keep base projects and trials there (default: nowhere)")
    parser.add_argument(
        "--fresh", action="store_true", help="start every run of pytest anew (slower; default: forked)"
    )
    parser.add_argument(
        "--time",
        choices=("none", "some", "all"),
        default="some",
        help="run again with --modelreg-diagnose=off: no fault, the first of every kind (default), every",
    )
    return parser.parse_args()


def _choose(options: argparse.Namespace) -> list[Fault]:
    """Return the part's rows; ``--only`` chooses among them by name, project or kind."""
    rows = [fault for fault in FAULTS if options.part in ("all", fault.part)]
    if not options.only:
        return rows
    return [fault for fault in rows if {fault.name, fault.project, fault.kind} & set(options.only)]


def _run(options: argparse.Namespace, chosen: list[Fault], folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(is_fresh=options.fresh)
    projects = BaseProjects(folder, runner)
    timed = _choose_timed(chosen, options.time)
    started = time.perf_counter()

    def run(fault: Fault) -> Outcome:
        keep = options.folder is not None
        outcome = run_trial(fault, projects, timed=fault.name in timed, keep=keep)
        mark = "ok   " if outcome.is_right else "wrong"
        print(
            f"{mark} {outcome.elapsed_s:5.1f} s  {fault.name}: {outcome.verdict}, {outcome.first_cause}",
            flush=True,
        )
        return outcome

    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        outcomes = list(pool.map(run, chosen))
    runner.close()
    print()
    print(write_table(outcomes))
    print(f"{len(chosen)} trials in {time.perf_counter() - started:.0f} s with {options.jobs} at a time")
    if options.json is not None:
        text = json.dumps(describe_outcomes(outcomes, digest_list(FAULTS)), indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    print("PASS" if passes(outcomes) else "FAIL")
    return 0 if passes(outcomes) else 1


def _choose_timed(chosen: list[Fault], which: str) -> frozenset[str]:
    """Return the names of the faults that are run a second time without diagnosis."""
    faults = [fault for fault in chosen if not fault.is_benign]
    if which == "none":
        return frozenset()
    if which == "all":
        return frozenset(fault.name for fault in faults)
    return frozenset({fault.kind: fault.name for fault in reversed(faults)}.values())


if __name__ == "__main__":
    sys.exit(main())
