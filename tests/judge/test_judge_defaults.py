"""Default limits: every dtype that can be recorded has one, with its source."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.judge.defaults import find_default_limit, is_exact
from pytest_modelreg.store.element_type import DTYPE_NAMES

NOWHERE = Fingerprint(facts={})


@pytest.mark.parametrize("dtype", DTYPE_NAMES)
def test_every_recordable_dtype_has_a_default(dtype: str) -> None:
    """No output that can be stored is left without a limit, and only integers and bool have 0."""
    default = find_default_limit(dtype, NOWHERE, NOWHERE)
    assert default is not None
    assert default.source == f"dtype default ({dtype})"
    assert (default.value == 0.0) == is_exact(dtype)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float64", 1e-10),
        ("float32", 1e-5),
        ("float16", 5e-3),
        ("bfloat16", 2e-2),
        ("complex64", 1e-5),
        ("complex128", 1e-10),
        ("float8_e4m3fn", 6.25e-2),
        ("float8_e5m2", 1.25e-1),
    ],
)
def test_defaults_are_the_documented_numbers(dtype: str, value: float) -> None:
    """The numbers that documentation and goldens rely on do not move by accident."""
    default = find_default_limit(dtype, NOWHERE, NOWHERE)
    assert default is not None
    assert default.value == value


def test_an_unknown_dtype_has_no_default() -> None:
    """A dtype nobody measured gets no number out of thin air."""
    assert find_default_limit("float4_e2m1", NOWHERE, NOWHERE) is None
