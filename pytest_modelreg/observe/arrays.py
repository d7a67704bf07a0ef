"""From a framework's tensor to a numpy array and its true dtype name.

What belongs here: the one place that knows which dtypes numpy lacks. bfloat16 and
float8 travel as unsigned integers of the same width beside their true name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import OutputError

LARGEST_EXACT = 2**53
"""Up to here every integer has a float64 of its own."""

MAX_AXES = 64
"""As many as numpy's arrays can have."""


def is_tensor(value: Any) -> bool:
    """Whether a value is a torch tensor; never imports torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def read_number_list(value: list[Any]) -> NDArray[Any] | None:
    """Return the array that a list of numbers, or of equally long such lists, spells.

    None for any other list, an empty one included. Token ids and scores are one row,
    not one value a position.

    Raises
    ------
    OutputError
        Integers stand beside numbers that would make numpy round them.
    """
    first: Any = value
    for _ in range(MAX_AXES):  # a list may contain itself
        if isinstance(first, list) and first:
            first = first[0]
    # Asked before numpy is: it would take a list of tensors apart.
    if not isinstance(first, (bool, int, float, complex, np.generic)):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError):  # rows of several lengths, tensors among numbers
        return None
    if array.dtype.kind in "fc":
        rounded = next((number for number in list_numbers(value) if _is_rounded(number)), None)
        if rounded is not None:
            raise OutputError(
                f"expected integers of at most 2**53 where numpy makes a list floats, got {rounded}, which "
                "would be rounded; hand integers and floats over apart, as arrays of one dtype each"
            )
    return array if array.dtype.kind in "biufc" else None


def list_numbers(value: list[Any]) -> Iterator[Any]:
    """Yield the numbers in a list of numbers, or of such lists."""
    for item in value:
        if isinstance(item, list):
            yield from list_numbers(item)
        else:
            yield item


def read_shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a leaf without asking for its values; None where it has none, as nested tensors."""
    if isinstance(value, (bool, int, float, complex)):
        return ()
    if getattr(value, "is_nested", False):
        return None
    try:
        return tuple(int(axis) for axis in value.shape)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return None


def to_array(value: Any) -> tuple[NDArray[Any], str]:
    """Return a numpy array of a tensor, array or python number, and its true dtype name.

    The array may share memory with ``value``; it may be non-contiguous.

    Parameters
    ----------
    value : torch.Tensor, numpy.ndarray, number, or object with ``__array__``
        Any shape and device. Sparse tensors become dense, quantised ones are dequantised.

    Returns
    -------
    array : numpy.ndarray
        Same shape, native byte order; uint16 for bfloat16, uint8 for float8.
    dtype : str
        The common name: ``float32``, ``bfloat16``, ``float8_e4m3fn``.

    Raises
    ------
    OutputError
        The dtype has no numeric array form (objects, strings, dates, half-precision
        complex, masked arrays), or there are no values: meta and nested tensors.
    """
    return _from_tensor(value) if is_tensor(value) else _from_numpy(value)


def _is_rounded(number: Any) -> bool:
    return (
        isinstance(number, (int, np.integer)) and not isinstance(number, bool) and abs(number) > LARGEST_EXACT
    )


def _from_tensor(tensor: Any) -> tuple[NDArray[Any], str]:
    torch = sys.modules["torch"]
    if getattr(tensor, "is_nested", False):
        raise OutputError("a nested tensor cannot be recorded; list(tensor.unbind()) can")
    if getattr(tensor, "is_meta", False):
        raise OutputError("a meta tensor has no values to record; compute it on a device that holds values")
    name = str(tensor.dtype).removeprefix("torch.")
    try:
        if tensor.layout != torch.strided:
            tensor = tensor.to_dense()
        if getattr(tensor, "is_quantized", False):
            tensor = tensor.dequantize()
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        name = str(tensor.dtype).removeprefix("torch.")
        if name == "bfloat16":
            return tensor.view(torch.int16).numpy().view(np.uint16), name
        if name.startswith("float8_"):
            return tensor.view(torch.uint8).numpy(), name
        return tensor.numpy(), name
    except (TypeError, RuntimeError) as error:
        raise OutputError(f"a tensor of dtype {name} cannot be recorded: {error}; convert it") from error


def _from_numpy(value: Any) -> tuple[NDArray[Any], str]:
    if isinstance(value, np.ma.MaskedArray):
        raise OutputError("a masked array would lose its mask; take .filled(value) of it")
    try:
        array = np.asarray(value)
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
        raise OutputError(f"{type(value).__qualname__} cannot be made an array: {got}; convert it") from error
    name = array.dtype.name
    # ml_dtypes' types reach numpy as extension dtypes that .npy files cannot hold.
    if name == "bfloat16":
        return array.view(np.uint16), name
    if name.startswith("float8_") and array.dtype.itemsize == 1:
        return array.view(np.uint8), name
    if array.dtype.kind not in "biufc":
        raise OutputError(f"an array of dtype {array.dtype} cannot be recorded; convert it to numbers")
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return native, native.dtype.name
