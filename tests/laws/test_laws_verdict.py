"""Laws of the verdict: what never passes, what always passes, what a verdict does not depend on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = [
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bfloat16",
    "float8_e5m2",
    "float8_e4m3fn",
]
SCORES = {"y": OutputSpec(kind="classification", top_k=1)}
LIMIT_VALUES = {
    "rel_l2": st.floats(0.0, 1e30) | st.just(math.inf),
    "max_abs": st.floats(0.0, 1e30) | st.just(math.inf),
    "mean_abs": st.floats(0.0, 1e30) | st.just(math.inf),
    "cosine": st.floats(-1.0, 1.0),
    "top1_agreement": st.floats(0.0, 1.0),
    "topk_overlap": st.floats(0.0, 1.0),
}


def _held(name: str) -> str:
    """Return the numpy dtype that rows are drawn in: float32 for what numpy lacks."""
    return "float32" if name.startswith(("bfloat", "float8")) else name


def _hold(rows: np.ndarray, name: str) -> Any:
    """Return rows in their true dtype, as a tensor where numpy lacks it."""
    return rows if _held(name) == name else torch.from_numpy(rows).to(getattr(torch, name))


def _plan(limits: list[Limit]) -> CheckPlan:
    """Return a plan of these checks and no default ones."""
    names = {limit.name for limit in limits}
    off = frozenset({"rel_l2", "exact", "top1_agreement"} - names)
    return CheckPlan(by_output={"y": OutputChecks(limits=tuple(limits), off=off)})


@st.composite
def _limits(draw: st.DrawFn, names: list[str]) -> list[Limit]:
    limits = []
    for name in draw(st.lists(st.sampled_from([*names, "elementwise", "exact"]), min_size=1, unique=True)):
        if name == "elementwise":
            rtol, atol = draw(st.tuples(*[st.floats(0.0, 1e30)] * 2))
            limits.append(Limit(name=name, rtol=rtol, atol=atol, source="law"))
        else:
            value = None if name == "exact" else draw(LIMIT_VALUES[name])
            limits.append(Limit(name=name, value=value, source="law"))
    return limits


def _poison(row: np.ndarray, at: int, value: float, part: str) -> np.ndarray:
    poisoned = row.copy()
    if row.dtype.kind == "c":
        other = poisoned[at].real if part == "imag" else poisoned[at].imag
        poisoned[at] = complex(other, value) if part == "imag" else complex(value, other)
    else:
        poisoned[at] = value
    return poisoned


@given(name=st.sampled_from(FLOATS), part=st.sampled_from(["real", "imag"]), data=st.data())
@settings(max_examples=200, deadline=None)
def test_one_sided_non_finite_is_drift_under_any_checks(
    bench: Any, name: str, part: str, data: st.DataObject
) -> None:
    """Law: a NaN or infinity on one side, in any dtype, place and side, beside others that both sides have,
    under any set of checks with any limits, is drift that names its sample.
    """
    draw = data.draw
    n_rows, width = draw(st.integers(1, 4)), draw(st.integers(2, 9))
    is_ragged = draw(st.booleans())
    widths = [width + (index if is_ragged else 0) for index in range(n_rows)]
    elements = st.integers(-4, 4).map(float)
    rows = [draw(hnp.arrays(np.float64, n, elements=elements)).astype(_held(name)) for n in widths]
    kinds = [math.nan] if name == "float8_e4m3fn" else [math.nan, math.inf, -math.inf]
    at = draw(st.integers(0, n_rows - 1))
    place, alike = draw(st.integers(0, widths[at] - 1)), draw(st.integers(0, widths[at] - 1))
    if alike != place:
        rows[at] = _poison(rows[at], alike, draw(st.sampled_from(kinds)), part)
    poisoned = list(rows)
    poisoned[at] = _poison(rows[at], place, draw(st.sampled_from(kinds)), part)
    has_scores = not is_ragged and not name.startswith("complex")
    names = list(LIMIT_VALUES) if has_scores else ["rel_l2", "max_abs", "mean_abs", "cosine"]
    specs = SCORES if has_scores else {}
    specs = {path: replace(spec, top_k=draw(st.integers(1, width - 1))) for path, spec in specs.items()}
    sides = draw(st.permutations([rows, poisoned]))
    ids = [f"s{index}" for index in range(n_rows)]
    held = [
        [_hold(row, name) for row in side] if is_ragged else _hold(np.stack(side), name) for side in sides
    ]
    values = [{"y": side, "anchor": np.arange(n_rows)} for side in held]
    result = bench.compare(*values, ids=ids, outputs=specs, checks=_plan(draw(_limits(names))))
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == (ids[at],)
    assert result.outputs["y"].n_one_sided == 1


_SMALL = st.integers(-50, 50).map(lambda number: number / 8)


@st.composite
def _two_arrays(draw: st.DrawFn, min_rows: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Scores of both sides, equal in most rows."""
    shape = (draw(st.integers(min_rows, 5)), draw(st.integers(2, 9)))
    expected = draw(hnp.arrays(np.float32, shape, elements=_SMALL))
    actual = expected.copy()
    for at in draw(st.lists(st.integers(0, shape[0] - 1), max_size=3, unique=True)):
        actual[at] = draw(hnp.arrays(np.float32, shape[1], elements=_SMALL))
    return expected, actual


