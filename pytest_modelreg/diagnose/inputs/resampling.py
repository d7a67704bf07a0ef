"""Resizing as the libraries do it, as matrices of weights: one for the rows, one for the columns.

What belongs here: what OpenCV and the tensor functions do, which Pillow does not offer. Pillow's own
filters are Pillow's to apply. One more kernel is a function of the distance and a row in ``KERNELS``.

The conventions are those of the libraries' sources. Output pixel i looks at input position
``start + (i + 0.5) * step - 0.5``. With antialiasing the kernel is as many times wider as the step is
larger than one (Pillow's Resample.c, which torch's interpolate(antialias=True) follows, with cubics of
a = -0.5); without it the kernel has its own width, and cubics have a = -0.75 (torch, OpenCV), positions
beyond the border taking the border's pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]
"""Axes (output pixel, input pixel)."""

ALIGNED = "bilinear, corners aligned"
_WIDEST_WEIGHT = 1 << 15  # int16 weights of torch's uint8 kernels
_MOST_BITS = 22
_PIXELS_AT_ONCE = 16


def _box(distance: Weights) -> Weights:
    return ((distance > -0.5) & (distance <= 0.5)).astype(np.float64)


def _triangle(distance: Weights) -> Weights:
    return np.maximum(0.0, 1.0 - np.abs(distance))


def _cubic(distance: Weights, a: float) -> Weights:
    x = np.abs(distance)
    near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    far = (((x - 5.0) * x + 8.0) * x - 4.0) * a
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))


def _smooth_cubic(distance: Weights) -> Weights:
    return _cubic(distance, -0.5)


KERNELS: dict[str, tuple[Callable[[Weights], Weights], float]] = {
    "box": (_box, 0.5),
    "bilinear": (_triangle, 1.0),
    "bicubic": (_smooth_cubic, 2.0),
}
"""Kernel and half of its width, input pixels, by name."""


def weigh_antialiased(kernel: str, n_in: int, n_out: int, start: float, end: float) -> Weights:
    """Return the weights of an antialiased resize of ``[start, end)`` of ``n_in`` pixels."""
    function, support = KERNELS[kernel]
    step = (end - start) / n_out
    widening = max(step, 1.0)
    centres = start + (np.arange(n_out) + 0.5) * step
    first = np.maximum((centres - support * widening + 0.5).astype(np.int64), 0)
    last = np.minimum((centres + support * widening + 0.5).astype(np.int64), n_in)
    pixels = np.arange(n_in)
    weights = function((pixels + 0.5 - centres[:, np.newaxis]) / widening)
    weights *= (pixels >= first[:, np.newaxis]) & (pixels < last[:, np.newaxis])
    total = weights.sum(axis=1, keepdims=True)
    result: Weights = weights / np.where(total == 0.0, 1.0, total)
    return result


def weigh_plain(kernel: str, n_in: int, n_out: int, start: float, end: float) -> Weights:
    """Return the weights of a resize that takes the two or four nearest pixels, whatever the step.

    ``kernel`` is ``bilinear`` or ``bicubic``; ``nearest`` takes the pixel at or before
    ``start + i * step``, as torch's ``nearest`` and OpenCV's INTER_NEAREST do; ``nearest exact`` that at or
    before ``start + (i + 0.5) * step`` in float32, as torch's ``nearest-exact`` does; ``bilinear, corners
    aligned`` puts the first and the last pixel of both in one place, as torch's ``align_corners=True`` does.
    """
    step = (end - start) / n_out
    weights = np.zeros((n_out, n_in))
    rows = np.arange(n_out)
    if kernel == "nearest exact":
        # Pillow computes the same in float64: between two pixels it takes the other one.
        middles = np.float32(start) + (rows + np.float32(0.5)).astype(np.float32) * np.float32(step)
        weights[rows, np.clip(np.floor(middles).astype(np.int64), 0, n_in - 1)] = 1.0
        return weights
    if kernel == "nearest":
        weights[rows, np.clip(np.floor(start + rows * step).astype(np.int64), 0, n_in - 1)] = 1.0
        return weights
    centres = start + (rows + 0.5) * step - 0.5
    if kernel == ALIGNED:
        kernel, centres = "bilinear", start + rows * (end - start - 1) / max(n_out - 1, 1)
    base = np.floor(centres).astype(np.int64)
    taps, shape = ((-1, 0, 1, 2), -0.75) if kernel == "bicubic" else ((0, 1), 0.0)
    for tap in taps:
        distance = centres - (base + tap)
        weight = _cubic(distance, shape) if kernel == "bicubic" else _triangle(distance)
        np.add.at(weights, (rows, np.clip(base + tap, 0, n_in - 1)), weight)
    return weights


def weigh_area(n_in: int, n_out: int, start: float, end: float) -> Weights:
    """Return the weights of OpenCV's INTER_AREA: every pixel by the part of it that is covered.

    Where the result is larger, OpenCV mixes two pixels as this does, by another formula.
    """
    step = (end - start) / n_out
    edges = start + np.arange(n_out + 1) * step
    pixels = np.arange(n_in)
    overlap = np.minimum(edges[1:, np.newaxis], pixels + 1) - np.maximum(edges[:-1, np.newaxis], pixels)
    weights = np.maximum(overlap, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    result: Weights = weights / np.where(total == 0.0, 1.0, total)
    return result


def resize(levels: NDArray[np.float32], rows: Weights, columns: Weights) -> NDArray[np.float32]:
    """Return levels (channel, height, width) resized by both matrices, not rounded."""
    narrow = _weigh_last_axis(levels, columns.astype(np.float32))
    result = _weigh_last_axis(np.swapaxes(narrow, 1, 2), rows.astype(np.float32))
    return np.asarray(np.swapaxes(result, 1, 2), np.float32)


def resize_in_integers(levels: NDArray[np.float32], rows: Weights, columns: Weights) -> NDArray[np.float32]:
    """Return whole levels as torch's uint8 kernels make them: int16 weights, rounded after each pass."""
    narrow = _pass_in_integers(levels, columns)
    return np.swapaxes(_pass_in_integers(np.swapaxes(narrow, 1, 2), rows), 1, 2)


def _pass_in_integers(levels: NDArray[np.float32], weights: Weights) -> NDArray[np.float32]:
    bits = 0
    largest = float(weights.max())
    while bits < _MOST_BITS and int(0.5 + largest * (1 << (bits + 1))) < _WIDEST_WEIGHT:
        bits += 1
    scaled = weights * (1 << bits)
    whole = np.trunc(scaled + np.where(scaled < 0, -0.5, 0.5))
    # Sums of products of at most 2^15 and 255 need more than float32's 24 bits.
    total = np.floor((_weigh_last_axis(levels, whole) + (1 << (bits - 1))) / (1 << bits))
    clipped: NDArray[np.float32] = np.clip(total, 0, 255).astype(np.float32)
    return clipped


def _weigh_last_axis(levels: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Return levels @ weights.T, a few output pixels at a time: they look at a few input pixels only."""
    result = np.empty((*levels.shape[:-1], weights.shape[0]), weights.dtype)
    for first in range(0, weights.shape[0], _PIXELS_AT_ONCE):
        some = weights[first : first + _PIXELS_AT_ONCE]
        seen = np.flatnonzero(np.any(some != 0.0, axis=0))
        start, end = (int(seen[0]), int(seen[-1]) + 1) if seen.size else (0, 1)
        part = np.ascontiguousarray(levels[..., start:end], weights.dtype)
        result[..., first : first + _PIXELS_AT_ONCE] = part @ some[:, start:end].T
    return result
