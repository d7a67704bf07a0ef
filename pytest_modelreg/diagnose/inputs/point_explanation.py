"""Which change of preprocessing it was, where of the golden's inputs only points are known.

What belongs here: which families can be asked at points. What is done to today's inputs is done to all of
them, or to the samples' files, and compared at the points; what would have to be done to the golden's cannot
be asked. To add a family, call it in :func:`_explain_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pytest_modelreg.diagnose.inputs.choice import check_as_a_whole, choose_findings
from pytest_modelreg.diagnose.inputs.curve import replay_curve
from pytest_modelreg.diagnose.inputs.explanation import SOLVED, explain_inputs
from pytest_modelreg.diagnose.inputs.finding import Group
from pytest_modelreg.diagnose.inputs.individual import replay_mixture, replay_turns
from pytest_modelreg.diagnose.inputs.known_points import KnownPoints, PointPair, join_points, lay_beside
from pytest_modelreg.diagnose.inputs.moved_points import replay_moves
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, is_same, measure_distance, read_numbers
from pytest_modelreg.diagnose.inputs.photos import replay_photos
from pytest_modelreg.diagnose.inputs.picture import Picture, find_colours, view_picture, view_points
from pytest_modelreg.diagnose.inputs.rearrangement import Replay, replay_rearrangement
from pytest_modelreg.diagnose.inputs.structure import explain_dtypes, explain_missing_values, explain_words
from pytest_modelreg.diagnose.inputs.values import replay_values
from pytest_modelreg.domain.cause import CauseFinding

_FEWEST_PLACES = 64
"""Of all samples that differ together: fewer would follow anything. A recipe is of the others, too."""

_MOST_CHECKED = 3
"""Samples whose channels are compared as a whole."""

PointNumbers = tuple[KnownPoints, Floats]


def explain_points(pairs: Sequence[PointPair], *, has_time: Callable[[], bool]) -> tuple[CauseFinding, ...]:
    """Return which named changes of preprocessing turn the golden's inputs into today's,
    as far as points tell.

    Parameters
    ----------
    pairs : sequence of PointPair
        Of a few samples, those that agree among them.
    has_time : callable
        Asked before each step; once false, what is known by then is returned.

    Returns
    -------
    tuple of CauseFinding
        Best first, with less confidence than :func:`~.explanation.explain_inputs` has, whose answer it is
        where inputs are so short that the points are all of them.
    """
    findings: list[CauseFinding] = []
    for path in dict.fromkeys(pair.path for pair in pairs):
        of_path = [pair for pair in pairs if pair.path == path]
        if all(pair.expected.is_whole for pair in of_path):
            findings += explain_inputs([pair.narrow() for pair in of_path], has_time=has_time)
            continue
        affected = [pair for pair in of_path if not is_same(pair.narrow())]
        if affected:
            findings += _explain_group(_group(path, of_path, affected), of_path, has_time)
    return tuple(sorted(findings, key=lambda finding: -finding.confidence))


def _group(path: str, pairs: Sequence[PointPair], affected: Sequence[PointPair]) -> Group:
    return Group(
        path=path,
        pairs=tuple(pair.narrow() for pair in pairs),
        affected=tuple(pair.narrow() for pair in affected),
        n_points=sum(pair.expected.values.size for pair in affected),
    )


def _explain_group(
    group: Group, pairs: Sequence[PointPair], has_time: Callable[[], bool]
) -> list[CauseFinding]:
    samples = {pair.sample for pair in group.affected}
    affected = [pair for pair in pairs if pair.sample in samples]
    is_one_shape = all(pair.actual.shape == pair.expected.shape for pair in affected)
    if is_one_shape:
        cast = explain_dtypes(group)
        if cast:
            return [cast]
    numbers = [read_numbers(pair.actual) for pair in affected]
    if any(actual is None or not actual.size for actual in numbers):
        return [explain_words(group)]
    missing = explain_missing_values(group) if is_one_shape else None
    known = [
        _leave_out_holes(pair.expected, actual)
        for pair, actual in zip(affected, numbers, strict=True)
        if actual is not None
    ]
    if missing and measure_distance(lay_beside(*pair) for pair in known) <= SOLVED:
        return [missing]
    found = check_as_a_whole(*_explain_numbers(group, pairs, known, has_time), affected[:_MOST_CHECKED])
    return [missing, *found] if missing else found


def _leave_out_holes(known: KnownPoints, actual: Floats) -> PointNumbers:
    """Return both sides without the places at which either is no finite number."""
    is_finite = np.isfinite(known.values).all(axis=0)
    if actual.shape == known.shape:
        is_finite &= np.isfinite(known.take(actual)).all(axis=0)
    if not is_finite.all():
        known = replace(known, places=known.places[is_finite], values=known.values[:, is_finite])
    return known, np.where(np.isfinite(actual), actual, 0.0)


def _explain_numbers(
    group: Group,
    pairs: Sequence[PointPair],
    known: Sequence[PointNumbers],
    has_time: Callable[[], bool],
) -> tuple[list[CauseFinding], Replay | None]:
    is_one_shape = all(points.shape == actual.shape for points, actual in known)
    joined = join_points([lay_beside(*pair) for pair in known]) if is_one_shape else None
    at_points: Sequence[NumberPair] = joined or [(points.values, actual) for points, actual in known]
    is_picture = all(find_colours(side.shape) is not None for pair in known for side in pair)
    families: list[Callable[[], Replay | None]] = []
    if sum(points.places.size for points, _ in known) >= _FEWEST_PLACES:
        families.append(lambda: replay_rearrangement(group, known, is_picture=is_picture))
        if joined is not None:
            families += [lambda: replay_values(group, joined), lambda: replay_moves(group, known)]
        families.append(lambda: replay_turns(group, known))
        if is_picture and joined is not None:
            families += [lambda: replay_mixture(group, joined), lambda: replay_curve(group, joined)]
    if is_picture and sum(pair.expected.places.size for pair in pairs) >= _FEWEST_PLACES:
        # Where some photos differ and others do not, how they are read is more likely than a scale.
        place = 0 if len(group.affected) < len(group.pairs) else len(families)
        families.insert(place, lambda: replay_photos(group, _list_pictures(pairs), has_time))
    replays: list[Replay] = []
    for family in families:
        if not has_time() or any(replay.findings and replay.left <= SOLVED for replay in replays):
            break
        replay = family()
        if replay is not None:
            replays.append(replay)
    return choose_findings(group, at_points, replays)


def _list_pictures(pairs: Sequence[PointPair]) -> list[tuple[str, Picture, Picture]]:
    """Return what is known of both sides of every sample that is a picture, those that agree too."""
    found = []
    for pair in pairs:
        actual = read_numbers(pair.actual)
        golden, today = view_points(pair.expected), None if actual is None else view_picture(actual)
        if golden is not None and today is not None and np.isfinite(today.values).all():
            found.append((pair.sample, golden, today))
    return found
