"""Changes that are another one for every sample: turns, and constants taken from the sample itself.

What belongs here: hypotheses that are fitted sample by sample, which explains more than it should unless
every sample is explained nearly exactly; and colours mixed into others, which is one matrix for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pytest_modelreg.diagnose.inputs.affine import Moments, take_root
from pytest_modelreg.diagnose.inputs.alignment import Rearranged, rearrange
from pytest_modelreg.diagnose.inputs.arrangement import flatten_channels, list_arrangements
from pytest_modelreg.diagnose.inputs.finding import (
    Group,
    Residuals,
    describe_residual,
    describe_scope,
    make_finding,
)
from pytest_modelreg.diagnose.inputs.known_points import Expected, lay_beside
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, measure_distance
from pytest_modelreg.diagnose.inputs.rearrangement import Replay
from pytest_modelreg.diagnose.traits import UPRIGHT, read_orientations
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.trace import find_channel_axis

_NEAR = 0.05
_EXACT = 0.02
_MOST_LEFT = 0.2  # of the difference
_COLOURS = 3


def replay_turns(group: Group, pairs: Sequence[tuple[Expected, Floats]]) -> Replay | None:
    """Return whether samples are turned or mirrored, each in its own way; None if not."""
    if any(expected.ndim != 3 for expected, _ in pairs):
        return None
    turned: dict[str, str] = {}
    undone: list[NumberPair] = []
    for pair, (expected, actual) in zip(group.affected, pairs, strict=True):
        best: tuple[float, str, NumberPair] | None = None
        for arrangement in list_arrangements(expected.shape, actual.shape):
            laid = lay_beside(expected, arrangement.apply(actual))
            distance = measure_distance([laid])
            if best is None or distance < best[0]:
                best = (distance, arrangement.name if arrangement.cause else "", laid)
        if best is None or not best[1] or best[0] > _NEAR:
            return None
        turned[pair.sample] = best[1]
        undone.append(best[2])
    left = measure_distance(undone)
    is_resized = any(expected.shape != actual.shape for expected, actual in pairs)
    before = 1.0 if is_resized else measure_distance(lay_beside(*pair) for pair in pairs)
    if left > _MOST_LEFT * before:
        return None
    orientations = read_orientations(group.files)
    is_exif = all(orientations.get(sample, UPRIGHT) != UPRIGHT for sample in turned)
    ways = Counter(turned.values()).most_common()
    what = " or ".join(way for way, _ in ways)
    because = "as their EXIF orientation asks on one side only" if is_exif else "each for itself"
    if len(ways) == 1 and not is_exif:
        because = "and no other" if len(group.affected) < len(group.pairs) else "all of them"
    finding = make_finding(
        group,
        Cause.PREPROCESS_DECODE if is_exif else Cause.PREPROCESS_GEOMETRY,
        f"{describe_scope(group)} are {what}, {because}: turned back, "
        f"that gives the golden's inputs {describe_residual(left)}",
        Residuals(before=before, after=left),
        hypothesis="EXIF orientation" if is_exif else "turns",
        expected="as in the golden",
        actual=what,
        constants={
            "by_sample": turned,
            "orientations": {sample: orientations[sample] for sample in turned} if is_exif else {},
        },
    )
    return Replay(findings=(finding,), left=left, pairs=tuple(undone))


def replay_constants(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return whether every sample is the golden's on a line of its own; None if one for all, or none."""
    if len(pairs) < 2 or any(expected.shape != actual.shape for expected, actual in pairs):
        return None
    fits: list[Rearranged] = []
    undone = []
    for expected, actual in pairs:
        fit = rearrange([(expected, actual)])
        if fit is None or fit.arrangement.cause or fit.is_reordered or fit.left > _EXACT:
            return None
        fits.append(fit)
        axis = find_channel_axis(expected.shape)
        line = fit.affine.apply(flatten_channels(actual, axis))
        undone.append((flatten_channels(expected, axis), line))
    left, before = measure_distance(undone), measure_distance(pairs)
    if left > _MOST_LEFT * before:
        return None
    scales = np.array([fit.affine.scale.mean() for fit in fits])
    finding = make_finding(
        group,
        Cause.PREPROCESS_NORMALIZATION,
        f"every sample is scaled with constants of its own, from {scales.min():.4g} to {scales.max():.4g} "
        f"times: undone on {describe_scope(group)}, that gives the golden's inputs {describe_residual(left)}",
        Residuals(before=before, after=left),
        hypothesis="constants by sample",
        expected="as in the golden",
        actual="constants by sample",
        constants={"scale": scales.round(6).tolist()},
    )
    return Replay(findings=(finding,), left=left, pairs=tuple(undone))


def replay_mixture(group: Group, pairs: Sequence[NumberPair]) -> Replay | None:
    """Return whether the channels of one side are mixed from all of the other's; None if not."""
    axes = {find_channel_axis(side.shape) for pair in pairs for side in pair}
    if len(axes) != 1 or None in axes or any(e.shape != a.shape for e, a in pairs):
        return None
    (axis,) = axes
    flat = [tuple(np.asarray(flatten_channels(side, axis), np.float64) for side in pair) for pair in pairs]
    if any(side.shape[0] != _COLOURS for pair in flat for side in pair):
        return None
    before = measure_distance(pairs)
    ways = []
    for is_forward in (True, False):
        moments = Moments(_COLOURS)
        for expected, actual in flat:
            moments.add(*((expected, actual) if is_forward else (actual, expected)))
        if moments.variation <= 0.0:
            return None
        matrix, squares = moments.fit_mixture()
        ways.append((take_root(squares, moments.variation), not is_forward, matrix))
    left, is_backward, matrix = min(ways, key=lambda way: way[:2])
    residuals = Residuals(before=before, after=left)
    if left > _EXACT or residuals.explained < 1 - _MOST_LEFT:
        return None
    is_grey = bool(np.all(np.ptp(matrix, axis=0) <= 0.02 * np.abs(matrix).max()))
    side, other = ("the golden's", "today's") if is_backward else ("today's", "the golden's")
    what = "are grey, made from the colours of" if is_grey else "hold other colours, mixed from"
    finding = make_finding(
        group,
        Cause.PREPROCESS_DECODE,
        f"{side} inputs {what} {other}: mixed so on {describe_scope(group)}, "
        f"they come out {describe_residual(left)}",
        residuals,
        hypothesis="colour mode",
        expected="grey" if is_grey and is_backward else "colours",
        actual="grey" if is_grey and not is_backward else "colours",
        constants={"matrix": matrix.round(5).tolist()},
    )
    mixed = []
    for expected, actual in flat:
        here, there = (actual, expected) if not is_backward else (expected, actual)
        middle = here.mean(axis=1, keepdims=True) - matrix @ there.mean(axis=1, keepdims=True)
        made = matrix @ there + middle
        mixed.append((here, made) if is_backward else (made, here))
    # Colours that leave the range are clipped.
    return Replay(findings=(finding,), left=left, pairs=tuple(mixed), is_estimate=True)
