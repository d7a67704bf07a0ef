"""Small floats as numbers, held against torch's own conversion."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.store.element_type import DTYPE_NAMES, decode, storage_dtype

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_float8_table_equals_torch(name: str) -> None:
    """Every one of the 256 codes means what torch says, NaN and signed zero included."""
    codes = np.arange(256, dtype=np.uint8)
    expected = torch.from_numpy(codes).view(getattr(torch, name)).float().numpy()
    actual = decode(codes, name)
    assert actual.dtype == np.float32
    np.testing.assert_array_equal(actual, expected)
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[finite], np.signbit(expected)[finite])


def test_bfloat16_equals_torch_for_every_code() -> None:
    """All 65536 codes become the float32 with the same bits, NaN payloads kept."""
    codes = np.arange(65536, dtype=np.uint32).astype(np.uint16)
    expected = torch.from_numpy(codes.view(np.int16)).view(torch.bfloat16).float().numpy()
    actual = decode(codes, "bfloat16")
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(actual.view(np.uint32) >> 16, codes)


@pytest.mark.parametrize("name", DTYPE_NAMES)
def test_storage_is_little_endian_and_same_width(name: str) -> None:
    """Files mean the same on every machine and lose no bit."""
    storage = storage_dtype(name)
    assert storage is not None
    assert storage == storage.newbyteorder("<")
    assert storage.itemsize == torch.empty(0, dtype=getattr(torch, name)).element_size()


def test_unknown_name_is_no_dtype() -> None:
    """What is not in the table is told to the caller, not guessed."""
    assert storage_dtype("complex32") is None
    assert storage_dtype("object") is None
