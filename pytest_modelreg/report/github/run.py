"""A run as annotations: a case that does not pass at the line that declares it, warnings below.

What belongs here: what of a run is worth an annotation. Everything else is in the summary.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report.github.annotation import Annotation
from pytest_modelreg.report.markdown.case import rank_badness

_FAILING = frozenset({Verdict.ERROR, Verdict.DRIFT, Verdict.STALE, Verdict.MISSING})


@dataclass(frozen=True, kw_only=True)
class SourceLine:
    """Where a case is declared.

    Parameters
    ----------
    file : str
        Relative to the root of the repository; empty where it is outside of it.
    line : int or None
        From 1.
    """

    file: str
    line: int | None = None


def annotate_run(
    records: Sequence[Mapping[str, Any]],
    *,
    places: Mapping[str, SourceLine],
    commands: Mapping[str, str],
    problems: Sequence[str] = (),
    warnings: Sequence[str] = (),
    expected: Collection[str] = (),
) -> list[Annotation]:
    """Return an error for every case that does not pass, worst first, and for every problem of the run.

    A case that was skipped, or that its test expects to fail, is in the summary alone.

    Parameters
    ----------
    records : sequence of mapping
        Cases as in the JSON report.
    places, commands : mapping
        By case id: where it is declared, and what accepts what was seen.
    problems, warnings : sequence of str
        What is wrong with the run as a whole, and what is worth a note.
    expected : collection of str
        Ids of cases that do not pass, as their tests say beforehand.
    """
    failing = [
        record
        for record in records
        if Verdict(record["verdict"]) in _FAILING and record["id"] not in expected
    ]
    found = [
        _annotate_case(record, places.get(record["id"]), commands.get(record["id"], ""))
        for record in sorted(failing, key=rank_badness)
    ]
    found += [Annotation(level="error", title="modelreg", message=problem) for problem in problems]
    found += [Annotation(level="warning", title="modelreg", message=warning) for warning in warnings]
    return found


def _annotate_case(record: Mapping[str, Any], place: SourceLine | None, command: str) -> Annotation:
    message = record["message"] + (f"\nif this is intended: {command}" if command else "")
    return Annotation(
        level="error",
        title=f"{record['id']}: {record['verdict']}",
        message=message,
        file="" if place is None else place.file,
        line=None if place is None else place.line,
    )
