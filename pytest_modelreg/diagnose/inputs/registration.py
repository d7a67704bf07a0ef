"""Pictures that show the golden's from another place: turned, enlarged, moved by parts of a pixel.

What belongs here: finding, sample by sample, the linear map that lays the golden's picture over today's,
without the files, and telling what all maps have in common. Moves by whole pixels are ``framing``'s.

The map is found by Gauss-Newton steps on the squared differences of the two, coarse first (B. D. Lucas
and T. Kanade, "An iterative image registration technique", IJCAI 1981).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, measure_distance
from pytest_modelreg.diagnose.inputs.picture import to_picture
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.domain.cause import Cause

Plane = NDArray[np.float64]
"""Axes (height, width)."""

_LEAST_PX = 32
_COARSE_PX = 48
_MOST_SAMPLES = 6
_EDGE_PX = 5
_STEPS = 12
_CONVERGED_PX = 1e-3
_FARTHEST = 0.25  # of a side: a map that goes further has lost the picture
_LEAST_EXPLAINED = 0.7
_NEARLY_ALL = 0.8
_LEAST_PX_MOVED = 0.15
_TURNED_DEG = 0.25
_ZOOMED = 0.004


@dataclass(frozen=True, kw_only=True, eq=False)
class Registered:
    """Where each pixel of today's picture is in the golden's: ``source = matrix @ place + move``.

    Parameters
    ----------
    matrix : numpy.ndarray
        float64, axes (row and column, row and column), places counted from the middle.
    move : numpy.ndarray
        float64, axes (row and column,), pixels.
    before, after : float
        rel_l2 of the smoothed pictures, without and with the map.
    pair : tuple of numpy.ndarray
        The golden's picture so mapped, and today's, smoothed, where both are known.
    """

    matrix: NDArray[np.float64]
    move: NDArray[np.float64]
    before: float
    after: float
    pair: NumberPair

    @property
    def explained(self) -> float:
        """The part of the difference that the map explains."""
        return 1.0 - self.after / self.before if self.before > 0.0 else 0.0


def replay_registration(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return whether today's pictures are the golden's under a small turn, zoom or move; None if not."""
    planes = [(_to_plane(expected), _to_plane(actual)) for expected, actual in pairs[:_MOST_SAMPLES]]
    known = [(one, other) for one, other in planes if one is not None and other is not None]
    if len(known) < len(planes) or not known or any(one.shape != other.shape for one, other in known):
        return None
    found = [each for pair in known if (each := register(*pair)) is not None]
    fitting = [each for each in found if each.explained >= _LEAST_EXPLAINED]
    if len(fitting) < _NEARLY_ALL * len(known):
        return None
    left = measure_distance([each.pair for each in found])
    what = _describe(fitting)
    if not what:
        return None
    before = measure_distance([(_smooth(one), _smooth(other)) for one, other in known])
    residuals = Residuals(before=before, after=left)
    finding = make_finding(
        group,
        Cause.PREPROCESS_GEOMETRY,
        f"today's inputs are the golden's {what}: laid over each other so, {describe_scope(group)} agree "
        f"{describe_residual(left)} instead of {describe_residual(before)}, fine detail aside",
        residuals,
        hypothesis="registration",
        expected="as in the golden",
        actual=what,
        constants={
            "maps": [[*each.matrix.ravel().round(5).tolist(), *each.move.round(3).tolist()] for each in found]
        },
    )
    return Replay(findings=(finding,), left=left, pairs=tuple(each.pair for each in found), is_estimate=True)


