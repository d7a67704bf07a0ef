"""Laws of the numbers: every statistic is what exact arithmetic makes of its definition."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.compare import (
    ElementwiseLimit,
    Gate,
    RowPairs,
    ScoreObserver,
    compare_rows,
    profile_rows,
)
from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.store import open_output

pytestmark = pytest.mark.filterwarnings("error")

# Squares of all of them stay within float64, so that the definitions need no scaling. Complex last.
NUMBERS = {
    "float16": st.floats(width=16, allow_nan=False, allow_infinity=False),
    "float32": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "float64": st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-100),
    "int8": st.integers(-128, 127),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "complex128": st.complex_numbers(max_magnitude=1e30, allow_nan=False, allow_subnormal=False).filter(
        lambda z: all(part == 0 or abs(part) > 1e-30 for part in (z.real, z.imag))
    ),
}


@st.composite
def _two_sides(draw: st.DrawFn) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows of both sides, of one shape or of several; the actual ones near the expected or anywhere."""
    dtype = draw(st.sampled_from(sorted(NUMBERS)))
    n_rows = draw(st.integers(1, 4))
    widths = draw(
        st.integers(1, 12).map(lambda width: [width] * n_rows)
        | st.lists(st.integers(0, 12), min_size=n_rows, max_size=n_rows).filter(any)
    )
    expected = [draw(hnp.arrays(dtype, width, elements=NUMBERS[dtype])) for width in widths]
    actual = [row.copy() for row in expected]
    for row in actual:
        for at in draw(st.lists(st.integers(0, len(row) - 1), max_size=3)) if len(row) else ():
            row[at] = draw(NUMBERS[dtype])
    return expected, actual


def _parts(value: Any) -> tuple[Fraction, Fraction]:
    return (
        (Fraction(value.real), Fraction(value.imag))
        if isinstance(value, complex)
        else (Fraction(value), Fraction(0))
    )


def _root(square: Fraction) -> float:
    """Return the square root of a fraction, also where the square itself is beyond float64."""
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(square / Fraction(4) ** half), half)


def _square(row: np.ndarray) -> Fraction:
    return sum((part * part for value in row.tolist() for part in _parts(value)), Fraction(0))


def _difference_squares(before: np.ndarray, after: np.ndarray) -> list[Fraction]:
    pairs = zip(before.tolist(), after.tolist(), strict=True)
    return [
        sum(((a - e) ** 2 for e, a in zip(_parts(left), _parts(right), strict=True)), Fraction(0))
        for left, right in pairs
    ]


def _cosine(before: np.ndarray, after: np.ndarray) -> float | None:
    squares = _square(before) * _square(after)
    if not squares:
        return None
    pairs = zip(before.tolist(), after.tolist(), strict=True)
    dot = sum((e * a for x, y in pairs for e, a in zip(_parts(x), _parts(y), strict=True)), Fraction(0))
    return math.copysign(_root(dot * dot / squares), dot)


def _relative_errors(expected: list[np.ndarray], actual: list[np.ndarray]) -> list[float]:
    typical = sum(map(_square, expected), Fraction(0)) / len(expected)
    errors = []
    for before, after in zip(expected, actual, strict=True):
        factor = Fraction(1) if len(before) < 8 else Fraction(0.01)
        distance = sum(_difference_squares(before, after), Fraction(0))
        denominator = max(_square(before), factor**2 * typical)
        errors.append(_root(distance / denominator) if denominator else (math.inf if distance else 0.0))
    return errors


