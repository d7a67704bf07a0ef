"""Kind ``regression``: every number is an estimate of a quantity."""

from __future__ import annotations

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.kinds.kind import Kind, Row
from pytest_modelreg.judge.kinds.numbers import N_SHORT, SUMMARY_DIGITS, format_number, render_values


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    return format_number(row.reshape(-1)[0].item(), digits) if row.size == 1 else render_values(row, digits)


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    values = row.reshape(-1)[:N_SHORT].tolist()
    text = " ".join(format_number(value, SUMMARY_DIGITS) for value in values)
    return (text if row.size <= N_SHORT else f"{text} ...",)


REGRESSION = Kind(name="regression", render=_render, columns=("value",), summarise=_summarise)