@given(sides=_two_arrays(), name=st.sampled_from([*LIMIT_VALUES, "elementwise"]), data=st.data())
@settings(max_examples=200, deadline=None)
def test_every_check_is_monotone_in_its_limit(
    bench: Any, sides: tuple[np.ndarray, np.ndarray], name: str, data: st.DataObject
) -> None:
    """Law: what drifts under a wider limit drifts under a narrower one, sample by sample, for every check."""
    strategy = st.tuples(*[st.floats(0.0, 2.0)] * 2) if name == "elementwise" else LIMIT_VALUES[name]
    narrow, wide = sorted(
        data.draw(st.tuples(strategy, strategy)), reverse=name in ("cosine", "top1_agreement", "topk_overlap")
    )
    if name == "elementwise":
        narrow, wide = (tuple(map(choose, narrow, wide)) for choose in (min, max))
    drifted = []
    for value in (narrow, wide):
        limit = (
            Limit(name=name, rtol=value[0], atol=value[1], source="law")
            if name == "elementwise"
            else Limit(name=name, value=value, source="law")
        )
        result = bench.compare(
            {"y": sides[0]}, {"y": sides[1]}, outputs=SCORES, checks=_plan([limit]), noise_floor={"y": 0.0}
        )
        assert (result.verdict is Verdict.DRIFT) == bool(result.drifted_samples)
        drifted.append(set(result.drifted_samples))
    assert drifted[1] <= drifted[0]


_DTYPES = [
    "float16",
    "float32",
    "float64",
    "complex64",
    "int8",
    "int64",
    "uint64",
    "bool",
    "bfloat16",
    "float8_e5m2",
]


@st.composite
def _finite_rows(draw: st.DrawFn) -> list[Any]:
    name = draw(st.sampled_from(_DTYPES))
    n_rows = draw(st.integers(1, 5))
    widths = draw(
        st.integers(1, 9).map(lambda width: [width] * n_rows)
        | st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows).filter(any)
    )
    if _held(name) != name:
        return [_hold(draw(hnp.arrays(np.float32, n, elements=_SMALL)), name) for n in widths]
    finite = {"allow_nan": False, "allow_infinity": False} if np.dtype(name).kind in "fc" else {}
    return [draw(hnp.arrays(name, n, elements=finite)) for n in widths]