@given(sides=_two_sides())
@settings(max_examples=200, deadline=None)
def test_statistics_agree_with_exact_arithmetic(bench: Any, sides: Any) -> None:
    """Law: relative error, absolute errors, cosine and counts are those of exact fractions, over rows of
    one or several lengths, integers beyond 2**53 and complex numbers included.
    """
    expected, actual = sides
    ids = [f"s{index}" for index in range(len(expected))]
    result = bench.compare({"x": expected}, {"x": actual}, ids=ids, checks=_ask("rel_l2", 1e-5))
    measures = result.outputs["x"]
    squares = [square for rows in zip(expected, actual, strict=True) for square in _difference_squares(*rows)]
    roots = [_root(square) for square in squares]
    assert measures.n_total == len(roots)
    assert measures.max_abs == pytest.approx(max(roots), rel=1e-12)
    assert measures.mean_abs == pytest.approx(math.fsum(roots) / len(roots), rel=1e-12)
    assert measures.rms_abs == pytest.approx(_root(sum(squares, Fraction(0)) / len(squares)), rel=1e-12)
    errors = _relative_errors(expected, actual)
    assert measures.rel_l2 == pytest.approx(max(errors), rel=1e-12)
    assert result.measures.rel_l2["x"] == pytest.approx(errors, rel=1e-12)
    magnitudes = [_root(sum(part**2 for part in _parts(v))) for row in expected for v in row.tolist()]
    ratios = [d / m for d, m in zip(roots, magnitudes, strict=True) if m]
    assert (measures.max_rel is None) == (not ratios)
    if ratios:
        assert measures.max_rel == pytest.approx(max(ratios), rel=1e-12)
    cosines = [
        cosine for rows in zip(expected, actual, strict=True) if (cosine := _cosine(*rows)) is not None
    ]
    assert (measures.cosine_min is None) == (not cosines)
    if cosines:
        assert measures.cosine_min == pytest.approx(min(cosines), abs=1e-12)


def _ask(name: str, value: float | None = None, **more: float) -> CheckPlan:
    """Return a plan with one check and no default one."""
    limits = (Limit(name=name, value=value, source="law", **more),)
    return CheckPlan(
        by_output={"x": OutputChecks(limits=limits, off=frozenset({"rel_l2", "exact"} - {name}))}
    )


def _values_of(name: str, expected: list[np.ndarray], actual: list[np.ndarray], rtol: float) -> list[float]:
    """Return a check's value of every row, slowly; smaller is better, so that a cosine is negated."""
    sides = list(zip(expected, actual, strict=True))
    roots = [[_root(square) for square in _difference_squares(*rows)] for rows in sides]
    if name == "rel_l2":
        return _relative_errors(expected, actual)
    if name == "max_abs":
        return [max(row, default=0.0) for row in roots]
    if name == "mean_abs":
        return [math.fsum(row) / max(1, len(row)) for row in roots]
    if name == "exact":
        return [float(any(row)) for row in roots]
    if name == "cosine":
        # Equal rows have exactly 1, also where they vanish; a row that vanished on one side has 0.
        return [
            -(_cosine(*rows) or 0.0) if any(row) else -1.0 for rows, row in zip(sides, roots, strict=True)
        ]
    allowed = [[ATOL + rtol * abs(value) for value in row.tolist()] for row in expected]
    gaps = [[d - a for d, a in zip(*rows, strict=True)] for rows in zip(roots, allowed, strict=True)]
    assume(all(abs(gap) > 1e-9 * ATOL for row in gaps for gap in row))
    assume(
        all(
            abs(g) > 1e-9 * d for row, r in zip(gaps, roots, strict=True) for g, d in zip(row, r, strict=True)
        )
    )
    return [float(any(gap > 0.0 for gap in row)) for row in gaps]


ATOL = 1e-6
LIMITS = st.sampled_from([0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 10.0, 1e6])
VALUE_CHECKS = st.sampled_from(["rel_l2", "max_abs", "mean_abs", "elementwise", "cosine", "exact"])


