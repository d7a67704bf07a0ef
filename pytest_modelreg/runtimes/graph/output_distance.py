"""How far the outputs of two runs are apart: enough to tell other numbers from rounding.

What belongs here: one distance for outputs of every dtype, and the distance at which they stop being
the same numbers. It decides whether a graph froze a size, nothing else: outputs are judged elsewhere.
To treat one more dtype in its own way, add it to :data:`_LIMITS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LIMITS = {"float16": 3e-2, "bfloat16": 1e-1}
_LIMIT = 1e-3
"""Runs of one network by two engines differ by 1e-6 in float32; a size that is wrong by one, by 1/size."""

_EXACT_LIMIT = 0.1
"""Share of integers that differ: places of largest scores change with rounding, one in thousands."""


def measure_distances(
    expected: Sequence[Any], actual: Sequence[Any], usual: Sequence[Any], *, in_order: bool = True
) -> tuple[float, ...]:
    """Return how far outputs of equal shapes are apart, one number an output, in units of its limit.

    Parameters
    ----------
    expected, actual : sequence of tensor or array
        In the same order.
    usual : sequence of tensor or array
        The same outputs in an ordinary run, of any shape: what their size is measured by where
        ``expected`` happens to be near zero, as a sample minus the mean of a batch of one is.
    in_order : bool
        False where the content has ties (it was repeated along a length), so that what is sorted or
        chosen by score comes in another order in every engine: numbers are then compared as a set, and
        integers, most often indices, not at all.

    Notes
    -----
    For floats ‖a - e‖₂ / max(‖e‖₂, √n·rms(usual)) over the n places where both are finite: an overflow
    is not a size. For integers and bools the share of elements that differ.
    """
    pairs = list(zip(expected, actual, usual, strict=True))
    limit = _choose_limit([output for pair in pairs for output in pair[:2]])
    return tuple(_measure(*map(_to_array, triple), limit=limit, in_order=in_order) for triple in pairs)


def _choose_limit(outputs: Iterable[Any]) -> float:
    """Return the limit of the coarsest dtype: what computes in float16 may return float32 beside it."""
    dtypes = [str(output.dtype).removeprefix("torch.") for output in outputs]
    return max((_LIMITS.get(dtype, _LIMIT) for dtype in dtypes), default=_LIMIT)


def _measure(
    expected: NDArray[Any], actual: NDArray[Any], usual: NDArray[Any], *, limit: float, in_order: bool
) -> float:
    if expected.dtype.kind not in "fc" or actual.dtype.kind not in "fc":
        return float(np.mean(expected != actual)) / _EXACT_LIMIT if expected.size and in_order else 0.0
    if not in_order:
        expected, actual = np.sort(expected, axis=None), np.sort(actual, axis=None)
    finite = np.isfinite(expected) & np.isfinite(actual)
    difference = _norm(actual[finite] - expected[finite])
    ordinary = usual[np.isfinite(usual)] if usual.dtype.kind in "fc" else usual.reshape(-1)[:0]
    rms = _norm(ordinary) / np.sqrt(ordinary.size) if ordinary.size else 0.0
    size = max(_norm(expected[finite]), float(np.sqrt(finite.sum())) * rms)
    if not difference:
        return 0.0
    return difference / size / limit if size else np.inf


def _norm(values: NDArray[Any]) -> float:
    return float(np.linalg.norm(values.reshape(-1)))


def _to_array(output: Any) -> NDArray[Any]:
    """Return an output in float64 or complex128; integers and bools as they are."""
    if not isinstance(output, np.ndarray):
        output = output.detach().cpu()
        # numpy has no bfloat16.
        output = (output.double() if output.is_floating_point() else output.resolve_conj()).numpy()
    if output.dtype.kind == "f":
        output = output.astype(np.float64)
    array: NDArray[Any] = output
    return array
