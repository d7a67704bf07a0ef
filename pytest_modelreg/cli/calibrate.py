"""``modelreg calibrate``: measure the noise floor of a suite's model, and propose limits."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.cli.question import ask
from pytest_modelreg.domain.errors import GoldenError, ModelRegError, UsageFault
from pytest_modelreg.domain.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_modelreg.domain.environment import FactValue
    from pytest_modelreg.engine.calibration import FloorKeeping, GoldenCalibration, SuitePatch
    from pytest_modelreg.engine.suite import CasePlan, Suite

MAX_SAMPLES = 1000
"""Samples that are run unless more are asked for: about a dozen passes are made over them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="SUITE|ID",
        help="suite file, suite name, or case ids: then only these are measured, beside the case whose "
        "golden they are judged against",
    )
    parser.add_argument(
        "--samples",
        metavar="N",
        help=f"how many samples to run, spread over the set, or 'all'; default: all up to {MAX_SAMPLES}",
    )
    parser.add_argument(
        "--patch", type=Path, metavar="PATH", help="write the proposed limits there, to be applied by hand"
    )
    parser.add_argument(
        "--yes", action="store_true", help="keep the noise floor with the golden, without asking"
    )
    parser.add_argument(
        "--allow-ci", action="store_true", help="keep the noise floor although CI or BUILD_NUMBER is set"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and keep the floor when somebody says so.

    Raises
    ------
    UsageFault, SuiteFileError, RegenerationRefused
        When the command cannot be carried out as given.
    """
    from pytest_modelreg.cli.project import ask_project
    from pytest_modelreg.engine.calibration import write_suite_patch
    from pytest_modelreg.engine.regeneration import locking_variable, plan_regeneration
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.engine.selection import select_cases

    n_samples = _read_count(arguments.samples)
    here = Path.cwd()
    chosen = _group(select_cases(arguments.targets, here))
    _refuse_patch_place(arguments.patch, [suite for suite, _ in chosen])
    ci = locking_variable(os.environ)
    if arguments.yes:  # measuring writes nothing, so that only this is locked
        ci = plan_regeneration("missing", reason=None, allow_ci=arguments.allow_ci, environ=os.environ).ci
    root = find_project_root(here)
    facts = ask_project(root)
    patches: list[SuitePatch] = []
    keepings: list[FloorKeeping] = []
    has_failed = asks = False
    for suite, cases in chosen:
        measured, is_incomplete = _measure_suite(suite, cases, n_samples, facts)
        calibrations = [calibration for calibration, _ in measured]
        has_failed |= is_incomplete
        asks |= any(calibration.asks or _has_drifted(calibration) for calibration in calibrations)
        patch = write_suite_patch(suite, calibrations, root)
        patches += [] if patch is None else [patch]
        keepings += [keeping for _, keeping in measured]
    _hand_over(patches, arguments.patch, here)
    is_locked = ci is not None and not arguments.allow_ci
    has_failed |= _keep(keepings, yes=arguments.yes, ci=ci, is_locked=is_locked)
    if has_failed:
        return Exit.COULD_NOT_RUN
    return Exit.DIFFERS if asks else Exit.OK


def _has_drifted(calibration: GoldenCalibration) -> bool:
    """Whether the case differs from its golden now, so that its limits are not the question."""
    return calibration.now is not None and calibration.now.verdict in (Verdict.DRIFT, Verdict.STALE)


def _read_count(text: str | None) -> int | None:
    """Return how many samples to run at most; None for all."""
    if text is None:
        return MAX_SAMPLES
    if text == "all":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise UsageFault(f"--samples: expected a number from 1, or all, got {text!r}")
    return int(text)


def _group(cases: Sequence[tuple[Suite, CasePlan]]) -> list[tuple[Suite, list[CasePlan]]]:
    """Return the chosen cases by suite, in order."""
    grouped: dict[Path, tuple[Suite, list[CasePlan]]] = {}
    for suite, case in cases:
        grouped.setdefault(suite.file, (suite, []))[1].append(case)
    return list(grouped.values())


def _refuse_patch_place(patch: Path | None, suites: Sequence[Suite]) -> None:
    if patch is None:
        return
    place = os.path.realpath(patch)
    if any(os.path.realpath(suite.file) == place for suite in suites):
        raise UsageFault(
            f"--patch: expected a new file, got the suite file {patch}, which is yours to change"
        )
    if any(Path(place).is_relative_to(os.path.realpath(suite.golden_root)) for suite in suites):
        raise UsageFault(f"--patch: expected a place outside the goldens, got {patch}")
    if not Path(place).parent.is_dir() or Path(place).is_dir():
        raise UsageFault(f"--patch: expected a file in a folder that exists, got {patch}")


def _measure_suite(
    suite: Suite, chosen: Sequence[CasePlan], n_samples: int | None, facts: Mapping[str, FactValue]
) -> tuple[list[tuple[GoldenCalibration, FloorKeeping]], bool]:
    """Measure and print every golden that the chosen cases meet; whether something could not be measured."""
    from pytest_modelreg.cli.calibration_text import render_calibration
    from pytest_modelreg.cli.progress import make_progress
    from pytest_modelreg.engine.calibration import list_goldens, measure_golden, spread_samples
    from pytest_modelreg.store import read_sample_set

    whole = read_sample_set(suite.samples)
    samples = spread_samples(whole, n_samples)
    if len(samples) < len(whole):
        print(f"{suite.name}: {len(samples)} of {len(whole)} samples, spread over the set")
    progress = make_progress()
    measured, has_failed = [], False
    for case, variants in list_goldens(suite, chosen):
        print(f"{case.id}: measuring", flush=True)
        try:
            found = measure_golden(
                suite, case, variants, samples=samples, whole=whole, facts=facts, progress=progress
            )
        except ModelRegError as error:
            print(f"{case.id}: could not be measured: {str(error).removeprefix(f'{case.id}: ')}")
            has_failed = True
            continue
        print(f"{render_calibration(found[0])}\n", flush=True)
        has_failed |= found[0].has_failed
        measured.append(found)
    return measured, has_failed


def _hand_over(patches: Sequence[SuitePatch], target: Path | None, here: Path) -> None:
    """Print the proposed limits, or write them where they are wanted; no suite file is touched."""
    if not patches:
        print("limits: nothing to propose" + ("" if target is None else f"; {target} was not written"))
        return
    text = "".join(patch.text for patch in patches)
    if target is None:
        print(f"proposed limits:\n\n{text}")
    else:
        try:
            target.write_bytes(text.encode("utf-8"))
        except OSError as error:
            raise UsageFault(f"--patch: {target}: cannot be written: {error.strerror or error}") from error
    for patch in patches:
        what = f"{patch.n_limits} limit{'' if patch.n_limits == 1 else 's'} of {_shown(patch.file, here)}"
        if not patch.is_diff:
            print(f"{what}: merge these lines into it by hand")
        elif target is None:
            print(f"{what}: nothing was changed; --patch PATH writes it to a file for `git apply`")
        else:
            print(f"{what}: nothing was changed; {_apply_command(patch, target, here)} applies it")


def _apply_command(patch: SuitePatch, target: Path, here: Path) -> str:
    """Return the command that applies a diff, wherever it is typed."""
    file = shlex.quote(str(target.absolute() if patch.base != here else target))
    is_repository = (patch.base / ".git").exists()
    place = "" if patch.base == here else f"cd {shlex.quote(str(patch.base))} && "
    return f"`{place}git apply {file}`" if is_repository else f"`{place}patch -p1 < {file}`"


def _shown(file: Path, here: Path) -> str:
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _keep(keepings: Sequence[FloorKeeping], *, yes: bool, ci: str | None, is_locked: bool) -> bool:
    """Keep the floors that can be kept when somebody says so; whether keeping one failed."""
    for keeping in keepings:
        name = keeping.calibration.case.id
        if keeping.refusal:
            print(f"{name}: noise floor not kept: {keeping.refusal}")
        for note in keeping.notes:
            print(f"{name}: noise floor not kept of {note}")
        if not keeping.refusal and not keeping.is_new:
            print(f"{name}: its golden keeps this noise floor already")
    new = [keeping for keeping in keepings if keeping.is_new]
    if not new or not (yes or _is_confirmed(len(new), is_locked=is_locked)):
        return False
    has_failed = False
    for keeping in new:
        name = keeping.calibration.case.id
        try:
            keeping.keep(ci=ci)
        except GoldenError as error:
            print(f"{name}: noise floor not kept: {error}")
            has_failed = True
            continue
        floors = ", ".join(f"{path} {value:g}" for path, value in keeping.floors.items())
        print(f"{name}: noise floor kept in {keeping.place.shown}/golden.json: {floors}")
    return has_failed


def _is_confirmed(n_goldens: int, *, is_locked: bool) -> bool:
    what = "its golden" if n_goldens == 1 else f"{n_goldens} goldens"
    if is_locked:
        print(f"noise floor not kept with {what}: goldens are locked in CI")
        return False
    if not sys.stdin.isatty():
        print(f"noise floor not kept with {what}: not on a terminal, add --yes")
        return False
    return ask(f"Keep the noise floor with {what}?")
