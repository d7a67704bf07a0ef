"""Rows of features: columns in another order, or single columns that are scaled, filled or gone.

What belongs here: hypotheses on columns, over all samples as rows. To add one, add it to
:func:`replay_table`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Affine, Moments
from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.pair import NumberPair, measure_distance, read_numbers
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.domain.cause import Cause, CauseFinding

Table = NDArray[np.float64]
"""Axes (sample, column)."""

_MOST_COLUMNS = 1024
_FEW_ROWS = 3
_ROWS_FOR_LINES = 5  # two are on any line
_EXACT = 1e-3
_MOST_LEFT = 0.1  # of a column's difference: noise follows a line too, a little
_N_NAMED = 8


def replay_table(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return which change of columns turns the golden's rows into today's, None for none."""
    expected, actual = _stack(group)
    if expected is None or actual is None:
        return None
    if expected.shape != actual.shape:
        return _replay_gap(group, expected, actual)
    before = measure_distance([(expected, actual)])
    return _replay_order(group, expected, actual, before) or _replay_columns(group, expected, actual, before)


def _stack(group: Group) -> tuple[Table | None, Table | None]:
    """Return the rows of all samples, those that agree too: they tell which columns are the same."""
    sides = []
    for index in (0, 1):
        rows = []
        for pair in group.pairs:
            row = read_numbers((pair.expected, pair.actual)[index])
            if row is None or row.ndim != 1 or not 1 < row.size <= _MOST_COLUMNS:
                return None, None
            rows.append(np.nan_to_num(row, posinf=0.0, neginf=0.0))
        if len({row.size for row in rows}) != 1:
            return None, None
        sides.append(np.stack(rows))
    return sides[0], sides[1]


def _list_keys(table: Table) -> list[tuple[str, bytes]]:
    """Return what tells columns apart: size and values to a few digits, zeros without a sign."""
    size = np.maximum(np.abs(table).max(axis=0), 1e-300)
    shapes = np.round(table / size, 5) + 0.0
    return [(f"{size[column]:.4e}", shapes[:, column].tobytes()) for column in range(size.size)]


def _find_columns(wanted: Table, offered: Table, *, in_order: bool) -> list[int] | None:
    """Return which offered column each wanted one is, value by value; None unless each is one."""
    places: dict[tuple[str, bytes], list[int]] = {}
    for column, key in enumerate(_list_keys(offered)):
        places.setdefault(key, []).append(column)
    found: list[int] = []
    for column, key in enumerate(_list_keys(wanted)):
        start = found[-1] + 1 if in_order and found else 0
        free = [place for place in places.get(key, []) if place >= start]
        if not free:
            return None
        place = column if column in free and not in_order else free[0]
        places[key].remove(place)
        found.append(place)
    return found


def _replay_order(group: Group, expected: Table, actual: Table, before: float) -> Replay | None:
    """Columns in other places: every column of expected is one of actual, value by value."""
    order = _find_columns(expected, actual, in_order=False)
    if order is None:
        return None
    if order == list(range(len(order))):
        return None
    moved = [column for column, other in enumerate(order) if column != other]
    after = measure_distance([(expected, actual[:, order])])
    certainty = None if len(group.pairs) >= _FEW_ROWS else 0.7
    finding = make_finding(
        group,
        Cause.PREPROCESS_LAYOUT,
        f"{len(moved)} of {len(order)} columns are in other places: put back in {len(group.pairs)} rows, "
        f"that gives the golden's inputs {describe_residual(after)}",
        Residuals(before=before, after=after),
        hypothesis="column order",
        expected=list(range(len(order)))[:64],
        actual=order[:64],
        confidence=certainty,
        constants={"moved": moved[:64]},
    )
    return Replay(findings=(finding,), left=after, pairs=((expected, actual[:, order]),))


