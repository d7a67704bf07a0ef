"""Elements of an output, expected against actual."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytest_modelreg.domain.exhibit import ValuePairs
from pytest_modelreg.engine.exhibits.both_sides import BothSides, Row

_ROWS = 20
_ELEMENTS = 10


def pick_value_pairs(sides: BothSides, outputs: Mapping[str, Any]) -> ValuePairs | None:
    """Return elements of the output that drifted most, evenly picked from samples and their rows.

    Parameters
    ----------
    outputs : mapping
        Of the case's record: measures by output path.
    """
    paths = sorted(
        (path for path in sides.paths if path in outputs), key=lambda path: -_measure(outputs[path])
    )
    for path in paths:
        found = _pick(sides, path)
        if found is not None:
            return found
    return None


def _measure(output: Mapping[str, Any]) -> float:
    value = output.get("rel_l2")
    return float(value) if isinstance(value, (int, float)) else math.inf


def _pick(sides: BothSides, path: str) -> ValuePairs | None:
    if sides.spec_of(path).kind in ("detection", "tokens"):
        return None  # which box stands beside which is not told by its place; a token's number is no size
    samples = list(sides.rows)
    expected: list[float] = []
    actual: list[float] = []
    for at in _spread(len(samples), _ROWS):
        rows = sides.read(path, samples[at])
        if rows is None or rows[0].shape != rows[1].shape or any(_is_no_number(row) for row in rows):
            continue
        flat = [row.reshape(-1).astype(np.float64) for row in rows]
        for place in _spread(flat[0].size, _ELEMENTS):
            pair = float(flat[0][place]), float(flat[1][place])
            if math.isfinite(pair[0]) and math.isfinite(pair[1]):
                expected.append(pair[0])
                actual.append(pair[1])
    if len(expected) < 2:
        return None
    return ValuePairs(output=path, expected=tuple(expected), actual=tuple(actual))


def _is_no_number(row: Row) -> bool:
    return row.dtype.kind not in "fiub"


def _spread(n_places: int, n_picked: int) -> Sequence[int]:
    """Return at most ``n_picked`` places of ``n_places``, evenly spread, the same every time."""
    if n_places <= n_picked:
        return range(n_places)
    places: list[int] = np.linspace(0, n_places - 1, n_picked).round().astype(int).tolist()
    return places
