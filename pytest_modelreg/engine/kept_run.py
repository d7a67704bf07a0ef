"""A run folder as a whole: every case of the run, with what it left behind.

What belongs here: bringing the report of a run and its case folders together, also where it was
downloaded and is not whole. What one case left is ``kept_case``'s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import GoldenError, UsageFault
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.kept_case import CASE_FILE, KeptCase, read_kept_case
from pytest_modelreg.store import parse_json, safe_component
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.json_object import JsonObject

REPORT_FILE = "report.json"
"""The JSON report of a run, in its folder."""


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
