"""Which change of preprocessing turns the golden's inputs into today's: every family asked in turn.

What belongs here: grouping pairs by input, which families a group's form admits, and what is said where
none explains it. To add a family, call it in :func:`_explain_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pytest_modelreg.diagnose.inputs.finding import Group
from pytest_modelreg.diagnose.inputs.framing import replay_framing
from pytest_modelreg.diagnose.inputs.individual import replay_constants, replay_mixture, replay_turns
from pytest_modelreg.diagnose.inputs.pair import (
    InputPair,
    is_same,
    measure_distance,
    read_numbers,
)
from pytest_modelreg.diagnose.inputs.photos import replay_photos, to_picture
from pytest_modelreg.diagnose.inputs.rearrangement import NumberPair, Replay, replay_rearrangement
from pytest_modelreg.diagnose.inputs.signals import replay_signals
from pytest_modelreg.diagnose.inputs.structure import (
    explain_dtypes,
    explain_missing_values,
    explain_paths,
    explain_words,
    is_one_sided,
)
from pytest_modelreg.diagnose.inputs.tables import replay_table
from pytest_modelreg.diagnose.inputs.tokens import explain_tokens
from pytest_modelreg.diagnose.inputs.unexplained import explain_remainder
from pytest_modelreg.diagnose.inputs.values import replay_values
from pytest_modelreg.domain.cause import CauseFinding

_SOLVED = 1e-4
"""rel_l2 below which nothing more is looked for."""

_NOT_ALL = 0.01
"""rel_l2 that a replay may leave before the rest is spoken of."""

_REST = 0.2
_LARGEST = 1e100
"""What is larger counts as no number: its squares have none."""

_PARTLY = 0.5
"""Confidence below which what is left is described too."""


def explain_inputs(pairs: Sequence[InputPair], *, has_time: Callable[[], bool]) -> tuple[CauseFinding, ...]:
    """Return which named changes of preprocessing turn the golden's inputs into today's.

    Parameters
    ----------
    pairs : sequence of InputPair
        Of a few samples, those that agree among them: that only some differ is evidence.
    has_time : callable
        Asked before each step; once false, what is known by then is returned.

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
            findings += _explain_group(Group(path=path, pairs=of_path, affected=affected), has_time)
    return tuple(sorted(findings, key=lambda finding: -finding.confidence))


def _explain_group(group: Group, has_time: Callable[[], bool]) -> list[CauseFinding]:
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
        if measure_distance(kept) <= _SOLVED:
            return [missing]
    found = _explain_numbers(group, pairs, has_time)
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
    group: Group, pairs: Sequence[NumberPair], has_time: Callable[[], bool]
) -> list[CauseFinding]:
    is_picture = _is_picture(pairs)
    if not is_picture and _are_ids(group):
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
        families.append(lambda: replay_mixture(group, pairs))
    else:
        families = [
            lambda: replay_signals(group, pairs),
            lambda: replay_table(group, pairs),
            *families,
        ]
    replays: list[Replay] = []
    for family in families:
        if not has_time() or any(replay.findings and replay.left <= _SOLVED for replay in replays):
            break
        replay = family()
        if replay is not None:
            replays.append(replay)
    return _choose(group, pairs, replays)


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
        sides = [None if side is None else to_picture(side) for side in _read_pair(pair) or (None, None)]
        if (
            sides[0] is not None
            and sides[1] is not None
            and all(np.isfinite(side).all() for side in sides if side is not None)
        ):
            pictures.append((pair.sample, sides[0], sides[1]))
    return replay_photos(group, pictures, has_time) if pictures else None


def _choose(group: Group, pairs: Sequence[NumberPair], replays: Sequence[Replay]) -> list[CauseFinding]:
    """Return the findings of the replay that leaves least, and what is to be said of the rest."""
    level = next((replay.level for replay in replays if replay.level), None)
    telling = [replay for replay in replays if replay.findings]
    if not telling:
        return [explain_remainder(group, pairs, level=level)]
    best = min(telling, key=lambda replay: replay.left)
    findings = list(best.findings)
    if best.level is None and best.left > _NOT_ALL:
        # Undone as far as it goes, what remains has another cause.
        rest = explain_remainder(group, best.pairs, is_part=True)
        findings.append(replace(rest, confidence=_REST))
    elif max(finding.confidence for finding in findings) < _PARTLY:
        findings.append(explain_remainder(group, pairs, level=level, is_part=True))
    return findings
