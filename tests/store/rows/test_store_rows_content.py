"""The digest of a row: the same for the same content, another for any other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.store.rows.content import digest_row

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def spell(value: object) -> str:
    """Return text that is equal exactly when two values have the same types and content."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{key!r}:{spell(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(spell, value))}]"
    return f"{type(value).__name__}{value!r}"


@given(VALUES, VALUES)
def test_digests_agree_exactly_when_values_do(first, second):
    """No two contents share a digest: lengths stand in front, types are told apart."""
    same = digest_row({"x": first}, ["x"]) == digest_row({"x": second}, ["x"])
    assert same == (spell(first) == spell(second))


def test_the_order_of_columns_is_no_content():
    """A table whose columns were moved holds the same rows."""
    assert digest_row({"a": 1, "b": 2}, ["a", "b"]) == digest_row({"b": 2, "a": 1}, ["b", "a"])


def test_columns_whose_values_were_exchanged_are_another_content():
    """Planted fault: what a renamed header does."""
    assert digest_row({"a": 1, "b": 2}, ["a", "b"]) != digest_row({"a": 2, "b": 1}, ["a", "b"])


def test_columns_that_are_not_asked_for_do_not_count():
    """A note beside the features may change."""
    assert digest_row({"a": 1, "note": "x"}, ["a"]) == digest_row({"a": 1, "note": "y"}, ["a"])


def test_one_is_neither_one_point_nought_nor_text():
    """Preprocessing may treat them differently."""
    assert len({digest_row({"a": value}, ["a"]) for value in (1, 1.0, "1", True, b"1", [1], None)}) == 7


def test_byte_order_is_no_content():
    """An array is the same whoever wrote it; another dtype is another content."""
    array = np.arange(6, dtype="<f4").reshape(2, 3)
    assert digest_row({"a": array}, ["a"]) == digest_row({"a": array.astype(">f4")}, ["a"])
    assert digest_row({"a": array}, ["a"]) == digest_row({"a": np.asfortranarray(array)}, ["a"])
    assert digest_row({"a": array}, ["a"]) != digest_row({"a": array.astype("<f8")}, ["a"])
    assert digest_row({"a": array}, ["a"]) != digest_row({"a": array.reshape(3, 2)}, ["a"])


def test_every_nan_is_the_same():
    """Their bits depend on what computed them."""
    assert digest_row({"a": float("nan")}, ["a"]) == digest_row({"a": -float("nan")}, ["a"])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1 << 64, "a: expected an integer of at most 64 bits, got 18446744073709551616"),
        (
            {1, 2},
            "a: expected numbers, text, bytes, true, false, null, or lists and mappings of them, got set",
        ),
        (np.array(["x"]), "a: expected an array of numbers or booleans, got dtype <U1"),
    ],
)
def test_what_has_no_canonical_form_is_refused(value, message):
    """With its column, what was expected and what was got."""
    with pytest.raises(ValueError) as error:
        digest_row({"a": value}, ["a"])
    assert str(error.value) == message


def test_nesting_has_an_end():
    """And just inside of it is fine."""
    value: object = 0
    for _ in range(64):
        value = [value]
    digest_row({"a": value}, ["a"])
    with pytest.raises(ValueError, match="a: expected at most 64 levels of lists and mappings, got more"):
        digest_row({"a": [value]}, ["a"])