def _replay_columns(group: Group, expected: Table, actual: Table, before: float) -> Replay | None:
    """Columns that differ, each on a line of its own: a few of them, or all and all exactly."""
    size = np.maximum(np.abs(expected).max(axis=0), 1e-12)
    differs = np.flatnonzero(np.abs(actual - expected).max(axis=0) > 1e-6 * size)
    is_few = 0 < differs.size <= expected.shape[1] // 2 and len(group.pairs) >= _FEW_ROWS
    if not is_few and len(group.pairs) < _ROWS_FOR_LINES:
        return None
    undone = actual.copy()
    words: list[str] = []
    lines: dict[str, list[float]] = {}
    columns_of: dict[str, list[int]] = {}
    is_line = True
    for column in differs.tolist():
        line, left = _fit(expected[:, column], actual[:, column])
        gap = measure_distance([(expected[:, column], actual[:, column])])
        if float(np.ptp(actual[:, column])) == 0.0:
            words.append(f"column {column} is {actual[0, column]:.6g} throughout")
            is_line = False
        elif left > min(_EXACT, _MOST_LEFT * gap):
            words.append(f"column {column} holds other values")
            is_line = False
        else:
            scale, offset = float(line.scale[0]), float(line.offset[0])
            undone[:, column] = scale * actual[:, column] + offset
            lines[str(column)] = [float(f"{scale:.6g}"), float(f"{offset:.6g}")]
            columns_of.setdefault(_describe_line(scale, offset), []).append(column)
    words += [f"{_name_columns(columns)} {line}" for line, columns in columns_of.items()]
    if not is_few and (not is_line or differs.size == 0):
        return None
    after = measure_distance([(expected, undone)])
    finding = _blame_columns(
        group, words, Residuals(before=before, after=after), differs, lines, is_line=is_line
    )
    return Replay(
        findings=(finding,), left=after if is_line else max(after, _EXACT), pairs=((expected, undone),)
    )


def _name_columns(columns: list[int]) -> str:
    if len(columns) == 1:
        return f"column {columns[0]} is"
    more = f" and {len(columns) - _N_NAMED} more" if len(columns) > _N_NAMED else ""
    return f"columns {', '.join(map(str, columns[:_N_NAMED]))}{more} are"


def _describe_line(scale: float, offset: float) -> str:
    parts = [f"times {1 / scale:.6g}"] if scale and abs(scale - 1) > 1e-4 else []
    if abs(offset) > 1e-6:
        parts.append(f"{-offset / (scale or 1.0):+.6g}")
    return f"the golden's {', '.join(parts)}"


def _blame_columns(
    group: Group,
    words: list[str],
    residuals: Residuals,
    differs: NDArray[np.intp],
    lines: dict[str, list[float]],
    *,
    is_line: bool,
) -> CauseFinding:
    more = f", and {len(words) - _N_NAMED} more" if len(words) > _N_NAMED else ""
    has_others = differs.size < group.pairs[0].expected.shape[-1]
    others = ", of which the other columns agree" if has_others else ""
    only_scaled = is_line and all(abs(offset) <= 1e-6 for _, offset in lines.values())
    cause = Cause.PREPROCESS_VALUE_RANGE if only_scaled else Cause.PREPROCESS_NORMALIZATION
    return make_finding(
        group,
        cause if is_line else Cause.PREPROCESS_OTHER,
        f"{'; '.join(words[:_N_NAMED])}{more}: replayed on {len(group.pairs)} rows{others}",
        residuals,
        hypothesis="single columns",
        expected="as in the golden",
        actual=words[:_N_NAMED],
        confidence=None if is_line else 0.6,
        constants={"columns": differs.tolist()[:64], "lines": lines},
    )


def _fit(expected: Table, actual: Table) -> tuple[Affine, float]:
    moments = Moments(1)
    moments.add(actual[np.newaxis], expected[np.newaxis])
    line, squares = moments.fit((0,))
    return line, float(np.sqrt(squares / max(float(np.sum(np.square(expected))), 1e-300)))


def _replay_gap(group: Group, expected: Table, actual: Table) -> Replay | None:
    """Columns that came or went while the others stay in order."""
    long, short = (expected, actual) if expected.shape[1] > actual.shape[1] else (actual, expected)
    kept = _find_columns(short, long, in_order=True)
    if kept is None or short.shape[1] <= long.shape[1] // 2:
        return None
    extra = sorted(set(range(long.shape[1])) - set(kept))
    word = "missing" if long is expected else "new"
    finding = make_finding(
        group,
        Cause.PREPROCESS_OTHER,
        f"{len(extra)} of the columns {word}, at {extra[:_N_NAMED]}: the others agree",
        Residuals(before=1.0, after=0.0),
        hypothesis="columns",
        expected=expected.shape[1],
        actual=actual.shape[1],
        confidence=0.9 if len(group.pairs) >= _FEW_ROWS else 0.6,
        constants={"columns": extra[:64]},
    )
    return Replay(findings=(finding,), left=0.0, pairs=((short, long[:, kept]),))
