"""Kind ``tokens``: a row is a sequence of token numbers, compared exactly."""

from __future__ import annotations

import hashlib

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.judge.kinds.kind import Kind, Row
from pytest_modelreg.judge.kinds.numbers import render_values

N_ENDS = 3
"""Tokens that a line shows of either end."""

N_DIGITS = 8
"""Hex digits of a sequence's digest in ``summary.csv``."""


def _render(row: Row, spec: OutputSpec, digits: int) -> str:
    if row.ndim != 1 or row.dtype.kind not in "iu":
        return render_values(row, digits)
    count = f"{len(row)} {'token' if len(row) == 1 else 'tokens'}"
    # Two sequences that part in the middle look alike at the ends: more is shown until they do not.
    n_shown = N_ENDS * max(1, digits)
    if len(row) <= 2 * n_shown:
        return f"{count}: {_join(row, spec)}" if len(row) else count
    return f"{count}: {_join(row[:n_shown], spec)} ... {_join(row[-N_ENDS:], spec)}"


def _join(row: Row, spec: OutputSpec) -> str:
    labels = spec.labels or ()
    return " ".join(labels[number] if 0 <= number < len(labels) else str(number) for number in row.tolist())


def _summarise(row: Row, spec: OutputSpec) -> tuple[str, ...]:
    if row.dtype.kind not in "iu":
        raise JudgeError(
            f"tokens: expected whole numbers, got {row.dtype}; return the token ids, or declare another kind"
        )
    # Shows a change in the middle of a long sequence; the mark keeps spreadsheets from reading a number.
    digest = hashlib.sha256(row.astype("<i8").tobytes()).hexdigest()[:N_DIGITS]
    return str(row.size), f"[{_join(row.reshape(-1)[: 4 * N_ENDS], spec)}]", f"#{digest}"


def _find_fault(path: str, row_shape: tuple[int, ...], spec: OutputSpec) -> str | None:
    if len(row_shape) == 1:
        return None
    return (
        f"{path}: expected one sequence of tokens a sample, got rows of shape "
        f"{str(row_shape).replace('-1', '*')}; declare another kind"
    )


TOKENS = Kind(
    name="tokens",
    render=_render,
    digits=1,
    columns=("tokens", "first", "digest"),
    summarise=_summarise,
    find_fault=_find_fault,
)
