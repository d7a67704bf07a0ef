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
from pytest_modelreg.store.sealed_record import advising, open_sealed

REPORT_FILE = "report.json"
"""The JSON report of a run, in its folder, with two keys more: :data:`KEPT`, and a digest of itself."""

KEPT = "kept"
"""Under this key it names the folders of all cases whose observations the run kept."""

_GET_AGAIN = "get the run again, or remove the file to decide by what else is there"

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
    report = _read_report(folder)
    found = {} if report is None else report.cases
    names = {safe_component(case): case for case in found}
    for name, fault in _find_lost(folder, report).items():
        if name in names:
            found[names[name]] = replace(found[names[name]], fault=fault)
    for record in sorted(folder.glob(f"*/{CASE_FILE}")):
        case = _read_case(record.parent, found.get(names.get(record.parent.name, "")))
        found[case.id] = case
    if report is None and not found:
        raise UsageFault(
            f"{folder}: expected the folder of a run, with {REPORT_FILE} or a folder a case, got neither; "
            "a run that ended before its first case leaves none"
        )
    return KeptRun(folder=folder, cases=tuple(found.values()), report={} if report is None else report.fields)


def list_kept_folders(folder: Path) -> list[str]:
    """Return the names of the folders in a run's in which observations were kept, sorted."""
    return sorted(path.parent.name for path in folder.glob(f"*/{CASE_FILE}"))


@dataclass(frozen=True, kw_only=True)
class KeptCases:
    """The cases of a run whose observations were kept.

    Parameters
    ----------
    cases : tuple of KeptCase
        Those with goldens of their own first: the others are held against what they leave behind.
    damaged : mapping of str to str
        Why the record of a case cannot be read, or is not there, by the name of its folder, and why the
        report cannot be, by its own: no reason to keep the others waiting.
    has_report : bool
        Whether the report is there, which knows what else there has to be.
    """

    cases: tuple[KeptCase, ...]
    damaged: Mapping[str, str]
    has_report: bool = True

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
    try:
        damaged.update(_find_lost(run, _read_report(run)))
    except GoldenError as error:
        damaged[REPORT_FILE] = str(error)
    if not (found or damaged):
        _require_run(run)
    found.sort(key=lambda case: (not case.keeps_golden, case.id))
    return KeptCases(cases=tuple(found), damaged=damaged, has_report=(run / REPORT_FILE).is_file())


def _require_run(folder: Path) -> None:
    """Refuse a folder without anything that only a run leaves, unless it is where runs are."""
    is_placed = bool(RUN_NAME.fullmatch(folder.name)) and folder.parent.name == "runs"
    if is_placed or (folder / REPORT_FILE).is_file():
        return
    inside = next((path.parent for path in sorted(folder.glob(f"*/{REPORT_FILE}"))), None)
    meant = folder.parent if (folder / CASE_FILE).is_file() else inside
    hint = "" if meant is None else f"; is it {meant}?"
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


@dataclass(frozen=True, kw_only=True)
class _Report:
    """A run's report: all of it, its cases by id, and the folders that there have to be."""

    fields: dict[str, Any]
    cases: dict[str, RunCase]
    kept: tuple[str, ...]


def _read_report(folder: Path) -> _Report | None:
    """Return the report of a run; None where it has none.

    Raises
    ------
    GoldenError
        When it is damaged.
    """
    path = folder / REPORT_FILE
    if not path.is_file():
        return None
    data = path.read_bytes()
    with advising(_GET_AGAIN):  # nobody has a run in version control, where a golden would come from
        report = open_sealed(data, path, key="modelreg_report", newest=1)
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
        return _Report(
            fields=parse_json(data, path),
            cases={case.id: case for case in cases},
            kept=report.texts(KEPT) if KEPT in report else (),
        )


def _find_lost(folder: Path, report: _Report | None) -> dict[str, str]:
    """Say which cases a run kept that are not in its folder any more, by the names of theirs."""
    kept = () if report is None else report.kept
    lost = [folder / name for name in kept if not (folder / name / CASE_FILE).is_file()]
    return {
        path.name: f"{path}: expected what the run kept of this case, found nothing; get the run again, whole"
        for path in lost
    }


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
