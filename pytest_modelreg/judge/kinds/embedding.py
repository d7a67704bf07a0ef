"""Kind ``embedding``: a row is a vector whose direction, and what it is near to, is what counts."""

from __future__ import annotations

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.kinds.kind import Kind, Row, accept_any_shape
from pytest_modelreg.judge.kinds.numbers import render_values, summarise_values


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    return render_values(row, digits)


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    return summarise_values(row)


EMBEDDING = Kind(
    name="embedding",
    render=_render,
    columns=("norm", "first"),
    summarise=_summarise,
    find_fault=accept_any_shape,
)
