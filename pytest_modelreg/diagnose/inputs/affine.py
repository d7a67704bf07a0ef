"""Straight lines between the channels of two sets of pictures, from sums alone.

What belongs here: least squares between channels, pooled over samples, for every order of channels at
once. Nothing here knows what a channel or a constant means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.pair import Floats

Order = tuple[int, ...]
"""For every channel of the result, which channel it comes from."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Affine:
    """``y = scale * x + offset``, channel by channel.

    Parameters
    ----------
    scale, offset : numpy.ndarray
        float64, axes (channel,).
    """

    scale: NDArray[np.float64]
    offset: NDArray[np.float64]

    def apply(self, channels: Floats) -> Floats:
        """Return channels (channel, ...) on the line."""
        shape = (-1,) + (1,) * (channels.ndim - 1)
        return channels * self.scale.reshape(shape) + self.offset.reshape(shape)


class Moments:
    """Sums over pairs of channels: what least squares needs, at the cost of one product.

    Parameters
    ----------
    n_channels : int
        Of either side.
    """

    def __init__(self, n_channels: int) -> None:
        self.n_channels = n_channels
        self.n = 0
        self._x = np.zeros(n_channels)
        self._y = np.zeros(n_channels)
        self._xx = np.zeros((n_channels, n_channels))
        self._yy = np.zeros(n_channels)
        self._yx = np.zeros((n_channels, n_channels))

    def add(self, x: Floats, y: Floats) -> None:
        """Add one sample, axes (channel, element) each."""
        self.n += x.shape[1]
        x64, y64 = np.asarray(x, np.float64), np.asarray(y, np.float64)
        self._x += x64.sum(axis=1)
        self._y += y64.sum(axis=1)
        self._xx += x64 @ x64.T
        self._yy += np.einsum("ce,ce->c", y64, y64)
        self._yx += y64 @ x64.T

    @property
    def variation(self) -> float:
        """Squared deviations of y from its channels' means, summed."""
        return float(np.maximum(self._yy - self._y * self._y / max(self.n, 1), 0.0).sum())

    def find_gap(self, order: Order) -> float:
        """Return the squared differences of y and x, summed, x taken in that order."""
        index = list(order)
        crossed = self._yx[np.arange(len(index)), index]
        return float(np.maximum(self._yy - 2 * crossed + np.diag(self._xx)[index], 0.0).sum())

    def fit(self, order: Order) -> tuple[Affine, float]:
        """Return the best line and the squared differences that it leaves, summed."""
        index, n = list(order), max(self.n, 1)
        variance = np.diag(self._xx)[index] - self._x[index] ** 2 / n
        together = self._yx[np.arange(len(index)), index] - self._y * self._x[index] / n
        flat = variance <= 1e-12 * np.maximum(np.diag(self._xx)[index], 1e-300)
        scale = np.where(flat, 0.0, together / np.where(flat, 1.0, variance))
        offset = (self._y - scale * self._x[index]) / n
        left = self._yy - self._y * self._y / n - scale * together
        return Affine(scale=scale, offset=offset), float(np.maximum(left, 0.0).sum())

    def fit_mixture(self) -> tuple[NDArray[np.float64], float]:
        """Return the best matrix (y channel, x channel) of y from x, and what is left, squared and summed."""
        n = max(self.n, 1)
        covariance = self._xx - np.outer(self._x, self._x) / n
        together = self._yx - np.outer(self._y, self._x) / n
        matrix: NDArray[np.float64] = together @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True)
        left = self._yy - self._y * self._y / n - np.einsum("cd,cd->c", matrix, together)
        return matrix, float(np.maximum(left, 0.0).sum())

    def match_channels(self) -> Order | None:
        """Return which x channel each y channel follows best; None unless all are different ones."""
        n = max(self.n, 1)
        with np.errstate(all="ignore"):
            together = self._yx - np.outer(self._y, self._x) / n
            spread = np.sqrt(np.diag(self._xx) - self._x**2 / n)
            strength = np.nan_to_num(np.abs(together / spread))
        order = tuple(int(channel) for channel in strength.argmax(axis=1))
        return order if len(set(order)) == len(order) else None


def take_root(squares: float, variation: float) -> float:
    """Return what is left as a part of the deviation, dimensionless; infinite without a deviation."""
    if squares <= 0.0:
        return 0.0
    return math.sqrt(squares / variation) if variation > 0.0 else math.inf
