"""One side's picture of a sample, whole or known at places: what a replayed picture is held against.

What belongs here: bringing both forms under one set of questions, in layout (channel, height, width).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.known_points import KnownPoints
from pytest_modelreg.diagnose.inputs.pair import Floats

N_COLOURS = 3
_LEAST_PX = 8
Region = tuple[int, int, int, int]
"""Top, left, bottom, right, pixels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """What is known of one picture.

    Parameters
    ----------
    shape : tuple of int
        Channels, one or three; height and width.
    values : numpy.ndarray
        float32, axes (channel, place).
    rows, columns : numpy.ndarray or None
        intp, axes (place,): where these are; None: everywhere, in order.
    """

    shape: tuple[int, int, int]
    values: NDArray[np.float32]
    rows: NDArray[np.intp] | None = None
    columns: NDArray[np.intp] | None = None

    @property
    def whole(self) -> NDArray[np.float32] | None:
        """All of it, axes (channel, height, width); None where that is not known."""
        return self.values.reshape(self.shape) if self.rows is None else None

    def take(self, picture: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the places of a whole picture of the same height and width: axes (channel, place)."""
        if self.rows is None or self.columns is None:
            return picture.reshape(picture.shape[0], -1)
        return picture[:, self.rows, self.columns]

    def lay_beside(
        self, levels: NDArray[np.float32], region: Region
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what is known inside a region, and as much of its levels: axes (channel, place)."""
        top, left, bottom, right = region
        whole = self.whole
        if whole is not None:
            inside = whole[:, top:bottom, left:right]
            return inside.reshape(self.shape[0], -1), levels.reshape(levels.shape[0], -1)
        assert self.rows is not None
        assert self.columns is not None
        is_inside = self._find_inside(region)
        return (
            self.values[:, is_inside],
            levels[:, self.rows[is_inside] - top, self.columns[is_inside] - left],
        )

    def read_outside(self, region: Region) -> NDArray[np.float32]:
        """Return what is known outside of a region: axes (channel, place)."""
        if region == (0, 0, *self.shape[1:]):
            return self.values[:, :0]
        return self.values[:, ~self._find_inside(region)]

    def _find_inside(self, region: Region) -> NDArray[np.bool_]:
        top, left, bottom, right = region
        if self.rows is None or self.columns is None:
            mask = np.zeros(self.shape[1:], np.bool_)
            mask[top:bottom, left:right] = True
            return mask.reshape(-1)
        inside: NDArray[np.bool_] = (
            (self.rows >= top) & (self.rows < bottom) & (self.columns >= left) & (self.columns < right)
        )
        return inside


def view_picture(array: Floats) -> Picture | None:
    """Return a whole input as a picture, None where its shape is no picture's."""
    picture = to_picture(array)
    if picture is None:
        return None
    n_channels, height, width = picture.shape
    return Picture(shape=(n_channels, height, width), values=picture.reshape(n_channels, -1))


def view_points(known: KnownPoints) -> Picture | None:
    """Return what is known of an input at points as a picture, None where its shape is no picture's."""
    axis = find_colours(known.shape)
    if axis is None or axis != known.axis or not np.isfinite(known.values).all():
        return None
    height, width = (size for index, size in enumerate(known.shape) if index != axis)
    rows, columns = known.list_coordinates()
    with np.errstate(over="ignore"):
        values = known.values.astype(np.float32)
    return Picture(shape=(known.shape[axis], height, width), values=values, rows=rows, columns=columns)


def to_picture(array: Floats) -> NDArray[np.float32] | None:
    """Return an input as float32 (channel, height, width), None where its shape is no picture's."""
    axis = find_colours(array.shape)
    if axis is None:
        return None
    with np.errstate(over="ignore"):
        picture: NDArray[np.float32] = np.ascontiguousarray(np.moveaxis(array, axis, 0), np.float32)
    return picture


def find_colours(shape: tuple[int, ...]) -> int | None:
    """Return the axis of a picture's one or three channels, None where a shape is no picture's."""
    if len(shape) != 3:
        return None
    axis = 0 if shape[0] in (1, N_COLOURS) or shape[2] not in (1, N_COLOURS) else 2
    others = [size for index, size in enumerate(shape) if index != axis]
    return axis if shape[axis] in (1, N_COLOURS) and min(others) > _LEAST_PX else None
