"""Another dtype, where a case declares it, and the precision that its values are judged at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge.defaults import find_loosest_limit, is_same_family

pytestmark = pytest.mark.filterwarnings("error")

VALUES = np.random.default_rng(0).standard_normal((4, 50)).astype(np.float32)
NOWHERE = Fingerprint(facts={})
DECLARED = {"allows_other_dtype": True}


def test_a_declared_dtype_is_no_finding(court: Any) -> None:
    """Values are judged at float16's limit, and the source says why."""
    actual = VALUES.astype(np.float16)
    result = court.judge(VALUES, actual, compute_dtypes=("float16",), **DECLARED)
    assert (result.verdict, result.structure) == (Verdict.MATCH, ())
    (check,) = result.checks
    assert (check.limit, check.source) == (5e-3, "dtype default (float16, declared)")
    assert 0 < check.value < 1e-3
    assert result.outputs["y"].dtype == "float16"
    assert court.judge(VALUES, actual).message == "dtype of y: expected float32, got float16"


@pytest.mark.parametrize(("error", "verdict"), [(4.9e-3, Verdict.MATCH), (5.1e-3, Verdict.DRIFT)])
def test_float32_outputs_under_autocast_are_judged_at_its_precision(
    court: Any, error: float, verdict: Verdict
) -> None:
    """Equal dtypes, and products in less: just inside and just outside of the coarser limit."""
    actual = VALUES * np.float32(1 + error)
    options = {**DECLARED, "compute_dtypes": ("float16",)}
    assert court.judge(VALUES, actual, **options).verdict is verdict
    assert court.judge(VALUES, actual).verdict is Verdict.DRIFT


@pytest.mark.parametrize(
    ("dtypes", "compute", "value", "source"),
    [
        (("float32", "float32"), (), 1e-5, "dtype default (float32)"),
        (("float32", "float16"), (), 5e-3, "dtype default (float16, this run's)"),
        (("float32", "float32"), ("float16",), 5e-3, "dtype default (float16, declared)"),
        (("float32", "float16"), ("bfloat16",), 2e-2, "dtype default (bfloat16, declared)"),
        (("float32", "float64"), ("float64",), 1e-5, "dtype default (float32)"),
        (("float16", "float32"), ("float32",), 5e-3, "dtype default (float16)"),
        (("complex64", "complex64"), ("float16",), 5e-3, "dtype default (float16, declared)"),
        (("int64", "int32"), ("float16",), 0.0, "dtype default (int64)"),
    ],
)
def test_the_loosest_precision_counts(
    dtypes: tuple[str, str], compute: tuple[str, ...], value: float, source: str
) -> None:
    """Of expected, declared and actual; a finer one loosens nothing, and integers stay exact."""
    limit = find_loosest_limit(dtypes, compute, NOWHERE, NOWHERE)
    assert limit is not None
    assert (limit.value, limit.source) == (value, source)


def test_a_written_limit_still_wins(court: Any, ask: Any, limit: Any) -> None:
    """What a suite asks for is asked of every precision."""
    checks = ask(limit("rel_l2", 1e-5))
    result = court.judge(VALUES, VALUES.astype(np.float16), checks=checks, **DECLARED)
    assert result.verdict is Verdict.DRIFT


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(np.int64, np.float32), (np.float32, np.int64), (np.int32, np.bool_), (np.complex64, np.float32)],
)
def test_another_kind_of_number_stays_a_finding(court: Any, expected: Any, actual: Any) -> None:
    """A declared precision does not turn class indices into scores."""
    ones = np.ones((4, 3))
    result = court.judge(ones.astype(expected), ones.astype(actual), **DECLARED)
    assert [finding.what for finding in result.structure] == ["dtype"]


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ("float32", "bfloat16", True),
        ("float8_e5m2", "float64", True),
        ("int8", "uint64", True),
        ("complex64", "complex128", True),
        ("bool", "bool", False),
        ("bool", "int8", False),
        ("int8", "float32", False),
    ],
)
def test_families_of_dtypes(before: str, after: str, is_same: bool) -> None:
    """Widths differ within a family, kinds of numbers between them."""
    assert is_same_family(before, after) is is_same


@pytest.mark.parametrize(("expected", "actual"), [(np.int64, np.int32), (np.int16, np.uint64)])
@pytest.mark.parametrize(("step", "verdict"), [(0, Verdict.MATCH), (1, Verdict.DRIFT)])
def test_integer_widths_may_differ_and_are_compared_exactly(
    court: Any, expected: Any, actual: Any, step: int, verdict: Verdict
) -> None:
    """Token ids in another width are the same ids; one that is another is a drift."""
    before = np.arange(12).reshape(4, 3)
    after = before + step * np.eye(4, 3, dtype=int)
    result = court.judge(before.astype(expected), after.astype(actual), **DECLARED)
    assert result.verdict is verdict
    assert result.checks[0].name == "exact"


@pytest.mark.parametrize("swapped", [True, False])
def test_int64_beside_uint64_is_exact_beyond_2_53(court: Any, swapped: bool) -> None:
    """Their common type is float64, in which neighbours beyond 2**53 are equal: they are not here."""
    signed = np.array([[2**62 + 1], [5], [-1]], dtype=np.int64)
    unsigned = np.array([[2**62], [5], [2**64 - 1]], dtype=np.uint64)
    sides = (unsigned, signed) if swapped else (signed, unsigned)
    result = court.judge(*sides, **DECLARED)
    assert result.drifted_samples == ("s0", "s2")
    assert result.outputs["y"].max_abs == pytest.approx(2.0**64)


def test_equal_bytes_of_another_dtype_are_not_bit_identical(court: Any, side: Any) -> None:
    """bfloat16 is stored as integers: the same file under another dtype holds other numbers."""
    bits = np.full((4, 3), 0x3F80, np.uint16)
    sides = [side(outputs={"y": bits}, dtypes={"y": dtype}) for dtype in ("bfloat16", "uint16")]
    assert court.judge(*sides, **DECLARED).verdict is Verdict.DRIFT


@pytest.mark.parametrize(("options", "agreement"), [({}, 0.75), ({"compute_dtypes": ("float16",)}, 1.0)])
@pytest.mark.parametrize("floor", [{}, {"y": 1e-6}])
def test_near_ties_follow_the_precision(
    court: Any, ask: Any, options: Any, agreement: float, floor: Any
) -> None:
    """A flip by 1e-3 of the norm is noise of float16 and none of float32, calibrated or not."""
    expected = np.tile(np.array([1.0, 0.999, 0.0], np.float32), (4, 1))
    actual = expected.copy()
    actual[1] = [0.999, 1.0, 0.0]
    specs = {"y": OutputSpec(kind="classification")}
    result = court.judge(
        expected, actual, specs=specs, checks=ask(off=["rel_l2"]), noise_floor=floor, **DECLARED, **options
    )
    assert result.checks[0].value == agreement


def test_a_calibrated_floor_holds_at_the_golden_s_own_precision(court: Any, ask: Any) -> None:
    """What was measured wins over the dtype's default where nothing coarser is declared."""
    expected = np.tile(np.array([1.0, 0.999, 0.0], np.float32), (2, 1))
    specs = {"y": OutputSpec(kind="classification")}
    options = {"specs": specs, "checks": ask(off=["rel_l2"]), "noise_floor": {"y": 1e-3}}
    assert court.judge(expected, expected[:, [1, 0, 2]], **options).checks[0].value == 1.0
