"""Which change of preprocessing turns the golden's inputs into today's: every family asked in turn.

What belongs here: grouping pairs by input, which families a group's form admits, and what is said where
none explains it. To add a family, call it in :func:`_explain_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pytest_modelreg.diagnose.inputs.choice import choose_findings, confirm_findings
from pytest_modelreg.diagnose.inputs.curve import replay_curve
from pytest_modelreg.diagnose.inputs.filtering import replay_filter
from pytest_modelreg.diagnose.inputs.finding import Group
from pytest_modelreg.diagnose.inputs.framing import replay_framing
from pytest_modelreg.diagnose.inputs.individual import replay_constants, replay_mixture, replay_turns
from pytest_modelreg.diagnose.inputs.known_points import PointPair
from pytest_modelreg.diagnose.inputs.pair import (
    InputPair,
    NumberPair,
    is_same,
    measure_distance,
    read_numbers,
)
from pytest_modelreg.diagnose.inputs.photos import replay_photos
from pytest_modelreg.diagnose.inputs.picture import to_picture, view_picture
from pytest_modelreg.diagnose.inputs.rearrangement import Replay, replay_rearrangement
from pytest_modelreg.diagnose.inputs.registration import replay_registration
from pytest_modelreg.diagnose.inputs.signals import replay_signals
from pytest_modelreg.diagnose.inputs.structure import (
    explain_dtypes,
    explain_missing_values,
    explain_paths,
    explain_words,
    is_one_sided,
)
from pytest_modelreg.diagnose.inputs.tables import replay_table
from pytest_modelreg.diagnose.inputs.tokens import are_masks, explain_tokens
from pytest_modelreg.diagnose.inputs.unexplained import explain_remainder
from pytest_modelreg.diagnose.inputs.values import replay_values
from pytest_modelreg.domain.cause import CauseFinding

SOLVED = 1e-4
"""rel_l2 below which nothing more is looked for."""

_LARGEST = 1e100
"""What is larger counts as no number: its squares have none."""


def explain_inputs(
    pairs: Sequence[InputPair], *, has_time: Callable[[], bool], others: Sequence[PointPair] = ()
) -> tuple[CauseFinding, ...]:
    """Return which named changes of preprocessing turn the golden's inputs into today's.

    Parameters
    ----------
    pairs : sequence of InputPair
        Of a few samples, those that agree among them: that only some differ is evidence.
    has_time : callable
        Asked before each step; once false, what is known by then is returned.
    others : sequence of PointPair
        More samples that differ, of whose golden's inputs points are known: an explanation is held against
        them, none is found on them.

    Returns
    -------
    tuple of CauseFinding
        Best first; empty where the inputs agree but for rounding. The confidence is the part of the
        difference that the replay explains, less where another hypothesis does nearly as well.
    """
    findings: list[CauseFinding] = list(explain_paths(pairs))
    for path in dict.fromkeys(pair.path for pair in pairs):
        of_path = tuple(pair for pair in pairs if pair.path == path)
        affected = tuple(pair for pair in of_path if not is_same(pair))
        if affected:
            group = Group(path=path, pairs=of_path, affected=affected)
            more = [pair for pair in others if pair.path == path]
            findings += _explain_group(group, more, has_time)
    return tuple(sorted(findings, key=lambda finding: -finding.confidence))


def _explain_group(
    group: Group, others: Sequence[PointPair], has_time: Callable[[], bool]
) -> list[CauseFinding]:
    present = tuple(pair for pair in group.affected if not is_one_sided(pair))
    if not present:
        return []
    group = Group(path=group.path, pairs=group.pairs, affected=present)
    cast = explain_dtypes(group)
    if cast:
        return [cast]
    numbers = [_read_pair(pair) for pair in group.affected]
    if any(0 in side.shape for pair in group.affected for side in (pair.expected, pair.actual)):
        return [explain_words(group)]
    if any(pair is None for pair in numbers):
        return [explain_words(group)]
    missing = explain_missing_values(group)
    pairs = [_fill_holes(pair) for pair in numbers if pair is not None]
    if missing:
        kept = [pair for pair in pairs if pair[0].shape == pair[1].shape]
        if measure_distance(kept) <= SOLVED:
            return [missing]
    found = _explain_numbers(group, pairs, others, has_time)
    return [missing, *found] if missing else found


def _read_pair(pair: InputPair) -> NumberPair | None:
    expected, actual = read_numbers(pair.expected), read_numbers(pair.actual)
    return None if expected is None or actual is None else (expected, actual)


def _fill_holes(pair: NumberPair) -> NumberPair:
    """Return a pair whose values are finite: zero on both sides where one of them is not."""
    expected, actual = (np.where(np.abs(side) < _LARGEST, side, 0.0) for side in pair)
    if expected.shape != actual.shape:
        return expected, actual
    return np.where(np.isfinite(pair[1]), expected, 0.0), np.where(np.isfinite(pair[0]), actual, 0.0)


def _explain_numbers(
    group: Group, pairs: Sequence[NumberPair], others: Sequence[PointPair], has_time: Callable[[], bool]
) -> list[CauseFinding]:
    is_picture = _is_picture(pairs)
    if not is_picture and (_are_ids(group) or are_masks(group)):
        return list(explain_tokens(group)) or [explain_remainder(group, pairs)]
    families: list[Callable[[], Replay | None]] = [
        lambda: replay_rearrangement(group, pairs, is_picture=is_picture),
        lambda: replay_values(group, pairs),
        lambda: replay_turns(group, pairs),
        lambda: replay_constants(group, pairs),
        lambda: replay_framing(group, pairs),
    ]
    if is_picture:
        # Where some photos differ and others do not, how they are read is more likely than a scale.
        place = 0 if len(group.affected) < len(group.pairs) else len(families)
        families.insert(place, lambda: _replay_files(group, has_time))
        families += [
            lambda: replay_mixture(group, pairs),
            lambda: replay_curve(group, pairs),
            lambda: replay_filter(group, pairs),
            lambda: replay_registration(group, pairs),
        ]
    else:
        families = [
            lambda: replay_signals(group, pairs),
            lambda: replay_table(group, pairs),
            *families,
        ]
    replays: list[Replay] = []
    for family in families:
        if not has_time() or any(replay.findings and replay.left <= SOLVED for replay in replays):
            break
        replay = family()
        if replay is not None:
            replays.append(replay)
    return confirm_findings(*choose_findings(group, pairs, replays), others, has_time)


def _is_picture(pairs: Sequence[NumberPair]) -> bool:
    return all(to_picture(side) is not None and side.ndim == 3 for pair in pairs for side in pair)


def _are_ids(group: Group) -> bool:
    return all(
        side.dtype.kind in "biu" and side.ndim in (1, 2)
        for pair in group.affected
        for side in (pair.expected, pair.actual)
    )


def _replay_files(group: Group, has_time: Callable[[], bool]) -> Replay | None:
    """Return what the samples' files tell of pictures of one layout."""
    pictures = []
    for pair in group.pairs:
        sides = [None if side is None else view_picture(side) for side in _read_pair(pair) or (None, None)]
        if (
            sides[0] is not None
            and sides[1] is not None
            and all(np.isfinite(side.values).all() for side in sides if side is not None)
        ):
            pictures.append((pair.sample, sides[0], sides[1]))
    return replay_photos(group, pictures, has_time) if pictures else None