@given(rows=_finite_rows(), data=st.data())
@settings(max_examples=200, deadline=None)
def test_equal_finite_values_match_whether_read_or_not(
    bench: Any, rows: list[Any], data: st.DataObject
) -> None:
    """Law: judge(x, x) is a match for every finite x under its default limits, and reading equal values
    (their samples in another order) finds the numbers that recognising equal bytes takes for granted.
    """
    ids = [f"s{index}" for index in range(len(rows))]
    order = data.draw(st.permutations(range(len(rows))))
    recognised = bench.compare({"x": rows}, {"x": rows}, ids=ids)
    read = bench.compare(
        {"x": rows}, {"x": [rows[at] for at in order]}, ids=ids, actual_ids=[ids[at] for at in order]
    )
    assert recognised.verdict is read.verdict is Verdict.MATCH
    taken, measured = recognised.outputs["x"], read.outputs["x"]
    event("read" if not measured.bit_identical else "recognised")
    assert replace(measured, bit_identical=True, shape=taken.shape) == taken


@given(name=st.sampled_from([*FLOATS[:3], "bfloat16", "float8_e5m2", "complex64"]), data=st.data())
@settings(max_examples=100, deadline=None)
def test_negative_zero_equals_zero(bench: Any, name: str, data: st.DataObject) -> None:
    """Law: the sign of a zero is no difference, although its bits differ."""
    before = data.draw(hnp.arrays(_held(name), (3, 4), elements=_SMALL))
    after = np.where(before == 0.0, -before, before)
    before, after = _hold(before, name), _hold(after, name)
    plan = CheckPlan(default=OutputChecks(limits=(Limit(name="exact", source="law"),)))
    assert bench.compare({"x": before}, {"x": after}, checks=plan).verdict is Verdict.MATCH


@given(sides=_two_arrays(min_rows=2), data=st.data(), tag_limit=st.sampled_from([None, 0.0, 0.5]))
@settings(max_examples=200, deadline=None)
def test_order_of_samples_changes_no_verdict(
    bench: Any, sides: tuple[np.ndarray, np.ndarray], data: st.DataObject, tag_limit: float | None
) -> None:
    """Law: the same samples in another order get the same verdict, values and drifted samples."""
    ids = [f"s{index}" for index in range(len(sides[0]))]
    order = data.draw(st.permutations(range(len(ids))))
    limits = [
        Limit(name="rel_l2", value=0.3, tags={} if tag_limit is None else {"some": tag_limit}, source="law")
    ]
    limits.append(
        Limit(name="top1_agreement", value=data.draw(st.sampled_from([0.0, 0.5, 1.0])), source="law")
    )
    options = {"outputs": SCORES, "checks": _plan(limits), "tags": {ids[0]: ("some",), ids[-1]: ("some",)}}
    straight = bench.compare({"y": sides[0]}, {"y": sides[1]}, ids=ids, **options)
    shuffled = bench.compare(
        {"y": sides[0]}, {"y": sides[1][order]}, ids=ids, actual_ids=[ids[at] for at in order], **options
    )
    assert shuffled.verdict is straight.verdict
    assert set(shuffled.drifted_samples) == set(straight.drifted_samples)
    assert len(shuffled.checks) == len(straight.checks)
    for one, other in zip(shuffled.checks, straight.checks, strict=True):
        assert (one.name, one.tag, one.ok) == (other.name, other.tag, other.ok)
        assert one.value == pytest.approx(other.value, rel=1e-12)


@given(sides=_two_arrays(), extra=_finite_rows(), data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_healthy_output_hides_no_other(
    bench: Any, sides: tuple[np.ndarray, np.ndarray], extra: list[Any], data: st.DataObject
) -> None:
    """Law: an output that agrees, before or behind, changes neither verdict nor numbers of another."""
    n_rows = len(sides[0])
    healthy = [extra[index % len(extra)] for index in range(n_rows)]
    assume(any(len(row) for row in healthy))
    ids = [f"s{index}" for index in range(n_rows)]
    alone = bench.compare({"y": sides[0]}, {"y": sides[1]}, ids=ids)
    first = data.draw(st.booleans())
    beside = [{"extra": healthy, "y": y} if first else {"y": y, "extra": healthy} for y in sides]
    result = bench.compare(*beside, ids=ids)
    assert result.verdict is alone.verdict
    assert result.drifted_samples == alone.drifted_samples
    assert result.outputs["y"] == alone.outputs["y"]
    assert tuple(check for check in result.checks if check.output == "y") == alone.checks
