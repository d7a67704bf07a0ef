"""One case as its template is given it: what is wrong first, then everything behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.exhibit import CaseExhibit, SampleFace
from pytest_modelreg.report.explanation import render_values
from pytest_modelreg.report.html.case_row import CaseRow, Record, is_alarming
from pytest_modelreg.report.html.detail import Detail
from pytest_modelreg.report.html.plots import (
    Plot,
    plot_module_errors,
    plot_sample_errors,
    plot_value_pairs,
    write_number,
)
from pytest_modelreg.report.html.sample_view import Gallery, SampleView, cut, list_errors
from pytest_modelreg.report.strict_json import read_number

_MOST_OPEN = 8
"""Cases that are unfolded from the start: of many, a reader picks from the table."""

_MOST_ROWS = 40
_MOST_LINES = 60

Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CauseView:
    """One cause with its evidence as lines."""

    name: str
    percent: str
    summary: str
    evidence: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class CheckView:
    """One check, held or not."""

    ok: bool
    output: str
    name: str
    value: str
    limit: str
    source: str


@dataclass(frozen=True, kw_only=True)
class CaseView:
    """One case with everything that the page shows of it."""

    row: CaseRow
    needs_look: bool
    is_open: bool
    axes: str
    messages: Sequence[str]
    causes: Sequence[CauseView]
    environment: Sequence[Row]
    structure: Sequence[Row]
    checks: Sequence[CheckView]
    n_failed_checks: int
    outputs: Sequence[Row]
    notes: Sequence[str]
    plots: Sequence[Plot]
    cards: Sequence[SampleView]
    tiles: Sequence[SampleView]
    n_hidden: int
    inputs: str
    missing: str
    command: str
    duration: str


def view_case(
    record: Record,
    row: CaseRow,
    exhibit: CaseExhibit,
    faces: Mapping[str, SampleFace],
    gallery: Gallery,
    detail: Detail,
) -> CaseView:
    """Return a case's entry."""
    errors = list_errors(record, exhibit)
    needs_look = is_alarming(record)
    has_changed = any(sample["near_tie"] or not sample["ok"] for sample in record["samples"])
    cards = gallery.take_cards(record, exhibit, faces) if needs_look or has_changed else []
    tiles = gallery.take_tiles(errors, faces, cards) if needs_look else []
    plots = (
        plot_sample_errors(errors, _find_limit(record), most=detail.dots),
        plot_value_pairs(exhibit.pairs, most=detail.dots),
        plot_module_errors(exhibit.depth, most=detail.dots),
    )
    checks = sorted(map(_view_check, record["checks"]), key=lambda check: check.ok)
    most = detail.characters
    return CaseView(
        row=row,
        needs_look=needs_look,
        is_open=needs_look and not row.is_expected and row.number < _MOST_OPEN,
        axes=cut("; ".join(f"{name}: {_write_axis(value)}" for name, value in record["axes"].items()), most),
        messages=[cut(line, most) for line in str(record["message"]).split("\n")[:_MOST_LINES]],
        causes=[_view_cause(cause, most) for cause in record["causes"]],
        environment=[
            tuple(cut(_fact(change[key]), most) for key in ("key", "expected", "actual"))
            for change in record["environment_changes"][:_MOST_ROWS]
        ],
        structure=[
            tuple(cut(str(finding[key]), most) for key in ("output", "what", "expected", "actual"))
            for finding in record.get("structure", ())[:_MOST_ROWS]
        ],
        checks=checks[:_MOST_ROWS],
        n_failed_checks=sum(not check.ok for check in checks),
        outputs=list(_view_outputs(record))[:_MOST_ROWS],
        notes=[cut(str(note), most) for note in record.get("notes", ())[:_MOST_ROWS]],
        plots=[plot for plot in plots if plot is not None],
        cards=cards,
        tiles=tiles,
        n_hidden=max(0, len(errors) - len(cards) - len(tiles)) if needs_look else 0,
        inputs=_describe_inputs(record["inputs_identical"]),
        missing=cut(exhibit.missing, most),
        command=exhibit.command,
        duration=f"{record['duration_s']:.1f} s",
    )


def _write_axis(value: Any) -> str:
    """Return an axis value as a suite file has it, in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_write_axis(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_write_axis, value))
    return str(value)


def _find_limit(record: Record) -> float | None:
    """Return the loosest limit on rel_l2 over outputs that no tag changes; None where there is none."""
    limits = [
        read_number(check, "limit")
        for check in record["checks"]
        if check["name"] == "rel_l2" and check["tag"] is None
    ]
    return max((limit for limit in limits if math.isfinite(limit) and limit > 0), default=None)


def _view_cause(cause: Record, most: int) -> CauseView:
    evidence = cause["evidence"]
    lines = list(render_values(evidence)) if isinstance(evidence, Mapping) else []
    confidence = cause["confidence"]
    return CauseView(
        name=str(cause["cause"]),
        percent=f"{100 * confidence:.0f} %" if isinstance(confidence, (int, float)) else "",
        summary=cut(str(cause["summary"]), most),
        evidence=[cut(line, most) for line in lines[:_MOST_LINES]],
    )


def _view_check(check: Record) -> CheckView:
    tag = f" [{check['tag']}]" if check["tag"] else ""
    return CheckView(
        ok=check["ok"] is True,
        output=str(check["output"]),
        name=f"{check['name']}{tag}",
        value=write_number(read_number(check, "value")),
        limit=write_number(read_number(check, "limit")),
        source=str(check["source"]),
    )


def _view_outputs(record: Record) -> Iterator[Row]:
    for path, output in record["outputs"].items():
        shape = " x ".join("*" if axis < 0 else str(axis) for axis in output.get("shape", ()))
        numbers = (read_number(output, key) for key in ("rel_l2", "max_abs", "mean_abs", "cosine_min"))
        elements = f"{output.get('n_mismatched', '')} of {output.get('n_total', '')}"
        yield str(path), str(output.get("dtype", "")), shape, *map(_number_or_dash, numbers), elements


def _number_or_dash(value: float) -> str:
    return "-" if math.isnan(value) else write_number(value)


def _describe_inputs(are_identical: object) -> str:
    if are_identical is None:
        return ""
    return (
        "the model was fed what the golden was"
        if are_identical
        else "the model was fed other inputs than the golden"
    )


def _fact(value: object) -> str:
    return "none" if value is None else str(value)
