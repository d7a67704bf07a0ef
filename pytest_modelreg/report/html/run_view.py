"""A run as the page's template is given it: what is wrong, and all cases, the worst first."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.case import REFERENCE
from pytest_modelreg.domain.exhibit import CaseExhibit, Exhibits
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report.html.case_row import CaseRow, Record, is_alarming, rank_case, view_row
from pytest_modelreg.report.html.case_view import CaseView, view_case
from pytest_modelreg.report.html.detail import Detail
from pytest_modelreg.report.html.picture_shelf import PictureShelf, ShelvedPicture
from pytest_modelreg.report.html.plots import Plot, plot_checkpoints
from pytest_modelreg.report.html.sample_view import Gallery, cut
from pytest_modelreg.report.strict_json import read_number
from pytest_modelreg.report.text import summary_counts

_MOST_PROBLEMS = 20
_MOST_FACTS = 60
_MOST_TAGS = 200
_MOST_PLOTS = 8
_NO_EXHIBIT = CaseExhibit()


@dataclass(frozen=True, kw_only=True)
class VerdictCount:
    """How many cases have a verdict."""

    verdict: str
    n_cases: int


@dataclass(frozen=True, kw_only=True)
class RunView:
    """A run with everything that the page shows of it."""

    headline: str
    is_alarming: bool
    counts: Sequence[VerdictCount]
    causes: Sequence[tuple[str, int]]
    facts: Sequence[tuple[str, str]]
    problems: Sequence[str]
    environment: Sequence[tuple[str, ...]]
    fingerprint: Sequence[tuple[str, str]]
    rows: Sequence[CaseRow]
    n_rows_hidden: int
    cases: Sequence[CaseView]
    checkpoints: Sequence[Plot]
    tags: Sequence[str]
    pictures: Sequence[ShelvedPicture]


def view_run(
    document: Mapping[str, Any],
    exhibits: Exhibits,
    *,
    problems: Sequence[str],
    expected: Collection[str],
    detail: Detail,
) -> RunView:
    """Return what the page shows of a run.

    Parameters
    ----------
    document : mapping
        The report, as :func:`~pytest_modelreg.report.report_document` returns it.
    problems : sequence of str
        What is wrong with the run as a whole.
    expected : collection of str
        Ids of cases that do not pass, as their tests say beforehand.
    """
    foreseen = frozenset(expected)
    records = sorted(document["cases"], key=lambda record: rank_case(record, foreseen))
    shelf = PictureShelf(detail.pictures)
    tags = sorted({tag for faces in exhibits.faces.values() for face in faces.values() for tag in face.tags})
    gallery = Gallery(shelf, detail, tags[:_MOST_TAGS])
    rows = [
        view_row(
            record,
            number,
            detail,
            is_expected=record["id"] in foreseen,
            has_entry=number < detail.cases,
        )
        for number, record in enumerate(records[: detail.rows])
    ]
    cases = [
        view_case(
            record,
            row,
            exhibits.cases.get(record["id"], _NO_EXHIBIT),
            exhibits.faces.get(record["suite"], {}),
            gallery,
            detail,
        )
        for record, row in zip(records[: detail.cases], rows, strict=False)
    ]
    judged = [record for record in records if record["id"] not in foreseen]
    return RunView(
        headline=_write_headline(judged, n_expected=len(records) - len(judged)),
        is_alarming=bool(problems) or any(map(is_alarming, judged)),
        counts=_count(records),
        causes=_count_causes(judged),
        facts=_list_facts(document["run"]),
        problems=[cut(text, detail.characters) for text in _list_problems(document["run"], problems)],
        environment=_list_environment(records, detail.characters),
        fingerprint=_list_fingerprint(document["environment"], detail.characters),
        rows=rows,
        n_rows_hidden=len(records) - len(rows),
        cases=cases,
        checkpoints=_plot_suites(document["cases"]),
        tags=tags[:_MOST_TAGS],
        pictures=shelf.pictures,
    )


def _write_headline(records: Sequence[Record], *, n_expected: int) -> str:
    n_alarming = sum(map(is_alarming, records))
    compared = [
        record for record in records if record["verdict"] == Verdict.MATCH.value or is_alarming(record)
    ]
    rest = f", {n_expected} expected to fail" if n_expected else ""
    if n_alarming:
        return f"{_name_verdicts(records, n_alarming)}{rest}"
    if not compared:
        return f"Nothing was compared{rest}"
    which = "The case behaves" if len(compared) == 1 else f"All {len(compared)} cases behave"
    return f"{which} as recorded{rest}"


def _name_verdicts(records: Sequence[Record], n_alarming: int) -> str:
    """Return ``2 of 5 cases drift``, or the counts where other verdicts than drift are among them."""
    of = f"of {len(records)} case{'' if len(records) == 1 else 's'}"
    found = [Verdict(record["verdict"]) for record in filter(is_alarming, records)]
    if all(verdict is Verdict.DRIFT for verdict in found):
        return f"{n_alarming} {of} drift{'s' if n_alarming == 1 else ''}"
    return f"{summary_counts(found)} {of}"


def _count(records: Iterable[Record]) -> list[VerdictCount]:
    found = [record["verdict"] for record in records]
    return [VerdictCount(verdict=name, n_cases=found.count(name)) for name in dict.fromkeys(found)]


def _count_causes(records: Sequence[Record]) -> list[tuple[str, int]]:
    """Return the likeliest cause of every case that has one, with how many cases it is of."""
    found = [str(record["causes"][0]["cause"]) for record in records if record["causes"]]
    return [(cause, found.count(cause)) for cause in dict.fromkeys(found)]


def _list_facts(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    git = run["git"]
    dirty = ", with changes that are not committed" if git["dirty"] else ""
    duration = run["duration_s"]
    facts = [
        ("run", str(run["id"])),
        ("started", str(run["started"])),
        ("took", f"{duration:.1f} s" if duration else ""),
        ("commit", f"{str(git['commit'])[:12]}{dirty}" if git["commit"] else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _list_problems(run: Mapping[str, Any], problems: Sequence[str]) -> list[str]:
    found = list(problems[:_MOST_PROBLEMS])
    if run["partial"]:
        found.append("partial run: something kept cases from running; an absent case proves nothing")
    return found


def _list_environment(records: Sequence[Record], most: int) -> list[tuple[str, ...]]:
    """Return the changes of the cases that somebody has to look at, each once, with how many have it."""
    found: dict[tuple[str, str, str], int] = {}
    for record in filter(is_alarming, records):
        for change in record["environment_changes"]:
            row = (str(change["key"]), _fact(change["expected"]), _fact(change["actual"]))
            found[row] = found.get(row, 0) + 1
    rows = [(*(cut(cell, most) for cell in row), str(n_cases)) for row, n_cases in found.items()]
    return rows[:_MOST_FACTS]


def _list_fingerprint(environment: Mapping[str, Any], most: int) -> list[tuple[str, str]]:
    return [
        (str(key), cut(_fact(value), most))
        for key, value in environment.items()
        if not isinstance(value, (list, dict)) and not key.endswith("_reason")
    ][: 4 * _MOST_FACTS]


def _plot_suites(records: Sequence[Record]) -> list[Plot]:
    """Return a plot of every suite whose cases differ in their checkpoint, and in nothing else.

    The reference, where it ran, stands in front of those that differ from it in nothing else.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        axes = dict(record["axes"])
        checkpoint = axes.pop("checkpoint", REFERENCE if record["variant"] == REFERENCE else None)
        if checkpoint is None or not record["outputs"]:
            continue
        others = ", ".join(f"{name}: {value}" for name, value in axes.items())
        worst = max(read_number(output, "rel_l2") for output in record["outputs"].values())
        groups.setdefault((str(record["suite"]), others), []).append(
            {"name": _name_checkpoint(checkpoint), "rel_l2": worst, "is_bad": is_alarming(record)}
        )
    plots = [
        plot_checkpoints(points, f"Drift over checkpoints: {suite}{f' ({others})' if others else ''}")
        for (suite, others), points in groups.items()
    ]
    return [plot for plot in plots if plot is not None][:_MOST_PLOTS]


def _name_checkpoint(value: Any) -> str:
    path = value.get("path") if isinstance(value, Mapping) else value
    return path.rpartition("/")[2] if isinstance(path, str) else json.dumps(value, default=str)


def _fact(value: object) -> str:
    return "none" if value is None else str(value)
