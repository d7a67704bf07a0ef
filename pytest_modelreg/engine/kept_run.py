"""A run folder as a whole: every case of the run, with what it left behind.

What belongs here: bringing the report of a run and its case folders together, also where it was
downloaded and is not whole. What one case left is ``kept_case``'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import GoldenError, UsageFault
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.kept_case import CASE_FILE, KeptCase, read_kept_case
from pytest_modelreg.store import parse_json, safe_component
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.json_object import JsonObject

REPORT_FILE = "report.json"
"""The JSON report of a run, in its folder."""

RUN_NAME = re.compile(r"\d{8}T\d{6}-\d{6}Z")
"""What a run of a project is called; what else lies among them is nobody's run."""


@dataclass(frozen=True, kw_only=True)
class RunCase:
    """One case of a run.

    Parameters
    ----------
    suite, variant : str
        Its names.
    verdict : Verdict
        What became of it in the run.
    message : str
        The line that the run said of it; empty where the report does not have it.
    kept : KeptCase or None
        What was kept of it; None where no observation was.
    fault : str
        Why what was kept cannot be read; empty where it can.
    """

    suite: str
    variant: str
    verdict: Verdict
    message: str = ""
    kept: KeptCase | None = None
    fault: str = ""

    @property
    def id(self) -> str:
        """The case id."""
        return case_id(self.suite, self.variant)


@dataclass(frozen=True, kw_only=True)
class KeptRun:
    """A run that is over.

    Parameters
    ----------
    cases : tuple of RunCase
        In the order of the report, those that it does not have behind.
    report : mapping
        The report as it was written; empty where the run was cut off before.
    """

    folder: Path
    cases: tuple[RunCase, ...]
    report: dict[str, Any]


def read_run(folder: Path) -> KeptRun:
    """Return the run of a folder.

    Raises
    ------
    UsageFault
        When it is not the folder of a run.
    GoldenError
        When its report is damaged.
    """
    path = folder / REPORT_FILE
    try:
        report = parse_json(path.read_bytes(), path) if path.is_file() else None
        found = {} if report is None else _read_report(JsonObject(report, path))
    except GoldenError as error:
        # Nobody has a run in version control, which is where a golden would be restored from.
        what = str(error).removesuffix(f"; {RESTORE}")
        raise GoldenError(
            f"{what}; get the run again, or remove the file to judge what else is there"
        ) from error
    names = {safe_component(case): case for case in found}
    for record in sorted(folder.glob(f"*/{CASE_FILE}")):
        case = _read_case(record.parent, found.get(names.get(record.parent.name, "")))
        found[case.id] = case
    if report is None and not found:
        raise UsageFault(
            f"{folder}: expected the folder of a run, with {REPORT_FILE} or a folder a case, got neither; "
            "a run that ended before its first case leaves none"
        )
    return KeptRun(folder=folder, cases=tuple(found.values()), report=report or {})


@dataclass(frozen=True, kw_only=True)
class KeptCases:
    """The cases of a run whose observations were kept.

    Parameters
    ----------
    cases : tuple of KeptCase
        Those with goldens of their own first: the others are held against what they leave behind.
    damaged : mapping of str to str
        Why the record of a case cannot be read, by the name of its folder: no reason to keep the
        others waiting.
    """

    cases: tuple[KeptCase, ...]
    damaged: Mapping[str, str]

    def take_damaged(self, names: Sequence[str]) -> list[str]:
        """Return those of the case ids whose records cannot be read."""
        return [name for name in names if safe_component(name) in self.damaged]


def list_kept_cases(run: Path) -> KeptCases:
    """Return the cases of a run whose observations were kept.

    Raises
    ------
    UsageFault
        When the folder is no run's: nothing waiting there would say nothing.
    """
    found: list[KeptCase] = []
    damaged: dict[str, str] = {}
    for path in sorted(run.glob(f"*/{CASE_FILE}")):
        try:
            found.append(read_kept_case(path.parent))
        except GoldenError as error:
            damaged[path.parent.name] = str(error)
    if not (found or damaged):
        _require_run(run)
    found.sort(key=lambda case: (not case.keeps_golden, case.id))
    return KeptCases(cases=tuple(found), damaged=damaged)


def _require_run(folder: Path) -> None:
    """Refuse a folder without anything that only a run leaves, unless it is where runs are."""
    is_placed = bool(RUN_NAME.fullmatch(folder.name)) and folder.parent.name == "runs"
    if is_placed or (folder / REPORT_FILE).is_file():
        return
    inside = next((path.parent for path in sorted(folder.glob(f"*/{REPORT_FILE}"))), None)
    hint = "" if inside is None else f"; is it {inside}?"
    raise UsageFault(
        f"{folder}: expected the folder of a run, with {REPORT_FILE} or a folder a case, got neither{hint}"
    )


def choose_cases(cases: Sequence[KeptCase], names: Sequence[str]) -> list[KeptCase]:
    """Return the cases of these ids.

    Raises
    ------
    UsageFault
        When the run has no such case.
    """
    by_id = {case.id: case for case in cases}
    unknown = [name for name in names if name not in by_id]
    if unknown:
        raise UsageFault(
            f"{unknown[0]}: expected a case that the run kept ({', '.join(by_id) or 'none'}), got none"
            f"{suggest(unknown[0], by_id)}"
        )
    return [by_id[name] for name in names]


def _read_report(report: JsonObject) -> dict[str, RunCase]:
    verdicts = tuple(verdict.value for verdict in Verdict)
    cases = [
        RunCase(
            suite=record.text("suite"),
            variant=record.text("variant"),
            verdict=Verdict(record.one_of("verdict", verdicts)),
            message=record.text("message"),
        )
        for record in report.records("cases")
    ]
    return {case.id: case for case in cases}


def _read_case(folder: Path, told: RunCase | None) -> RunCase:
    """Return a case by what was kept of it; ``told`` is what the report says of the case of that name."""
    try:
        kept = read_kept_case(folder)
    except GoldenError as error:
        if told is None:
            suite, _, variant = folder.name.partition("[")
            told = RunCase(suite=suite, variant=variant.removesuffix("]"), verdict=Verdict.ERROR)
        return replace(told, fault=f"{str(error).removesuffix(f'; {RESTORE}')}; get the run again")
    message = told.message if told is not None and told.id == kept.id else ""
    return RunCase(suite=kept.suite, variant=kept.variant, verdict=kept.verdict, message=message, kept=kept)
