"""A preprocessing of photos as settings, and holding what it makes against what a model was fed.

What belongs here: :class:`Recipe`, the two sides of a case as pictures, and the fit of one to the other.
Which recipes are tried is ``identification``'s business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.affine import Affine, Moments, Order, take_root
from pytest_modelreg.diagnose.inputs.decoding import Decoding, Photo
from pytest_modelreg.diagnose.inputs.frames import frame_photo
from pytest_modelreg.diagnose.inputs.geometry import Geometry
from pytest_modelreg.diagnose.inputs.interpolation import INTERPOLATIONS, USUAL, render
from pytest_modelreg.diagnose.inputs.picture import N_COLOURS, Picture, Region
from pytest_modelreg.diagnose.inputs.treatment import NONE

_RED_FIRST: Order = (0, 1, 2)
_BETTER = 0.9  # another order must leave so much less


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings of a preprocessing.

    Parameters
    ----------
    geometry : Geometry
        The rule.
    interpolation : str
        A name in ``INTERPOLATIONS``.
    treatment : str
        A name in ``TREATMENTS``: what happens to photos before they are resized.
    decodings : mapping of str to Decoding
        By sample; the usual one where there is none.
    """

    geometry: Geometry
    interpolation: str = USUAL
    treatment: str = NONE
    decodings: Mapping[str, Decoding] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """How well a recipe makes a side's pictures.

    Parameters
    ----------
    residual : float
        What it leaves, as a part of the pictures' deviation.
    order : tuple of int
        Which colour each channel holds: (2, 1, 0) is blue first.
    affine : Affine
        From levels to the side's values, by channel.
    pad : tuple of float
        What lies outside the photo, in the side's values, by channel; empty without padding.
    """

    residual: float
    order: Order
    affine: Affine
    pad: tuple[float, ...]


class Side:
    """What one side's model was fed, photo by photo.

    Parameters
    ----------
    pictures : mapping of str to Picture
        By sample, of equally many channels.
    photos : mapping of str to Photo
        By sample.
    """

    def __init__(self, pictures: Mapping[str, Picture], photos: Mapping[str, Photo]) -> None:
        self.pictures = pictures
        self.photos = photos
        self.n_channels = next(iter(pictures.values())).shape[0]

    def render(self, recipe: Recipe, sample: str) -> tuple[NDArray[np.float32], Region] | None:
        """Return what a recipe makes of a sample, levels, and where in the picture; None where it cannot."""
        photo = self.photos[sample]
        decoding = recipe.decodings.get(sample, photo.usual)
        _, height, width = self.pictures[sample].shape
        image = photo.prepare(decoding, recipe.treatment)
        frame = frame_photo(recipe.geometry, image.width, image.height, width, height)
        if frame is None:
            return None
        levels = render(
            photo, decoding, frame, INTERPOLATIONS[recipe.interpolation], treatment=recipe.treatment
        )
        if levels is None:
            return None
        if self.n_channels == 1:
            levels = weigh_luma(levels)
        return levels, frame.region

    def fit(self, recipe: Recipe, samples: Sequence[str], order: Order | None = None) -> Fit | None:
        """Return how well a recipe makes the pictures of these samples, None where it cannot at all.

        Parameters
        ----------
        order : tuple of int, optional
            The only order of channels to try.
        """
        moments = Moments(self.n_channels)
        outside = _Padding(self.n_channels)
        for sample in samples:
            rendered = self.render(recipe, sample)
            if rendered is None:
                return None
            levels, region = rendered
            picture = self.pictures[sample]
            fed, made = picture.lay_beside(levels, region)
            moments.add(made, fed)
            outside.add(picture.read_outside(region))
        orders = [order] if order else list_orders(self.n_channels)
        best: tuple[Affine, float] | None = None
        for candidate in orders:
            affine, left_over = moments.fit(candidate)
            if best is None or left_over < _BETTER * best[1]:
                best, order = (affine, left_over), candidate
        if best is None or order is None:
            return None
        residual = take_root(best[1] + outside.variation, moments.variation + outside.variation)
        return Fit(residual=residual, order=order, affine=best[0], pad=outside.mean)

    def replay(self, recipe: Recipe, fit: Fit, sample: str) -> NDArray[np.float32] | None:
        """Return the picture that a recipe makes, in the side's values: float32 (channel, height, width)."""
        rendered = self.render(recipe, sample)
        if rendered is None:
            return None
        levels, (top, left, bottom, right) = rendered
        picture = np.empty(self.pictures[sample].shape, np.float32)
        picture[:] = np.array(fit.pad or (0.0,) * self.n_channels).reshape(-1, 1, 1)
        picture[:, top:bottom, left:right] = fit.affine.apply(levels[list(fit.order)])
        return picture


class _Padding:
    """Sums over what lies outside of the photos, which should be one colour."""

    def __init__(self, n_channels: int) -> None:
        self._n = 0
        self._sum = np.zeros(n_channels)
        self._squares = np.zeros(n_channels)

    def add(self, outside: NDArray[np.float32]) -> None:
        values = outside.astype(np.float64)
        self._n += values.shape[1]
        self._sum += values.sum(axis=1)
        self._squares += (values * values).sum(axis=1)

    @property
    def variation(self) -> float:
        if not self._n:
            return 0.0
        return float(np.maximum(self._squares - self._sum**2 / self._n, 0.0).sum())

    @property
    def mean(self) -> tuple[float, ...]:
        return tuple(float(value) for value in self._sum / self._n) if self._n else ()


def list_orders(n_channels: int) -> list[Order]:
    """Return the orders of channels to try, the usual one first."""
    return list(permutations(range(n_channels))) if n_channels == N_COLOURS else [tuple(range(n_channels))]


def weigh_luma(levels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the grey (1, height, width) of red, green and blue: ITU-R BT.601, as Pillow's."""
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    return np.tensordot(weights, levels, 1)[np.newaxis]
