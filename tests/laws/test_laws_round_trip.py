"""Laws of recording: what a test hands over comes back bit by bit, and one changed bit is judged rightly.

Rows are drawn as codes, integers of the element's width, so that every bit pattern occurs: NaN
payloads, subnormal numbers, -0.0, integers beyond 2**53.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.store.element_type import DTYPE_NAMES, storage_dtype

pytestmark = pytest.mark.filterwarnings("error")

EXACT = [name for name in DTYPE_NAMES if name == "bool" or name.startswith(("int", "uint"))]
INEXACT = [name for name in DTYPE_NAMES if name not in EXACT]
CODED = [name for name in DTYPE_NAMES if name.startswith(("bfloat", "float8"))]
FORMS = ["C", "fortran", "strided", "reversed", "big-endian", "read-only", "torch", "torch strided", "grad"]


def _code_dtype(name: str) -> np.dtype[Any]:
    """Return the integers whose bits are an element; a complex element is two of them."""
    storage = storage_dtype(name)
    assert storage is not None
    return np.dtype(f"u{storage.itemsize // (2 if storage.kind == 'c' else 1)}")


def _from_codes(codes: np.ndarray, name: str) -> np.ndarray:
    """Return the stored array of codes; complex: the last axis of codes holds both parts."""
    storage = storage_dtype(name)
    assert storage is not None
    array = np.ascontiguousarray(codes).view(storage)
    return array[..., 0] if storage.kind == "c" else array


@st.composite
def _codes(draw: st.DrawFn, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name == "bool":
        return draw(hnp.arrays(np.uint8, shape, elements=st.integers(0, 1)))
    parts = (2,) if name.startswith("complex") else ()
    top = int(np.iinfo(_code_dtype(name)).max)
    # Without the second half, numbers beyond 2**53 are rare: hypothesis likes small ones.
    elements = st.integers(0, top) | st.integers(top // 2, top)
    return draw(hnp.arrays(_code_dtype(name), (*shape, *parts), elements=elements))


def _numbers(stored: np.ndarray, name: str) -> np.ndarray:
    """Return the numbers of a stored array; torch says what the codes of small floats mean."""
    if name not in CODED:
        return stored
    return torch.from_numpy(stored.copy()).view(getattr(torch, name)).to(torch.float32).numpy()


@st.composite
def _any_rows(draw: st.DrawFn) -> tuple[str, int, np.ndarray | list[np.ndarray]]:
    """A dtype, a number of samples, and an array of rows or one array a row."""
    name = draw(st.sampled_from(DTYPE_NAMES))
    n_rows = draw(st.integers(1, 4))
    n_axes = draw(st.integers(0, 2))
    if n_axes and draw(st.booleans()):
        shapes = draw(st.lists(st.tuples(*[st.integers(0, 3)] * n_axes), min_size=n_rows, max_size=n_rows))
        return name, n_rows, [_from_codes(draw(_codes(name, shape)), name) for shape in shapes]
    shape = (n_rows, *draw(st.tuples(*[st.integers(0, 3)] * n_axes)))
    return name, n_rows, _from_codes(draw(_codes(name, shape)), name)


def _shape(array: np.ndarray, name: str, form: str) -> Any:
    """Return the same numbers in another container or memory layout."""
    if name in CODED or form in ("torch", "torch strided", "grad"):
        tensor = torch.from_numpy(array.copy())
        if name in CODED:
            tensor = tensor.view(getattr(torch, name))
        if form in ("strided", "torch strided", "reversed") and tensor.ndim:
            # Not repeat_interleave: float8 has no kernels but copies.
            twice = torch.empty((2 * len(tensor), *tensor.shape[1:]), dtype=tensor.dtype)
            twice[::2] = tensor
            return twice[::2]
        is_differentiable = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        return tensor.requires_grad_() if form == "grad" and is_differentiable else tensor
    if form == "fortran" and array.ndim:
        return np.asfortranarray(array)
    if form == "strided" and array.ndim:
        return np.repeat(array, 2, axis=0)[::2]
    if form == "reversed" and array.ndim:
        return array[::-1].copy()[::-1]
    if form == "big-endian":
        return array.astype(array.dtype.newbyteorder(">"))
    if form == "read-only":
        array = array.copy()
        array.flags.writeable = False
    return array


def _wrap(rows: np.ndarray | list[np.ndarray], name: str, form: str) -> Any:
    """Return the output beside one that always holds a number to compare."""
    shaped = (
        _shape(rows, name, form)
        if isinstance(rows, np.ndarray)
        else [_shape(row, name, form) for row in rows]
    )
    return {"x": shaped, "anchor": np.arange(len(rows))}


def _assert_numbers(actual: np.ndarray, expected: np.ndarray, name: str) -> None:
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    if name in CODED:  # decoded, where the payload of a NaN has no meaning
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(np.signbit(actual[actual == 0]), np.signbit(expected[expected == 0]))
    else:
        assert np.ascontiguousarray(actual).tobytes() == np.ascontiguousarray(expected).tobytes()


_SIGNALLING = [
    ("bfloat16", np.array([0x7F81], np.uint16)),
    ("float16", np.array([0x7C01], np.uint16).view("f2")),
]


@example(drawn=(_SIGNALLING[0][0], 1, _SIGNALLING[0][1]), forms=("C", "C"))
@example(drawn=(_SIGNALLING[1][0], 1, _SIGNALLING[1][1]), forms=("C", "C"))
@given(drawn=_any_rows(), forms=st.tuples(*[st.sampled_from(FORMS)] * 2))
@settings(max_examples=100, deadline=None)
def test_golden_round_trip_is_exact(bench: Any, drawn: Any, forms: tuple[str, str]) -> None:
    """Law: for every dtype, shape, layout and framework a golden gives back the bits that went in,
    and the same values, whatever holds them, are a match.
    """
    name, n_rows, rows = drawn
    ids = [f"s{index}" for index in range(n_rows)]
    accepted = bench.accept(bench.record(_wrap(rows, name, forms[0]), ids=ids))
    record = accepted.observation.outputs["x"]
    assert record.dtype == name
    assert record.is_ragged == (len({row.shape for row in rows}) > 1)
    event("ragged" if record.is_ragged else f"{len(record.shape)} axes")
    for got, row in zip(accepted.rows("x"), rows, strict=True):
        _assert_numbers(got, _numbers(np.asarray(row), name), name)
    stored = np.load(accepted.folder / record.values.file)
    assert stored.tobytes() == b"".join(np.ascontiguousarray(row).tobytes() for row in rows)
    result = bench.judge(accepted, bench.record(_wrap(rows, name, forms[1]), ids=ids))
    assert result.verdict is Verdict.MATCH
    assert all(measures.bit_identical for measures in result.outputs.values())


@given(name=st.sampled_from(DTYPE_NAMES), form=st.sampled_from(FORMS), data=st.data())
@settings(max_examples=60, deadline=None)
def test_single_number_round_trip_is_exact(bench: Any, name: str, form: str, data: st.DataObject) -> None:
    """Law: a 0-d value, alone or beside rows, is recorded once, bit by bit."""
    number = _from_codes(data.draw(_codes(name, ())), name).reshape(())
    shaped = _shape(number, name, form)
    for values, path in ((shaped, "output"), ({"x": shaped, "anchor": np.arange(3)}, "x")):
        accepted = bench.accept(bench.record(values))
        record = accepted.observation.outputs[path]
        assert (record.per, record.dtype, record.shape) == ("batch", name, (1,))
        _assert_numbers(accepted.rows(path)[0], _numbers(number, name), name)


@st.composite
def _one_bit(draw: st.DrawFn, names: list[str]) -> tuple[str, list[np.ndarray], list[np.ndarray], int]:
    """A dtype, finite rows, the same with the lowest bit of one element flipped, and its row."""
    name = draw(st.sampled_from(names))
    n_rows = draw(st.integers(1, 4))
    is_ragged = draw(st.booleans())
    widths = [draw(st.integers(1, 12))] * n_rows
    if is_ragged:
        widths = draw(st.lists(st.integers(0, 12), min_size=n_rows, max_size=n_rows).filter(any))
    codes = [draw(_codes(name, (width,))) for width in widths]
    expected = [_from_codes(row, name) for row in codes]
    if name in INEXACT:
        assume(all(np.isfinite(_numbers(row, name)).all() for row in expected))
    at = draw(st.sampled_from([index for index, width in enumerate(widths) if width]))
    changed = [row.copy() for row in codes]
    flat = changed[at].reshape(-1)
    flat[draw(st.integers(0, len(flat) - 1))] ^= 1
    return name, expected, [_from_codes(row, name) for row in changed], at


def _square(values: np.ndarray) -> Fraction:
    """Return the sum of squares, exactly; complex elements by both parts."""
    reals = values.reshape(-1).view(values.real.dtype) if values.dtype.kind == "c" else values.reshape(-1)
    return sum((Fraction(value) ** 2 for value in reals.tolist()), Fraction(0))


def _difference_square(expected: np.ndarray, actual: np.ndarray) -> Fraction:
    sides = [
        (row.reshape(-1).view(row.real.dtype) if row.dtype.kind == "c" else row.reshape(-1)).tolist()
        for row in (expected, actual)
    ]
    return sum(((Fraction(a) - Fraction(e)) ** 2 for e, a in zip(*sides, strict=True)), Fraction(0))


def _refer_squares(expected: list[np.ndarray], actual: list[np.ndarray]) -> list[Fraction | float]:
    """Return the squared rel_l2 of every row by its definition, in exact fractions."""
    typical = sum(map(_square, expected), Fraction(0)) / len(expected)
    squares: list[Fraction | float] = []
    for before, after in zip(expected, actual, strict=True):
        factor = Fraction(1) if before.size < 8 else Fraction(0.01)
        denominator = max(_square(before), factor**2 * typical)
        distance = _difference_square(before, after)
        squares.append(distance / denominator if denominator else (math.inf if distance else Fraction(0)))
    return squares


@given(drawn=_one_bit(EXACT), form=st.sampled_from(FORMS))
@settings(max_examples=200, deadline=None)
def test_one_unit_of_an_exact_dtype_is_drift(bench: Any, drawn: Any, form: str) -> None:
    """Law: one integer off by one, or one flipped bool, is drift in its sample and in no other."""
    name, expected, actual, at = drawn
    ids = [f"s{index}" for index in range(len(expected))]
    result = bench.compare(_wrap(expected, name, form), _wrap(actual, name, form), ids=ids)
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == (ids[at],)
    measures = result.outputs["x"]
    assert (measures.n_mismatched, measures.max_abs) == (1, 1.0)


@given(drawn=_one_bit(INEXACT), form=st.sampled_from(FORMS))
@settings(max_examples=200, deadline=None)
def test_one_ulp_is_judged_by_the_limit(bench: Any, drawn: Any, form: str) -> None:
    """Law: one floating element one ulp off is drift exactly where the gate's definition, in exact
    fractions, is beyond the dtype's limit; an ulp that ends in NaN or infinity is always drift.
    """
    name, expected, actual, at = drawn
    ids = [f"s{index}" for index in range(len(expected))]
    result = bench.compare(_wrap(expected, name, form), _wrap(actual, name, form), ids=ids)
    numbers = [[_numbers(row, name) for row in side] for side in (expected, actual)]
    check = next(check for check in result.checks if check.output == "x")
    assert check.name == "rel_l2"
    if not all(np.isfinite(row).all() for row in numbers[1]):
        event("left the finite numbers")
        assert (result.verdict, result.drifted_samples) == (Verdict.DRIFT, (ids[at],))
        return
    square = _refer_squares(*numbers)[at]
    limit = Fraction(check.limit)
    assume(not limit**2 * (1 - Fraction(1, 10**8)) < square < limit**2 * (1 + Fraction(1, 10**8)))
    is_beyond = square > limit**2
    event("beyond the limit" if is_beyond else "within the limit")
    assert result.verdict is (Verdict.DRIFT if is_beyond else Verdict.MATCH)
    assert result.drifted_samples == ((ids[at],) if is_beyond else ())
