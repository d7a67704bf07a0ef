"""Kind ``regression``: every number is an estimate of a quantity."""

from __future__ import annotations

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.kinds.kind import Kind, Row, accept_any_shape
from pytest_modelreg.judge.kinds.numbers import (
    N_SHORT,
    SUMMARY_DIGITS,
    format_number,
    list_first,
    render_values,
)


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    return format_number(row.reshape(-1)[0].item(), digits) if row.size == 1 else render_values(row, digits)


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    if row.size == 1 and row.dtype.kind != "c":
        return (format_number(row.reshape(-1)[0].item(), SUMMARY_DIGITS),)
    text = list_first(row, N_SHORT)
    return (text if row.size <= N_SHORT else f"{text} ...",)


REGRESSION = Kind(
    name="regression",
    render=_render,
    columns=("value",),
    summarise=_summarise,
    find_fault=accept_any_shape,
)