def register(expected: Plane, actual: Plane) -> Registered | None:
    """Return the map that lays one picture over another of its shape; None where steps lead nowhere."""
    matrix, move = np.eye(2), np.zeros(2)
    factor = max(1, min(expected.shape) // _COARSE_PX)
    for size in dict.fromkeys((factor, 1)):
        one, other = (_smooth(_shrink(each, size)) for each in (expected, actual))
        solved = _descend(one, other, matrix, move / size)
        if solved is None:
            return None
        matrix, move = solved[0], solved[1] * size
    one, other = _smooth(expected), _smooth(actual)
    mapped, is_known = _map(one, matrix, move)
    pair = (mapped[is_known], other[is_known])
    before = measure_distance([(one[is_known], other[is_known])])
    return Registered(matrix=matrix, move=move, before=before, after=measure_distance([pair]), pair=pair)


def _to_plane(array: Floats) -> Plane | None:
    picture = to_picture(array)
    if picture is None or min(picture.shape[1:]) < _LEAST_PX:
        return None
    plane: Plane = np.asarray(picture, np.float64).mean(axis=0)
    return plane


def _shrink(plane: Plane, factor: int) -> Plane:
    rows, columns = (size // factor for size in plane.shape)
    cut = plane[: rows * factor, : columns * factor]
    shrunk: Plane = cut.reshape(rows, factor, columns, factor).mean(axis=(1, 3))
    return shrunk


def _smooth(plane: Plane) -> Plane:
    """Return a plane of which fine detail is left out, that another interpolation makes otherwise."""
    weights = np.array([1, 8, 28, 56, 70, 56, 28, 8, 1]) / 256
    padded = np.pad(plane, weights.size // 2, mode="edge")
    rows = sliding_window_view(padded, weights.size, axis=0) @ weights
    smooth: Plane = sliding_window_view(rows, weights.size, axis=1) @ weights
    return smooth


def _list_places(shape: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows and columns of all pixels, from the middle."""
    rows, columns = np.mgrid[: shape[0], : shape[1]].astype(np.float64)
    return rows - (shape[0] - 1) / 2, columns - (shape[1] - 1) / 2


def _map(plane: Plane, matrix: Plane, move: Plane) -> tuple[Plane, NDArray[np.bool_]]:
    """Return what is at the mapped places, straight between four pixels, and which places are inside."""
    rows, columns = _list_places(plane.shape)
    height, width = plane.shape
    y = matrix[0, 0] * rows + matrix[0, 1] * columns + move[0] + (height - 1) / 2
    x = matrix[1, 0] * rows + matrix[1, 1] * columns + move[1] + (width - 1) / 2
    # What comes in from outside is smoothed into its neighbours.
    inside = (y >= _EDGE_PX) & (y <= height - 1 - _EDGE_PX) & (x >= _EDGE_PX) & (x <= width - 1 - _EDGE_PX)
    top = np.clip(np.floor(y).astype(np.int64), 0, height - 2)
    left = np.clip(np.floor(x).astype(np.int64), 0, width - 2)
    down, right = y - top, x - left
    upper = plane[top, left] * (1 - right) + plane[top, left + 1] * right
    lower = plane[top + 1, left] * (1 - right) + plane[top + 1, left + 1] * right
    mapped: Plane = upper * (1 - down) + lower * down
    return mapped, inside


def _descend(
    one: Plane, other: Plane, matrix: Plane, move: NDArray[np.float64]
) -> tuple[Plane, NDArray[np.float64]] | None:
    rows, columns = _list_places(one.shape)
    reach = max(one.shape) / 2
    for _ in range(_STEPS):
        mapped, is_known = _map(one, matrix, move)
        if is_known.mean() < 1 - 2 * _FARTHEST:
            return None
        by_row, by_column = (np.asarray(slope, np.float64) for slope in np.gradient(mapped))
        slopes: list[Plane] = []
        for slope in (by_row, by_column):
            slopes += [slope * rows, slope * columns, slope]
        terms = np.stack([slope[is_known] for slope in slopes])
        products = terms @ terms.T
        if not np.isfinite(products).all() or np.linalg.matrix_rank(products) < len(slopes):
            return None
        step = np.linalg.solve(products, terms @ (other - mapped)[is_known])
        matrix = matrix + step.reshape(2, 3)[:, :2]
        move = move + step.reshape(2, 3)[:, 2]
        if max(np.abs(matrix - np.eye(2)).max() * reach, np.abs(move).max()) > _FARTHEST * 2 * reach:
            return None
        if max(np.abs(step[[0, 1, 3, 4]]).max() * reach, np.abs(step[[2, 5]]).max()) < _CONVERGED_PX:
            break
    return matrix, move


def _describe(found: Sequence[Registered]) -> str:
    """Return what the maps do in words; empty where that is next to nothing."""
    turns = [math.degrees(float(each.matrix[0, 1] - each.matrix[1, 0]) / 2) for each in found]
    zooms = [float(1.0 / np.sqrt(abs(np.linalg.det(each.matrix)))) for each in found]
    down, right = (-float(np.median([float(each.move[axis]) for each in found])) for axis in (0, 1))
    parts = []
    if min(map(abs, turns)) >= _TURNED_DEG and len({turn > 0 for turn in turns}) == 1:
        parts.append(f"turned by {abs(np.median(turns)):.2g} degrees")
    if min(abs(zoom - 1.0) for zoom in zooms) >= _ZOOMED and len({zoom > 1 for zoom in zooms}) == 1:
        low, high = min(zooms), max(zooms)
        span = f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"
        parts.append(f"{'enlarged' if low > 1 else 'reduced'} {span} times")
    if max(abs(down), abs(right)) >= _LEAST_PX_MOVED:
        ways = [
            f"{abs(by):.2g} px {word}"
            for by, word in ((down, "down" if down > 0 else "up"), (right, "right" if right > 0 else "left"))
            if abs(by) >= _LEAST_PX_MOVED
        ]
        parts.append(f"moved by {' and '.join(ways)}")
    return ", ".join(parts)