@given(sides=_two_sides(), name=VALUE_CHECKS, limit=LIMITS)
@settings(max_examples=200, deadline=None)
def test_every_check_of_values_fails_the_rows_beyond_its_limit(
    bench: Any, sides: Any, name: str, limit: float
) -> None:
    """Law: a check fails exactly the samples whose value, in exact fractions, is beyond its limit."""
    expected, actual = sides
    values = _values_of(name, expected, actual, limit)
    if name in ("exact", "elementwise"):
        plan = _ask(name) if name == "exact" else _ask(name, rtol=limit, atol=ATOL)
        limit = 0.0
    else:
        limit = min(limit, 1.0) if name == "cosine" else limit
        plan = _ask(name, limit)
        limit = -limit if name == "cosine" else limit
    # Next to the limit the last bit of a rounded sum decides; only what is said of equal rows is exact.
    room = 1e-9 if name == "cosine" else 1e-9 * limit
    equal = [np.array_equal(*rows) for rows in zip(expected, actual, strict=True)]
    assume(all(same or abs(value - limit) > room for value, same in zip(values, equal, strict=True)))
    ids = [f"s{index}" for index in range(len(expected))]
    result = bench.compare({"x": expected}, {"x": actual}, ids=ids, checks=plan)
    beyond = tuple(sample for sample, value in zip(ids, values, strict=True) if value > limit)
    assert result.drifted_samples == beyond
    assert result.verdict is (Verdict.DRIFT if beyond else Verdict.MATCH)


@given(sides=_two_sides(), block_bytes=st.sampled_from([1, 100, 333, 2000]), elements=st.data())
@settings(max_examples=100, deadline=None)
def test_stored_rows_are_measured_alike_in_any_blocks(
    bench: Any, sides: Any, block_bytes: int, elements: st.DataObject
) -> None:
    """Law: R of a golden, elementwise counts and decisions read off files do not depend on the blocks in
    which they are read, ragged outputs included.
    """
    expected, actual = sides
    ids = [f"s{index}" for index in range(len(expected))]
    recorded = [bench.record({"x": side}, ids=ids) for side in (expected, actual)]
    stored = [open_output(each.folder, each.observation.outputs["x"]) for each in recorded]
    reads_scores = not stored[0].is_ragged and expected[0].dtype.kind == "f" and len(expected[0]) > 1
    profiles = [profile_rows(stored[0], **options) for options in ({}, {"block_bytes": block_bytes})]
    assert profiles[1].rms_row_norm == pytest.approx(profiles[0].rms_row_norm, rel=1e-12)
    found = []
    for options in ({}, {"block_bytes": block_bytes}):
        scores = ScoreObserver(len(ids), epsilon=1e-3, top_k=1)
        comparison = compare_rows(
            *stored,
            pairs=RowPairs.same_order(len(ids)),
            gate=Gate(rms_row_norm=profiles[0].rms_row_norm, limit=0.0),
            elementwise=ElementwiseLimit(rtol=1e-3, atol=1e-7),
            observers=[scores] if reads_scores else [],
            **options,
        )
        decisions = scores.decisions
        found.append(
            [
                comparison.rows.n_mismatched.tolist(),
                comparison.rows.n_beyond.tolist(),
                decisions.top1.tolist(),
                decisions.topk_overlap.tolist(),
                repr(comparison.worst),
            ]
        )
    assert found[0] == found[1]


@given(sides=_two_sides(), exponent=st.integers(-60, 60))
@settings(max_examples=200, deadline=None)
def test_a_power_of_two_on_both_sides_changes_no_relative_error(
    bench: Any, sides: Any, exponent: int
) -> None:
    """Law: scaling both sides by a power of two leaves every relative error as it is, to the bit."""
    kinds = sides[0][0].dtype.kind
    wide = np.complex128 if kinds == "c" else np.float64
    # Widened first, so that no element over- or underflows; 64-bit integers are rounded, on both sides.
    expected, actual = ([row.astype(wide) for row in side] for side in sides)
    ids = [f"s{index}" for index in range(len(expected))]
    plan = _ask("rel_l2", 1e-5)
    whole = bench.compare({"x": expected}, {"x": actual}, ids=ids, checks=plan)
    factor = 2.0**exponent
    scaled = [[row * factor for row in side] for side in (expected, actual)]
    result = bench.compare({"x": scaled[0]}, {"x": scaled[1]}, ids=ids, checks=plan)
    assert result.measures.rel_l2 == whole.measures.rel_l2
    assert (result.verdict, result.drifted_samples) == (whole.verdict, whole.drifted_samples)
    assert result.outputs["x"].cosine_min == whole.outputs["x"].cosine_min
    assert result.outputs["x"].max_rel == whole.outputs["x"].max_rel
