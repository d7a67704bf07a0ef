"""The first stage of a pipeline whose output differs, and how what is said of it differs.

What belongs here: reading two lists of stages, one of them the golden's. A stage that was put in or left
out moves all that follow, so that stages are paired by what is said of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from pytest_modelreg.diagnose.wording import contrast, name_some
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.observation import Observation, Stage

_CAUSES: tuple[tuple[Cause, tuple[str, ...]], ...] = (
    (Cause.PREPROCESS_NORMALIZATION, ("normalize", "standardi", "whiten")),
    (
        Cause.PREPROCESS_VALUE_RANGE,
        ("totensor", "to_tensor", "dtype", "rescale", "scale", "clamp", "todtype"),
    ),
    (Cause.PREPROCESS_CHANNEL_ORDER, ("bgr", "channel_order", "swap_channels", "flip_channels")),
    (Cause.PREPROCESS_LAYOUT, ("permute", "transpose", "flip", "rot90", "hwc", "chw")),
    (Cause.PREPROCESS_INTERPOLATION, ("interpol", "antialias")),
    (Cause.PREPROCESS_GEOMETRY, ("resize", "crop", "pad", "letterbox", "affine", "rotate", "squash", "warp")),
    (Cause.PREPROCESS_DECODE, ("decode", "convert", "rgb", "gray", "grey", "exif", "orient", "palette")),
)


@dataclass(frozen=True, kw_only=True)
class StageChange:
    """Where two pipelines part.

    Parameters
    ----------
    name : str
        The stage.
    position : int
        From 1, in the pipeline of this run; in the golden's where the stage is gone.
    expected, actual : str
        What is said of it on either side; empty where it is not there.
    n_samples : int
        Samples whose output of it differs.
    moved_from : int or None
        Its place in the golden's pipeline, where it is the same stage at another place.
    versions : tuple of str
        Libraries of which the two sides have other releases: ``torchvision.version 0.20 -> 0.21``.
    """

    name: str
    position: int
    expected: str
    actual: str
    n_samples: int
    moved_from: int | None = None
    versions: tuple[str, ...] = ()

    @property
    def cause(self) -> Cause | None:
        """What such a stage does, by its name and what changed in it; None where that says nothing."""
        if self.moved_from is not None:
            return None  # what it does to others' outputs depends on what it moved past
        changed = (
            f"{_difference(self.expected, self.actual)} {_difference(self.actual, self.expected)}".lower()
        )
        for text in (changed, self.name.lower()):
            for cause, words in _CAUSES:
                if any(word in text for word in words):
                    return cause
        return None

    def __str__(self) -> str:
        where = f"stage {self.position}"
        if self.moved_from is not None:
            return f"stage {self.actual} moved from place {self.moved_from} to place {self.position}"
        if not self.actual:
            return f"{where} of the golden's pipeline is gone: {self.expected}"
        if not self.expected:
            return f"{where} is new: {self.actual}"
        if self.expected == self.actual:
            below = f" ({name_some(self.versions)})" if self.versions else ""
            return (
                f"{where}, {self.actual}: the same stage with the same settings now gives other values: its "
                f"code, or a library below it, changed{below}"
            )
        return f"{where}, {contrast(self.expected, self.actual)}"


def find_stage_change(expected: Observation, actual: Observation) -> StageChange | None:
    """Return the first stage that differs; None where all agree, or a side has no stages."""
    then, now = expected.stages, actual.stages
    if not then or not now:
        return None
    rows = _pair_rows(expected, actual)
    matcher = SequenceMatcher(
        a=[stage.description for stage in then], b=[stage.description for stage in now], autojunk=False
    )
    for tag, first, last, begin, end in matcher.get_opcodes():
        if tag == "equal":
            for place, position in zip(range(first, last), range(begin, end), strict=True):
                # What leaves the last stage is digested as the input that it is, with its path.
                if (place == len(then) - 1) != (position == len(now) - 1):
                    continue
                n_samples = _count_different(then[place], now[position], rows)
                if n_samples:
                    change = _change(then[place], now[position], position, n_samples)
                    return replace(change, versions=_list_other_versions(expected, actual))
            continue
        moved = _find_moved(then, now, matcher, range(first, last), range(begin, end))
        if moved is not None:
            place, position = moved
            change = _change(then[place], now[position], position, len(rows))
            return replace(change, moved_from=place + 1)
        for offset in range(max(last - first, end - begin)):
            one = then[first + offset] if first + offset < last else None
            other = now[begin + offset] if begin + offset < end else None
            n_samples = len(rows) if one is None or other is None else _count_different(one, other, rows)
            if n_samples:
                return _change(one, other, (begin if other is not None else first) + offset, n_samples)
    return None


def _find_moved(
    then: Sequence[Stage], now: Sequence[Stage], matcher: SequenceMatcher[str], gone: range, new: range
) -> tuple[int, int] | None:
    """Return the places, then and now, of a stage of a part that differs which only stands elsewhere."""
    kept = matcher.get_matching_blocks()
    free_then = set(range(len(then))) - {place for a, _, n in kept for place in range(a, a + n)}
    free_now = set(range(len(now))) - {place for _, b, n in kept for place in range(b, b + n)}
    for position in new:
        for place in sorted(free_then):
            if then[place].description == now[position].description:
                return place, position
    for place in gone:
        for position in sorted(free_now):
            if then[place].description == now[position].description:
                return place, position
    return None


def _list_other_versions(expected: Observation, actual: Observation) -> tuple[str, ...]:
    """Return the libraries of which both sides know a release, and not the same one."""
    then, now = expected.fingerprint.facts, actual.fingerprint.facts
    return tuple(
        f"{key} {then[key]} -> {now[key]}"
        for key in sorted(then.keys() & now.keys())
        if "version" in key.rpartition(".")[2] and None not in (then[key], now[key]) and then[key] != now[key]
    )


def _change(one: Stage | None, other: Stage | None, position: int, n_samples: int) -> StageChange:
    stage = other or one
    assert stage is not None
    return StageChange(
        name=stage.name,
        position=position + 1,
        expected="" if one is None else one.description,
        actual="" if other is None else other.description,
        n_samples=n_samples,
    )


def _pair_rows(expected: Observation, actual: Observation) -> list[tuple[int, int]]:
    rows = {sample.id: row for row, sample in enumerate(expected.samples)}
    return [(rows[sample.id], row) for row, sample in enumerate(actual.samples) if sample.id in rows]


def _count_different(one: Stage, other: Stage, rows: Sequence[tuple[int, int]]) -> int:
    return sum(one.digests[then] != other.digests[now] for then, now in rows)


def _difference(text: str, other: str) -> str:
    """Return the words of a text that the other has not."""
    known = set(other.replace("(", " ").replace(",", " ").split())
    return " ".join(word for word in text.replace("(", " ").replace(",", " ").split() if word not in known)
