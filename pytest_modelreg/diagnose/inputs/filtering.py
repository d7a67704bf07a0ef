"""Pictures that are the golden's with each pixel mixed with its neighbours: blurred or sharpened.

What belongs here: one small kernel for all pictures and channels, fitted to half of the rows and held
against the other half. It is asked last: what another resize makes follows a kernel too, roughly.
"""

from __future__ import annotations

from collections.abc import Sequence

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

_TAPS = 5
_HALF = _TAPS // 2
_MOST_LEFT = 0.02
_MOST_OF_DEVIATION = 0.1
_LEAST_EXPLAINED = 0.8
_MOST_MOVED_PX = 0.1
_MOST_ROWS = 96
"""Of one picture: more say nothing new about 25 numbers."""


def replay_filter(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return whether today's pictures are the golden's, filtered; None if not."""
    if any(expected.shape != actual.shape for expected, actual in pairs):
        return None
    seen = [_look(expected, actual) for expected, actual in pairs]
    known = [(near, here) for each in seen if each is not None for near, here in [each]]
    if len(known) < len(pairs) or not known:
        return None
    kernel = _fit([(near[::2], here[::2]) for near, here in known])
    made = [(near[1::2] @ kernel, here[1::2]) for near, here in known]
    left = measure_distance(made)
    centre = _TAPS * _TAPS // 2
    residuals = Residuals(
        before=measure_distance([(near[1::2, centre], here[1::2]) for near, here in known]), after=left
    )
    here = np.concatenate([seen for _, seen in made])
    # A constant, or nearly one, is what any kernel makes.
    least = min(_MOST_LEFT, _MOST_OF_DEVIATION * measure_distance([(here, np.full_like(here, here.mean()))]))
    if not least or left > least or residuals.explained < _LEAST_EXPLAINED:
        return None
    middle = float(kernel[centre])
    steps = np.arange(_TAPS) - _HALF
    moved = [float(np.sum(kernel.reshape(_TAPS, _TAPS).sum(axis=axis) * steps)) for axis in (0, 1)]
    if int(np.abs(kernel).argmax()) != centre or max(map(abs, moved)) > _MOST_MOVED_PX:
        return None  # that is told by how far
    what = "sharpened" if middle > 1.0 else "blurred"
    finding = make_finding(
        group,
        Cause.PREPROCESS_OTHER,
        f"today's inputs are the golden's, {what}: each pixel mixed with its neighbours (its own part is "
        f"{middle:.2g}), that makes today's of the golden's {describe_residual(left)} on "
        f"{describe_scope(group)}",
        residuals,
        hypothesis="filter",
        expected="as in the golden",
        actual=what,
        constants={"kernel": kernel.reshape(_TAPS, _TAPS).round(5).tolist()},
    )
    return Replay(findings=(finding,), left=left, pairs=tuple(made), is_estimate=True)


def _look(expected: Floats, actual: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return neighbourhoods of the golden's, axes (pixel, tap), and today's pixels in their middles."""
    one, other = to_picture(expected), to_picture(actual)
    if one is None or other is None or min(one.shape[1:]) <= 2 * _TAPS:
        return None
    step = max(1, one.shape[1] // _MOST_ROWS)
    near = sliding_window_view(np.asarray(one, np.float64), (_TAPS, _TAPS), axis=(1, 2))[:, ::step]
    here = other[:, _HALF:-_HALF, _HALF:-_HALF][:, ::step]
    return near.reshape(-1, _TAPS * _TAPS), np.asarray(here, np.float64).reshape(-1)


def _fit(known: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> NDArray[np.float64]:
    """Return the kernel that leaves least, axes (tap,)."""
    products = sum((near.T @ near for near, _ in known), np.zeros((_TAPS**2, _TAPS**2)))
    together = sum((near.T @ here for near, here in known), np.zeros(_TAPS**2))
    kernel: NDArray[np.float64] = np.linalg.pinv(products, rcond=1e-10, hermitian=True) @ together
    return kernel
