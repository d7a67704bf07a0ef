"""What is known of a golden's input that it does not keep: values at a few places, and statistics.

What belongs here: the values that the detective is given in place of whole arrays, and laying an array
beside either. Where the places are is ``trace.points``'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.pair import Floats, InputPair
from pytest_modelreg.trace import measure_channels, split_channels


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownPoints:
    """Values of one input at places, each with all channels.

    Parameters
    ----------
    shape : tuple of int
        Of the whole input.
    dtype : numpy.dtype
        Of the whole input, as arrays are read.
    axis : int or None
        Of the channels; None where all of it counts as one.
    places : numpy.ndarray
        intp, axes (place,): indices into one channel, in C order.
    values : numpy.ndarray
        float64, axes (channel, place).
    statistics : numpy.ndarray
        float64, axes (channel, statistic), as :class:`~pytest_modelreg.trace.ArrayPoints` has them.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    axis: int | None
    places: NDArray[np.intp]
    values: NDArray[np.float64]
    statistics: NDArray[np.float64]

    @property
    def ndim(self) -> int:
        """How many axes the whole input has."""
        return len(self.shape)

    @property
    def is_whole(self) -> bool:
        """Whether every element is known."""
        return self.values.size == prod(self.shape)

    def list_coordinates(self) -> tuple[NDArray[np.intp], ...]:
        """Return where the places are, an index for each axis but that of channels."""
        inner = tuple(size for axis, size in enumerate(self.shape) if axis != self.axis)
        return np.unravel_index(self.places, inner) if inner else ()

    def take(self, array: Floats) -> Floats:
        """Return the values of an array of the whole shape at the places: axes (channel, place)."""
        if self.axis is None:
            return array.reshape(-1)[self.places][np.newaxis]
        where: tuple[Any, ...] = (slice(None), *self.list_coordinates())
        taken: Floats = np.moveaxis(array, self.axis, 0)[where]
        return taken

    def restore(self) -> NDArray[Any]:
        """Return the whole input, where every element is known."""
        if self.axis is None:
            return self.values.reshape(self.shape).astype(self.dtype)
        inner = tuple(size for axis, size in enumerate(self.shape) if axis != self.axis)
        return np.moveaxis(self.values.reshape(-1, *inner), 0, self.axis).astype(self.dtype)

    def measure_gap(self, array: Floats) -> float:
        """Return how far the channels of an array of the whole shape are from these, as a whole.

        Returns
        -------
        float
            The largest difference of a mean or a deviation, as a part of the deviation over all channels;
            dimensionless.
        """
        found = measure_channels(split_channels(array, self.axis))[:, :2]
        known = self.statistics[:, :2]
        if np.isnan(known).any() or np.isnan(found).any():
            return 0.0 if np.array_equal(np.isnan(known), np.isnan(found)) else float("inf")
        spread = float(np.hypot(known[:, 1].max(), np.ptp(known[:, 0])))
        gap = float(np.abs(found - known).max())
        if gap == 0.0:
            return 0.0
        return gap / spread if spread > 0.0 else float("inf")


Expected = Floats | KnownPoints
"""A golden's input, whole or known at points."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PointPair:
    """One input of one sample, whole on this run's side and known at points on the golden's.

    Parameters
    ----------
    sample, path : str
        As :class:`~.pair.InputPair` has them.
    expected : KnownPoints
        The golden's.
    actual : numpy.ndarray
        Any dtype and shape, without a batch axis.
    file : Path or None
        The sample's file on disk, None when unknown.
    loader : str
        The suite's loader.
    """

    sample: str
    path: str
    expected: KnownPoints
    actual: NDArray[Any]
    file: Path | None
    loader: str

    def narrow(self) -> InputPair:
        """Return the pair of what is known of both sides; this run's whole where shapes differ."""
        expected, actual = self.expected, self.actual
        is_whole = expected.is_whole
        if is_whole:
            one: NDArray[Any] = expected.restore()
        else:
            one = expected.values.astype(expected.dtype)
            actual = expected.take(actual) if actual.shape == expected.shape else actual
        return InputPair(
            sample=self.sample,
            path=self.path,
            expected=one,
            actual=actual,
            file=self.file,
            loader=self.loader,
        )


def lay_beside(expected: Expected, array: Floats) -> tuple[Floats, Floats]:
    """Return what is known of an input, and the same of an array of its shape."""
    if isinstance(expected, KnownPoints):
        return expected.values, expected.take(array)
    return expected, array


def join_points(pairs: Sequence[tuple[Floats, Floats]]) -> list[tuple[Floats, Floats]]:
    """Return points of several samples as if they were one's: axes (channel, place)."""
    if len({expected.shape[0] for expected, _ in pairs}) > 1:
        pairs = [(expected.reshape(1, -1), actual.reshape(1, -1)) for expected, actual in pairs]
    expected, actual = (np.concatenate(side, axis=1) for side in zip(*pairs, strict=True))
    return [(expected, actual)]
